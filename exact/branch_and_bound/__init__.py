"""The project's own exact solver: it proves optimality with its own bounds, on an integer grid, without a MIP solver."""
