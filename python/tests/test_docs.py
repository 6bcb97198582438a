"""The examples of the documentation run, and its page of functions is up to date."""

# Promise (The Python package): The examples of the documentation run

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from conftest import HANGS, MISSING, need
from pages import SERVICE, examples, pages, prepare
from test_client import service

ELSEWHERE = {
    "how-to/datatrove.md": "test_integrations.py",
    "how-to/ray-dask-daft.md": "test_integrations.py",
    "how-to/retrieval-frameworks.md": "test_integrations.py",
    "how-to/spark.md": "test_spark.py",
}
"""Pages whose examples are run by another test, which also checks their results."""
LEAST = 7
"""Pages that have examples, besides these."""


def test_there_are_pages() -> None:
    """Each page with examples is run here or by another test."""
    found = pages()
    assert set(ELSEWHERE) <= set(found)
    assert len(found) - len(ELSEWHERE) >= LEAST
    tests = Path(__file__).parent
    for page, test in ELSEWHERE.items():
        assert Path(page).name in (tests / test).read_text(encoding="utf-8"), page


@pytest.mark.parametrize("name", [name for name in pages() if name not in ELSEWHERE])
def test_the_examples_of_a_page_run(name: str, tmp_path: Path) -> None:
    """In order, in an interpreter of their own, with the output that the page shows."""
    page = pages()[name]
    prepare(tmp_path, need("polars"))
    tests = str(Path(__file__).parent)
    environment = {**os.environ, "PYTHONPATH": tests}
    # Tables are printed as on a terminal of this width.
    environment["COLUMNS"] = "100"
    with ExitStack() as stack:
        words = [sys.executable, "-m", "run_page", str(page)]
        if any(SERVICE in example.text for example in examples(page)):
            url, _ = stack.enter_context(service(tmp_path / "service"))
            words.append(url)
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=HANGS, check=False
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["run"] + found["skipped"] == len(examples(page))
    if found["missing"]:
        MISSING.update(found["missing"])
        why = f"{found['skipped']} of {len(examples(page))} examples of {name}"
        pytest.skip(f"{', '.join(found['missing'])} not installed: {why} did not run")


def test_the_page_of_functions_is_up_to_date() -> None:
    """As ``scripts/python-reference`` makes it."""
    script = Path(__file__).resolve().parents[2] / "scripts" / "python-reference"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
