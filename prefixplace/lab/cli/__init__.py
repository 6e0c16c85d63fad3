"""The command line: ``prefixplace …``. One small module per group of commands; errors become one clear line."""

from prefixplace.lab.cli.main import main

__all__ = ["main"]
