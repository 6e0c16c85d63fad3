"""Loading the prover compiles what it uses, so that no time limit pays for a kernel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import gc
import numpy as np
import exact
from exact.branch_and_bound.backend import prove
from instances.families.rag import RagShaped, TwoGroupRag
from tests.exact.branch_and_bound.instances import SETTINGS, WITHOUT_STATES, mixed

def compiled():
    from numba.core.dispatcher import Dispatcher
    kernels = [k for k in gc.get_objects() if isinstance(k, Dispatcher)]
    return {
        (k.py_func.__module__, k.py_func.__name__, signature)
        for k in kernels
        if k.py_func.__module__.split(".")[0] in ("exact", "prefixplace")
        for signature in k.signatures
    }

rng = np.random.default_rng(6)
drawn = [(mixed(rng, index), SETTINGS[index % 3]) for index in range(60)]
drawn += [(instance, WITHOUT_STATES) for instance, _ in drawn if not instance.pairwise]
drawn += [(RagShaped(workers=workers, documents=8).sample(0), SETTINGS[0]) for workers in (3, 8)]
drawn += [(TwoGroupRag(documents=4).sample(0), SETTINGS[1])]
before = compiled()
exact.BACKENDS["branch-and-bound"].load()
loaded = compiled()
assert len(loaded - before) > 20, loaded
before = loaded
for instance, parameters in drawn:
    prove(instance, params=parameters)
new = compiled() - before
assert not new, sorted(map(str, new))
"""


def test_nothing_is_compiled_after_loading() -> None:
    root = Path(__file__).parents[3]
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=root, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
