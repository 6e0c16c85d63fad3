"""The page of tables about the library."""

from __future__ import annotations

from instances.library.rows import Library
from instances.statistics import instance_statistics
from prefixplace.result import relative_gap

__all__ = ["library_markdown"]

_GROUPS = {
    "tight": "Tight examples",
    "reduction": "Reductions and planted optima",
    "family": "Families of workloads",
    "record": "Records of the search",
}


def library_markdown(library: Library) -> str:
    """One table a group: size, bounds, gap, who found what, and what predicts hardness."""
    parts = [
        "# The library of known values\n",
        "Written by `prefixplace library list --markdown`. Bounds are exact fractions shown to ten digits; "
        "`prefixplace library check` re-verifies every row. Proofs: a *certificate* is checked without any solver, a "
        "*rounded* one is rounded down to a multiple of the greatest common divisor of all values, *enumeration* runs "
        "through all placements in whole numbers, *stated* is the argument of the construction. Share is the coverage "
        "part C/(A + C) of a refined placement, overlap that of the sets the workers would choose alone.\n",
    ]
    for group, title in _GROUPS.items():
        rows = [row for row in library if row.group == group]
        if not rows:
            continue
        parts.append(f"## {title}\n")
        lines = [
            "| row | n | M | lower | upper | gap | proof | plan by | share | overlap |",
            "|---" * 10 + "|",
        ]
        for row in rows:
            figures = instance_statistics(library.instance(row.name))
            gap = relative_gap(float(row.lower), float(row.upper))
            share = "–" if figures["coverage_share"] is None else f"{figures['coverage_share']:.2f}"
            cells = [
                row.name,
                str(figures["chunks"]),
                str(figures["workers"]),
                f"{float(row.lower):.10g}",
                f"{float(row.upper):.10g}",
                "0" if row.solved else f"{gap:.1e}",
                row.proof.replace("rounded-certificate", "rounded"),
                row.lower_by,
                share,
                f"{figures['overlap']:.2f}",
            ]
            lines.append("| " + " | ".join(cells) + " |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
