"""Rows of the library and the folder that holds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from exact.certificates import Certificate, read_certificate
from instances.known import as_fraction, exact_number
from prefixplace.documents import read_json, write_json
from prefixplace.errors import InputError
from prefixplace.files import read_instance
from prefixplace.instance import Instance

__all__ = ["PACKAGED", "PROOFS", "Library", "Row"]

PACKAGED = Path(__file__).parent / "data"
"""The library that comes with the project."""

PROOFS = ("certificate", "rounded-certificate", "enumeration", "stated")
"""What an upper bound rests on: a certificate; a certificate whose bound is rounded down to a multiple of the greatest
common divisor of all values; enumeration of all placements in integers; the reason stated by the construction."""

FORMAT, VERSION = "prefixplace-library", 1


@dataclass(frozen=True, kw_only=True)
class Row:
    """One instance of the library with the best bounds known.

    Attributes
    ----------
    name : str
        Also the name of its files: ``instances/<name>.json.gz``, ``plans/<name>.json.gz`` and, where there is one,
        ``proofs/<name>.json.gz``.
    group : str
        tight, reduction, family or record.
    digest : str
        SHA-256 of the instance.
    source : mapping
        ``{"family", "settings", "seed"}``, from which it is drawn again, or ``{"record": …}`` of a search.
    lower, upper : Fraction
        The value of the plan in ``plans/`` (a certificate with that plan), and the upper bound, in ms per epoch.
    lower_by, upper_by : str
        Who found the plan and who the bound.
    proof : str
        One of :data:`PROOFS`.
    reason : str
        Why the upper bound holds, in words.
    """

    name: str
    group: str
    digest: str
    source: Mapping[str, Any]
    lower: Fraction
    upper: Fraction
    lower_by: str
    upper_by: str
    proof: str
    reason: str

    @property
    def solved(self) -> bool:
        """Whether lower and upper bound are the same number."""
        return self.lower == self.upper

    def to_dict(self) -> dict[str, Any]:
        """JSON data; fractions are exact."""
        return {**asdict(self), "lower": exact_number(self.lower), "upper": exact_number(self.upper)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Row:
        """The reverse of :meth:`to_dict`."""
        names = [f.name for f in fields(cls)]
        if sorted(data) != sorted(names):
            raise InputError(f"a library row has the fields {', '.join(names)}, not {', '.join(data)}")
        bounds = {side: as_fraction(data[side]) for side in ("lower", "upper")}
        return cls(**{**data, **bounds})


class Library:
    """A folder of rows, instances, plans and proofs.

    Parameters
    ----------
    folder : path
        The packaged library when left out.

    Raises
    ------
    InputError
        When there is no library, or its table is broken.
    """

    def __init__(self, folder: str | Path = PACKAGED) -> None:
        self.folder = Path(folder)
        document = read_json(self.folder / "rows.json")
        if document.get("format") != FORMAT or document.get("version") != VERSION:
            raise InputError(f"{self.folder / 'rows.json'}: not a library of version {VERSION}")
        self.rows = {data["name"]: Row.from_dict(data) for data in document["rows"]}

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows.values())

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> Row:
        if name not in self.rows:
            close = [row for row in self.rows if name in row] or list(self.rows)
            raise InputError(f"the library has no row {name!r}; it has {', '.join(close[:8])} …")
        return self.rows[name]

    def instance(self, name: str) -> Instance:
        """The instance of a row."""
        return read_instance(self.path("instances", self[name]))

    def plan(self, name: str) -> Certificate:
        """The certificate with the best plan of a row."""
        return read_certificate(self.path("plans", self[name]))

    def proof(self, name: str) -> Certificate | None:
        """The certificate of the upper bound of a row, where it rests on one."""
        row = self[name]
        return read_certificate(self.path("proofs", row)) if "certificate" in row.proof else None

    def path(self, kind: str, row: Row) -> Path:
        """File of a row; `kind` is instances, plans or proofs."""
        return self.folder / kind / f"{row.name}.json.gz"

    def save(self) -> None:
        """Write the table."""
        rows = [row.to_dict() for row in self]
        write_json({"format": FORMAT, "version": VERSION, "rows": rows}, self.folder / "rows.json")

    @classmethod
    def create(cls, folder: str | Path) -> Library:
        """An empty library in `folder`, which must not hold one."""
        place = Path(folder)
        if (place / "rows.json").exists():
            raise InputError(f"{place}: holds a library already")
        for kind in ("instances", "plans", "proofs"):
            (place / kind).mkdir(parents=True, exist_ok=True)
        write_json({"format": FORMAT, "version": VERSION, "rows": []}, place / "rows.json")
        return cls(place)
