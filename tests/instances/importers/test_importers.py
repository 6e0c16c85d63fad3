"""Importers on small own files in the formats of the literature."""

from __future__ import annotations

import gzip
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import exact
import prefixplace as pp
from instances.importers import (
    KINDS,
    import_instance,
    read_bin_packing,
    read_dimacs,
    read_facility_location,
    read_rudy,
)

BPP = "6\n10\n6\n5\n5\n4\n6\n4\n"
CSP = "3\n10\n6 2\n5 2\n4\t2\n"
PETERSEN = nx.petersen_graph()
DIMACS = "c the Petersen graph\np edge 10 15\n" + "".join(f"e {u + 1} {v + 1}\n" for u, v in PETERSEN.edges)
RUDY = "5 5\n1 2 1\n2 3 1\n3 4 1\n4 5 1\n5 1 1\n"
ORLIB = "4 3\n0 300\n0 400\ncapacity 150\n0 200\n0\n130 140 130 100\n0\n120 100 90 120\n0\n80 50 140 150\n"
UFLLIB = "FILE: Example.txt\n4 3 0\n1 300 130 120 80\n2 400 140 100 50\n3 150 130 90 140\n4 200 100 120 150\n"


def write(tmp_path: Path, text: str, name: str = "file.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_bin_packing_in_both_layouts(tmp_path: Path) -> None:
    plain, stock = read_bin_packing(write(tmp_path, BPP)), read_bin_packing(write(tmp_path, CSP, "x.csp.gz"))
    assert (plain.capacity, plain.sizes, plain.name) == (10, (6, 5, 5, 4, 6, 4), "file.txt")
    assert (stock.sizes, stock.name) == ((6, 6, 5, 5, 4, 4), "x.csp")
    instance = import_instance(write(tmp_path, BPP), "bin-packing")
    assert (instance.num_chunks, instance.budgets.tolist(), instance.meta["opt"]) == (30, [10, 10, 10], 30)
    assert exact.solve(instance, "highs").value == 30
    short = import_instance(write(tmp_path, BPP), "bin-packing", 2)
    assert "opt" not in short.meta
    assert short.meta["imported"] == "bin-packing"


def test_dimacs_graphs(tmp_path: Path) -> None:
    path = write(tmp_path, DIMACS, "petersen.col")
    assert nx.is_isomorphic(read_dimacs(path), PETERSEN)
    assert import_instance(path, "independent-set", 4).meta["opt"] == 54
    assert "opt" not in import_instance(path, "independent-set").meta
    # the largest clique of the complement is the largest independent set
    complement = nx.complement(PETERSEN)
    text = "p col 10 30\n" + "".join(f"e {u + 1} {v + 1}\n" for u, v in complement.edges)
    instance = import_instance(write(tmp_path, text, "c.clq"), "clique", 4)
    assert instance.meta["opt"] == 54
    assert instance.budgets.tolist() == [3] * 10


def test_rudy_graphs(tmp_path: Path) -> None:
    path = write(tmp_path, RUDY, "c5.rud")
    graph = read_rudy(path)
    assert nx.is_isomorphic(graph, nx.cycle_graph(5))
    instance = import_instance(path, "max-cut", "4")
    assert (instance.meta["opt"], instance.meta["configuration_lp"]) == (9, 10)
    assert exact.solve(instance, "highs").value == 9
    twice = read_rudy(write(tmp_path, "2 2\n1 2 1.5\n2 1 2\n"))
    assert twice[1][2]["weight"] == 3.5
    negative = write(tmp_path, "2 1\n1 2 -1\n")
    assert read_rudy(negative)[1][2]["weight"] == -1
    with pytest.raises(pp.InputError, match="weight -1"):
        import_instance(negative, "max-cut")


def test_facility_location_formats_agree(tmp_path: Path) -> None:
    one = read_facility_location(write(tmp_path, ORLIB, "cap.txt"))
    two = read_facility_location(write(tmp_path, UFLLIB, "ufl.txt"))
    three = read_facility_location(write(tmp_path, UFLLIB.split("\n", 1)[1], "bare.txt"))
    for problem in (two, three):
        assert np.array_equal(one.opening, problem.opening)
        assert np.array_equal(one.connection, problem.connection)
    assert one.connection[1].tolist() == [140, 100, 50]
    # opening facility 2 alone costs 150 + 130 + 90 + 140 = 510, the least
    instance = import_instance(tmp_path / "ufl.txt", "facility-location", 510)
    assert (
        exact.solve(instance, "highs").value == instance.meta["opt"] == 1050 + (140 + 150 + 120 + 150) - 510
    )


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("bin-packing", "", "line 1: a count and a capacity"),
        ("bin-packing", "2\n10\n4\n", "line 1: 2 items are announced, 1 are listed"),
        ("bin-packing", "1\n10\n11\n", "line 3: the size 11 is above the capacity 10"),
        ("bin-packing", "1\n10\nx\n", "line 3: the size is 'x', not a whole number"),
        ("bin-packing", "2\n10\n4 1\n4\n", "line 4: 1 numbers where"),
        ("bin-packing", "1\n10\n0\n", "line 3: the size is 0, must be ≥ 1"),
        ("independent-set", "e 1 2\n", "line 1: 'e 1 2': not a comment"),
        ("independent-set", "c nothing\n", "no line 'p edge n m'"),
        ("independent-set", "p edge 2 1\ne 1 3\n", "line 2: vertex 3 is beyond the last one, 2"),
        ("independent-set", "p edge 2 1\ne 1 1\n", "line 2: vertex 1 has a loop"),
        ("independent-set", "p edge 2 1\np edge 2 1\n", "line 2: 'p edge 2 1': one line"),
        ("max-cut", "2\n", "line 1: the first line must be"),
        ("max-cut", "2 2\n1 2 1\n", "line 1: 2 edges are announced, 1 are listed"),
        ("max-cut", "2 1\n1 2\n", "line 2: '1 2' is not 'u v weight'"),
        ("max-cut", "2 1\n1 2 inf\n", "line 2: the weight is 'inf', not a finite number"),
        ("facility-location", "", "line 1: the file is empty"),
        ("facility-location", "FILE: x\n", "ends after its name"),
        ("facility-location", "1 1\n0 5\n0\n", "ends where the cost of client 0 at facility 0 is expected"),
        ("facility-location", "1 1\n0 5\n0\n3\n4\n", "line 5: '4' after the last expected number"),
        ("facility-location", "1 1\n0 -5\n0\n3\n", "line 2: the opening cost of facility 0 is -5"),
    ],
)
def test_broken_files_name_the_line(tmp_path: Path, kind: str, text: str, message: str) -> None:
    with pytest.raises(pp.InputError) as error:
        import_instance(write(tmp_path, text), kind)
    assert message in str(error.value)
    assert "file.txt" in str(error.value)


def test_what_is_refused_at_the_door(tmp_path: Path) -> None:
    with pytest.raises(pp.InputError, match="unknown kind 'tsp'; known: bin-packing"):
        import_instance("x", "tsp")
    for kind in KINDS:
        with pytest.raises(pp.InputError, match="No such file"):
            import_instance(tmp_path / "missing", kind)
        (tmp_path / "binary").write_bytes(b"\xff\xfe\xfa")
        with pytest.raises(pp.InputError, match="not a text file"):
            import_instance(tmp_path / "binary", kind)
    with pytest.raises(pp.InputError, match="5/2 must be a whole number"):
        import_instance(write(tmp_path, BPP), "bin-packing", "5/2")
    (tmp_path / "broken.gz").write_bytes(b"no gzip")
    with pytest.raises(pp.InputError, match="gzip"):
        read_rudy(tmp_path / "broken.gz")
