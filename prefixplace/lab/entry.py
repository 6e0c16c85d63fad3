"""Where the ``prefixplace`` script enters: Ctrl-C while the command line still loads ends it as it does later."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> int:
    """Load the command line and run it; 130 after Ctrl-C."""
    try:
        from prefixplace.lab.cli import main as run
    except KeyboardInterrupt:
        print("prefixplace: interrupted", file=sys.stderr)
        return 130
    return run()
