"""Removes near-duplicates of a polars frame with one tool: PROGRAM TOOL FRAME.parquet.

Prints the seconds and processor seconds from the frame in memory to clusters, and the number of rows
that repeat another one. The start of Python, the imports, the reading of the frame and a first call
with few rows do not count.
"""

import importlib
import sys
import tempfile
import time
from pathlib import Path

import documents
import numpy  # noqa: F401
import polars as pl

THREADS = 1


def simtool(method):
    """The duplicates, clusters and kept rows of `simtool_dedup.dedup`."""
    import simtool_dedup

    def count(frame):
        found = simtool_dedup.dedup(frame, method=method, threads=THREADS)
        assert len(found.kept) + len(found.duplicates) == len(frame)
        assert len(found.clusters) >= len(found.duplicates)
        return len(found.duplicates)

    return count


def column(function, **options):
    """A function of a column."""
    import simtool_dedup

    return lambda frame: len(getattr(simtool_dedup, function)(frame["text"], threads=THREADS, **options))


def peer(name):
    """The clusters of the pairs of lab/peers/with_NAME.py, whose documents are the rows."""
    documents.read_documents = lambda frame: zip(frame["id"].to_list(), frame["text"].to_list())
    find_pairs = importlib.import_module(f"with_{name}").find_pairs
    return lambda frame: repeated(find_pairs(frame))


def text_dedup():
    """text-dedup reads files only."""
    from with_text_dedup import disable_progress_bar, find_pairs

    def count(frame):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "rows.jsonl"
            frame.write_ndjson(path)
            return repeated(find_pairs(str(path)))

    disable_progress_bar()
    return count


def semhash_exact():
    """What semhash does before it computes embeddings: equal texts, and nothing else."""
    from semhash.records import remove_exact_duplicates

    def count(frame):
        records = [{"text": text} for text in frame["text"].to_list()]
        return len(remove_exact_duplicates(records, ["text"])[1])

    return count


def repeated(pairs):
    """The number of documents that are in a cluster and not its first."""
    root = {}

    def find(name):
        while (above := root.get(name, name)) != name:
            root[name] = root.get(above, above)
            name = above
        return name

    for a, b in pairs:
        a, b = sorted((find(a), find(b)))
        root[b] = a
    return sum(find(name) != name for name in root)


TOOLS = {
    "simtool minhash": lambda: simtool("minhash"),
    "simtool simhash": lambda: simtool("simhash"),
    "rensa": lambda: peer("rensa"),
    "rensa words": lambda: peer("rensa_dedup"),
    "datasketch": lambda: peer("datasketch"),
    "text-dedup": text_dedup,
    "semhash": semhash_exact,
    "simhash of a column": lambda: column("simhash"),
    "minhash of a column": lambda: column("minhash"),
}


def main():
    tool, path = sys.argv[1:]
    count, frame = TOOLS[tool](), pl.read_parquet(path)
    # Libraries that are loaded by the first call.
    count(frame.head(100))
    start, start_cpu = time.perf_counter(), documents.cpu_seconds()
    found = count(frame)
    print(time.perf_counter() - start, documents.cpu_seconds() - start_cpu, found)


if __name__ == "__main__":
    main()
