"""Commands that make instances from families: ``generate``, ``families``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from prefixplace.lab.cli.common import Json, Output, Seed, facts, print_json, show

__all__ = ["families", "generate"]


def generate(
    family: str,
    /,
    *,
    seed: Seed = 0,
    set_: Annotated[
        list[str] | None,
        Parameter(
            name="--set", negative="", help="A parameter of the family as name=value; may be repeated."
        ),
    ] = None,
    output: Output = None,
    json: Json = False,
) -> int:
    """Draw an instance of a family: the same seed and parameters give the same bytes.

    Without -o the instance is only described. `prefixplace families` lists families and their parameters.

    ```
    prefixplace generate rag-shaped --seed 3 --set workers=4 --set documents=60 -o rag.json
    prefixplace generate mismatched-rag --set mismatch=1 --set gpus=T4,L4,A100 -o hard.json.gz
    ```

    Parameters
    ----------
    family
        Name of the family.
    """
    from instances.registry import build
    from prefixplace import InputError, write_instance
    from prefixplace.lab.describe import instance_facts, instance_summary

    settings: dict[str, str] = {}
    for setting in set_ or ():
        name, equals, value = setting.partition("=")
        if not (equals and name):
            raise InputError(f"--set {setting}: write it as name=value")
        if name in settings:
            raise InputError(f"--set {name} is given twice")
        settings[name] = value
    instance = build(family, settings).sample(seed)
    if output is not None:
        write_instance(instance, output)
    if json:
        print_json({**instance_summary(instance), "file": None if output is None else str(output)})
    else:
        rows = instance_facts(instance)
        show(facts(instance.name, rows | ({"written to": str(output)} if output is not None else {})))
    return 0


def families(
    *,
    png: Annotated[Path | None, Parameter(help="Draw one small picture of each family.")] = None,
    json: Json = False,
) -> int:
    """List the families of instances with their parameters and defaults.

    ```
    prefixplace families
    prefixplace families --png families.png
    ```
    """
    from instances.registry import FAMILIES, parameters, summary
    from prefixplace.lab.tables import text_table

    documents: list[dict[str, Any]] = [
        {"name": name, "summary": summary(name), "parameters": parameters(name)} for name in FAMILIES
    ]
    if png is not None:
        from prefixplace.lab.gallery import family_gallery
        from prefixplace.lab.icicle import save

        save(family_gallery(), png)
    if json:
        print_json({"families": documents})
        return 0
    lines = []
    for document in documents:
        defaults = ", ".join(f"{name}={_text(value)}" for name, value in document["parameters"].items())
        lines.append([document["name"], f"{document['summary']}\n{defaults}\n"])
    show(text_table(("family", "what it is, and its parameters with their defaults"), lines, left=(0, 1)))
    return 0


def _text(value: object) -> str:
    """A default as one would write it after ``--set``."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
