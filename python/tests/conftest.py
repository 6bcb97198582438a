"""Documents, the command as the oracle, and libraries that may be missing."""

from __future__ import annotations

import gzip
import importlib
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from simtool_dedup import Table

COMMAND = [sys.executable, "-c", "import sys; from simtool_dedup._command import main; sys.exit(main())"]


# Seconds after which a test that waits has failed; a slow machine needs a small part of them.
HANGS = 1800

MISSING: set[str] = set()


def need(name: str) -> Any:
    """A library; the test, or the file of tests, is skipped if it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        MISSING.add(name)
        pytest.skip(f"{name} is not installed", allow_module_level=True)


def pytest_terminal_summary() -> None:
    """Name the missing libraries on standard error, as other tests of the project do."""
    for name in sorted(MISSING):
        print(f"skipped: Python tests with {name}: it is not installed", file=sys.stderr)


def simtool(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command of the wheel."""
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


def write_jsonl(path: Path, documents: list[dict[str, Any]]) -> Path:
    """Write documents as any program would."""
    lines = [json.dumps(document) + "\n" for document in documents]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Read JSON Lines."""
    # Texts may have characters that splitlines() takes for line ends.
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def read_tasks(directory: Path) -> list[dict[str, Any]]:
    """The documents that the tasks of datatrove wrote, in the order of the tasks."""
    lines: list[str] = []
    for path in sorted(directory.rglob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines += file
    return [json.loads(line) for line in lines]


def rows(table: Any) -> list[dict[str, Any]]:
    """A result as a list of dictionaries."""
    return table if isinstance(table, list) else Table(table).to_pylist()


def documents(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Documents of which a third repeats another one, edited or not."""
    source = random.Random(seed)
    made: list[dict[str, Any]] = []
    for number in range(count):
        words = [f"w{source.randrange(5000)}" for _ in range(source.randrange(20, 90))]
        if made and source.random() < 0.35:
            words = source.choice(made)["text"].split()
            for _ in range(source.randrange(4)):
                words[source.randrange(len(words))] = f"x{source.randrange(100)}"
        made.append(
            {
                "id": f"d{number}",
                "text": " ".join(words),
                "url": f"http://{source.randrange(5)}.example/{number}",
                "date": f"2024-05-{source.randrange(1, 29):02}",
                "score": source.randrange(100) / 4,
                "group": source.choice(["a", "b", "c"]),
            }
        )
    return made


@pytest.fixture(scope="session")
def docs() -> list[dict[str, Any]]:
    """Some hundred documents."""
    return documents(200)
