"""The command line: ``prefixplace …``. One small module per group of commands; errors become one clear line."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; Ctrl-C while its modules load ends it like Ctrl-C later does."""
    try:
        from prefixplace.lab.cli.main import main as run
    except KeyboardInterrupt:
        print("prefixplace: interrupted", file=sys.stderr)
        return 130
    return run(arguments)
