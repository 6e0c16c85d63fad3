"""The folder of real traces and known cases that lies beside the project on some machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared_dir(part: str = "") -> Path:
    """Path of `part` of the shared folder; the calling test is skipped where it is absent."""
    path = SHARED / part
    if not path.exists():
        pytest.skip(f"needs ../shared/{part}, which is not here")
    return path


def case_names() -> list[str]:
    """Names of the shared cases with known values; empty where the folder is absent."""
    return sorted(p.stem for p in (SHARED / "cases").glob("*.json") if p.stem != "expected")


def expected_values() -> dict[str, dict[str, Any]]:
    """Known values of the shared cases by name; empty where the folder is absent."""
    path = SHARED / "cases" / "expected.json"
    return json.loads(path.read_text()) if path.exists() else {}
