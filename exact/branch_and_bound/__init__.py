"""The project's own exact solver: its own bounds, fixing and enumeration on an integer grid, no MIP solver.

:func:`~exact.branch_and_bound.backend.prove` solves and certifies; the back-end of :func:`exact.solve` is the same.
"""
