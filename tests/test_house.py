"""The order of the house: arrows between packages, light and silent imports, small modules, pinned versions."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("prefixplace", "exact", "instances")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

LEVELS = {"prefixplace": 0, "exact": 1, "instances": 2, "prefixplace.lab": 3}
"""Who may import whom: a package imports its own level and those below."""

DOORS = {("prefixplace/__init__.py", "prefixplace.lab.compare")}
"""`pp.compare` is opened on first use, so that the workbench is one import away for whoever sits at it."""

HEAVY = (
    "numba",
    "ortools",
    "highspy",
    "pulp",
    "pandas",
    "matplotlib",
    "networkx",
    "rich",
    "cyclopts",
    "scipy",
)


def level(module: str) -> int | None:
    """Level of a dotted module name; None for what is not ours."""
    if module == "prefixplace.lab" or module.startswith("prefixplace.lab."):
        return LEVELS["prefixplace.lab"]
    return LEVELS.get(module.partition(".")[0])


def dotted(path: Path) -> str:
    """Module name of a file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def arrows(source: str, module: str, is_package: bool) -> set[str]:
    """Every module that `source` names: imports anywhere in it, relative ones resolved, and ``"package.module"``
    strings (with or without ``:attribute``), by which lazy doors import."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")[
                    : None if is_package and node.level == 1 else -node.level + is_package
                ]
                base = ".".join([*parts, *([base] if base else [])])
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.partition(":")[0]
            if "." in name and all(part.isidentifier() for part in name.split(".")):
                found.add(name)
    return found


def upward(path: Path) -> list[str]:
    """Arrows of a module that point to a higher level."""
    own = level(dotted(path))
    assert own is not None
    place = path.relative_to(ROOT).as_posix()
    return [
        target
        for target in sorted(arrows(path.read_text("utf-8"), dotted(path), path.name == "__init__.py"))
        if (level(target) or 0) > own and not any(place == p and target.startswith(door) for p, door in DOORS)
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_arrow_points_up(path: Path) -> None:
    assert upward(path) == []


def test_an_arrow_that_points_up_is_seen() -> None:
    for source in (
        "import exact",
        "from exact.solving import solve",
        "def f():\n    import instances.registry",
        "from prefixplace.lab import compare",
        "from .lab import compare",
        "HOME = {'a': 'exact.backends.highs:Highs'}",
    ):
        found = arrows(source, "prefixplace", is_package=True)
        assert any((level(target) or 0) > 0 for target in found), source
    assert "prefixplace.tree" in arrows("from ..tree import PrefixTree", "prefixplace.oracle.door", False)
    assert "prefixplace.oracle.x" in arrows("from .x import y", "prefixplace.oracle.door", False)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_is_one_idea(path: Path) -> None:
    lines = path.read_text("utf-8").count("\n")
    assert lines <= 400, f"{lines} lines hold two ideas"


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter in which warnings are errors."""
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_is_silent_and_light(package: str) -> None:
    ran = run_python(
        f"import sys, logging, signal; before = signal.getsignal(signal.SIGINT); import {package}\n"
        "assert not logging.getLogger().handlers and signal.getsignal(signal.SIGINT) is before\n"
        f"sys.exit(' '.join(m for m in {HEAVY!r} if m in sys.modules) or 0)"
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("", "", 0)


def test_asking_what_is_there_stays_light() -> None:
    """Names of methods, back-ends and families cost no solver."""
    ran = run_python(
        "import sys, exact, instances, prefixplace as pp\n"
        "list(pp.METHODS), list(exact.BACKENDS), list(instances.FAMILIES), dir(pp), dir(exact), dir(instances)\n"
        "heavy = ('ortools', 'highspy', 'pulp', 'pandas', 'matplotlib', 'networkx')\n"
        "sys.exit(' '.join(m for m in heavy if m in sys.modules) or 0)"
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("", "", 0)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_exists(package: str) -> None:
    module = __import__(package)
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name  # noqa: B018


def test_our_exact_is_not_shadowed() -> None:
    """PyPI has an unrelated package of the same name; installed over ours it would break every solver call."""
    import exact

    home = Path(exact.__file__ or "").resolve().parent
    assert hasattr(exact, "BACKENDS"), (
        f"`import exact` finds {home}, which is not part of this project: "
        "uninstall the unrelated distribution `exact` and install prefixplace again"
    )
    assert home.parent == Path(__import__("prefixplace").__file__).resolve().parents[1]


def test_pinned_versions_are_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pins = {
        "ortools": "==9.15.*",
        "highspy": ">=1.16,<1.17",
        "pulp": ">=3.3.2,<4",
    }
    for package, pin in pins.items():
        assert f"{package}{pin}" in [d.replace(" ", "") for d in project["dependencies"]]
    assert version("ortools").startswith("9.15.")
    assert version("highspy").startswith("1.16.")
    assert version("pulp").startswith("3.")


def test_no_lock_file_names_a_registry() -> None:
    ignored = (ROOT / ".gitignore").read_text("utf-8").split()
    assert "uv.lock" in ignored
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    assert "--hash=sha256:" in lock
    assert "://" not in lock
    assert "--index" not in lock and "--find-links" not in lock
