"""The workbench on top: comparisons, pictures, studies, benchmarks and the command line. Nothing imports it."""
