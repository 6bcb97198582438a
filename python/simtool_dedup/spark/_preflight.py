"""What a job needs of the driver, the workers and the engine, checked before it begins."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from typing import Any

from simtool_dedup._simtool import __version__, claim_work, read_work
from simtool_dedup.spark._stages import numbered

LEAST_MEMORY = 512 << 20
"""Bytes that a task needs, about."""


class Probe:
    """Tells what a worker has."""

    def __init__(self, work: str, mark: str) -> None:
        """A worker that must see a file of the work directory."""
        self.work = work
        self.mark = mark

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The version of the package, the available memory, and what is wrong with the directory."""
        import pyarrow

        for _ in batches:
            problem = ""
            try:
                if read_work(self.work, self.mark) is None:
                    problem = "is not there"
            except Exception as error:  # Told to the driver.
                problem = str(error)
            row = {"version": [__version__], "memory": [available()], "problem": [problem]}
            yield pyarrow.RecordBatch.from_pydict(row)


def available() -> int:
    """The available bytes of memory of this machine; 0 if it does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            line = next(line for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return 0
    return int(line.split()[1]) << 10


def check_driver() -> None:
    """Refuse a driver that lacks a package."""
    missing = [name for name in ("pyspark", "pandas", "pyarrow") if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(
            f"a job on a cluster needs {', '.join(missing)}: pip install 'simtool-dedup[spark]', or "
            "'simtool-dedup[sail]' for Sail"
        )


def check_engine(spark: Any) -> None:
    """Refuse versions that do not work together."""
    import pyspark

    version = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
    if version < (3, 5):
        raise RuntimeError(f"PySpark {pyspark.__version__}: a job needs 3.5 or later")
    try:
        spark.range(1).collect()
    except Exception as error:  # The classes of exceptions differ between engines.
        if version >= (4, 2) and "connect" in type(spark).__module__:
            raise RuntimeError(
                f"the server does not understand PySpark {pyspark.__version__}; Sail 0.7 needs pyspark<4.2: "
                "pip install 'simtool-dedup[sail]'"
            ) from error
        raise


def check_workers(spark: Any, work: str) -> None:
    """Refuse workers with another version, without access to the directory, or with little memory."""
    mark = claim_work(work)
    try:
        rows = numbered(spark, range(1), Probe(work, mark), "version string, memory long, problem string").collect()
    except Exception as error:  # As above.
        if "No module named 'simtool_dedup" in str(error):
            raise RuntimeError(
                f"the workers have no simtool-dedup: install version {__version__} in their Python "
                "(PYSPARK_PYTHON), or send an environment with it"
            ) from error
        raise
    found = rows[0]
    if found["version"] != __version__:
        raise RuntimeError(
            f"the workers have simtool-dedup {found['version']}, and the driver has {__version__}: "
            "install one version everywhere"
        )
    if found["problem"]:
        raise RuntimeError(
            f"work {work!r}: a worker cannot read what the driver wrote there ({found['problem']}): choose a "
            "directory that all machines share"
        )
    if 0 < found["memory"] < LEAST_MEMORY:
        raise MemoryError(
            f"a worker has {found['memory'] >> 20} MB of memory available, and a task needs about "
            f"{LEAST_MEMORY >> 20} MB: use fewer cores for each worker, or larger machines"
        )
