"""Entry point: parse, run one command, turn whatever goes wrong into an exit code and one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from cyclopts import App, CycloptsError

from prefixplace import __version__
from prefixplace.errors import InputError
from prefixplace.lab.cli import (
    benching,
    generating,
    library,
    proving,
    replanning,
    searching,
    serving,
    showing,
    solving,
    studying,
)

__all__ = ["app", "main"]

BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141

app = App(
    name="prefixplace",
    help="Coordinated placement of prefix KV caches: plan, prove, compare, replay.",
    help_format="markdown",
    version=__version__,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)
_COMMANDS: dict[str, Callable[..., int]] = {
    "compare": solving.compare,
    "solve": solving.solve,
    "bound": proving.bound,
    "verify": proving.verify,
    "solvers": solving.solvers,
    "show": showing.show_instance,
    "generate": generating.generate,
    "families": generating.families,
    "import": library.import_file,
    "search": searching.search,
    "trace": serving.trace,
    "replay": serving.replay,
    "replan": replanning.replan,
    "export": proving.export,
    "plan": proving.plan,
    "lab": showing.lab,
}
for _name, _command in _COMMANDS.items():
    app.command(_command, name=_name)
app.command(benching.bench)
app.command(studying.study)
app.command(library.library)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    0 on success; 1 when a check is false or a solver failed; 2 on bad input, with one line on stderr; 130 after
    Ctrl-C; 141 when the reader of the output has gone.
    """
    try:
        code = app(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # the interpreter flushes stdout once more when it ends; let that go nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except (InputError, CycloptsError) as error:
        return _fail(str(error), BAD_INPUT)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(f"{place}{error.strerror or error}", BAD_INPUT)
    return int(code or 0)


def _fail(message: str, code: int) -> int:
    print(f"prefixplace: {' '.join(message.split())}", file=sys.stderr)
    return code
