"""Commands for the eye: ``show`` and ``lab``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from prefixplace.lab.cli.common import Json, facts, print_json, show

__all__ = ["lab", "show_instance"]


def show_instance(
    file: Path,
    plan: Path | None = None,
    /,
    *,
    png: Annotated[
        Path | None, Parameter(help="Picture to write (.png, .svg or .pdf): an icicle plot.")
    ] = None,
    width: Annotated[
        Literal["demand", "leaves"], Parameter(help="What makes a subtree wide in the picture.")
    ] = "leaves",
    lines: Annotated[int, Parameter(help="Lines of the text tree.")] = 30,
    json: Json = False,
) -> int:
    """Describe an instance, and a plan for it: summary, tree, picture.

    ```
    prefixplace show rag.json
    prefixplace show rag.json plan.json --png plan.png
    ```

    Parameters
    ----------
    file
        Instance file.
    plan
        Plan file.
    """
    from prefixplace import Placement, read_instance, read_plan
    from prefixplace.lab.describe import instance_facts, instance_summary, placement_facts, tree_sketch

    instance = read_instance(file)
    placement = None if plan is None else read_plan(plan, instance)
    if png is not None:
        from prefixplace.lab.icicle import icicle, save

        shown = placement or Placement.empty(instance.tree, instance.num_workers)
        save(icicle(instance, shown, width=width), png)
    if json:
        document = instance_summary(instance)
        if placement is not None:
            document["plan"] = {
                "value": instance.value(placement),
                "sizes": placement.sizes.tolist(),
                "distinct": int((placement.holders > 0).sum()),
                "replicated": int((placement.holders > 1).sum()),
            }
        print_json(document)
        return 0
    rows = instance_facts(instance)
    if placement is not None:
        rows |= placement_facts(instance, placement)
    if png is not None:
        rows["picture"] = str(png)
    show(facts(instance.name or file.name, rows), "", tree_sketch(instance, placement, lines=lines))
    return 0


def lab(
    folder: Annotated[Path, Parameter(help="Folder with the notebooks.")] = Path("notebooks"),
    /,
    *,
    browser: Annotated[bool, Parameter(help="Open a browser.")] = True,
) -> int:
    """Start JupyterLab on the project's notebooks (needs the extra `lab`).

    ```
    prefixplace lab
    prefixplace lab --no-browser
    ```
    """
    import subprocess
    import sys
    from importlib.util import find_spec

    from prefixplace import InputError

    if find_spec("jupyterlab") is None:
        raise InputError("JupyterLab is not installed; pip install 'prefixplace[lab]'")
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; run it in a clone of the project or name one")
    command = [sys.executable, "-m", "jupyterlab", str(folder)]
    return subprocess.call(command if browser else [*command, "--no-browser"])
