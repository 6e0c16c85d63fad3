"""The same seed gives the same instance, whatever the versions of Python and NumPy."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import instances

DIGESTS = {
    "rag-shaped": "1a63b992f88fbc53",
    "mismatched-rag": "e553a7e1620cd83a",
    "two-group-rag": "b5a91942ac779b56",
    "multi-turn": "04a3892d41afb391",
    "uniform-recursive": "26fa65997cdf2e00",
    "random-values": "6fc86d9d565a57bd",
    "caterpillar": "f927df40b66ae4da",
    "star": "4b132a3257134028",
    "deep-chain": "a8a72fca455b20ce",
    "tenant-prompts": "23b36c7de262138c",
    "agent-traces": "3197410ab17497b2",
    "wiki-qa-like": "712c143db1e923b9",
    "trace-twin": "8949dc42cff1e975",
    "one-order-half": "58899ecc250adadb",
    "all-orders-two-thirds": "f7f2613132e75e22",
    "identical-three-quarters": "27c07310cabb5af7",
    "xy-pool": "f1224d250a9707ca",
    "configuration-gap-four-fifths": "c5fe0766ef086a71",
    "configuration-gap-six-sevenths": "611b350948bed103",
    "configuration-gap-ten-elevenths": "c38f9148cf3c4073",
    "compact-gap": "3cdbefbf29c326c1",
    "hypercliques": "27b4eea488fb687b",
    "three-partition": "27fefee70d8b3e65",
    "bin-packing": "6577baca2360e440",
    "parity-blocked": "136ff618757ad742",
    "independent-set": "21ed3ed5d7dd32f8",
    "set-packing": "72c08fc7eb5c4d35",
    "max-cut": "0a2228191ca1456e",
    "facility-location": "c17d178a5a3cf8c8",
    "planted-optimum": "270c17ee372fdd81",
}


@pytest.mark.parametrize("name", instances.FAMILIES)
def test_digest_of_seed_one(name: str) -> None:
    assert instances.build(name).sample(1).digest[:16] == DIGESTS[name]


def test_nothing_depends_on_the_hash_seed() -> None:
    code = (
        "import json, sys, instances; "
        "print(json.dumps({n: instances.build(n).sample(1).digest[:16] for n in json.loads(sys.argv[1])}))"
    )
    names = ["independent-set", "set-packing", "max-cut", "trace-twin", "planted-optimum", "parity-blocked"]
    outcome = subprocess.run(
        [sys.executable, "-c", code, json.dumps(names)],
        env={"PYTHONHASHSEED": "4242", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(outcome.stdout) == {name: DIGESTS[name] for name in names}
