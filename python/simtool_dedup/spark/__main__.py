"""``python -m simtool_dedup.spark INPUT... -o OUT``: deduplicate files on a cluster."""

from __future__ import annotations

import argparse
import os
import sys

from pyspark.sql import SparkSession

from simtool_dedup import Error
from simtool_dedup.spark import dedup
from simtool_dedup.spark._read import TASK_BYTES


def parser() -> argparse.ArgumentParser:
    """The flags, with the names of the command."""
    flags = argparse.ArgumentParser(
        prog="python -m simtool_dedup.spark",
        description="Find and remove near-duplicate documents of files with Apache Spark. The result is that "
        "of simtool dedup on one machine. To resume an interrupted run, give the same command again.",
    )
    flags.add_argument("inputs", nargs="+", metavar="INPUT", help="files, directories or patterns")
    flags.add_argument("-o", "--output", required=True, metavar="DIR", help="directory of the output")
    flags.add_argument("--work", metavar="DIR", help="directory of what tasks leave for others [default: OUT/work]")
    flags.add_argument("--format", help="the format of all files [default: recognised]")
    flags.add_argument("--remote", metavar="URL", help="a Spark Connect server, such as sc://host:15002")
    flags.add_argument("--against", nargs="+", metavar="INPUT", help="also remove what repeats one of these")
    flags.add_argument("--against-only", action="store_true", help="keep duplicates within the input")
    for name in ("text", "id", "url", "date"):
        flags.add_argument(f"--{name}-field", default=name, metavar="NAME", help=f"the field of the {name}")
    flags.add_argument("--method", help="how candidates are found: simtool methods lists them [default: minhash]")
    flags.add_argument("--similarity", metavar="SHARE", help="least similarity [default: 0.8]")
    flags.add_argument("--shingle", type=int, metavar="WORDS", help="words in a shingle [default: 5]")
    flags.add_argument("--keep", metavar="POLICIES", help="which copy stays, or none [default: first]")
    flags.add_argument("--within", metavar="SCOPE", help="compare within groups: field:NAME, site, source or language")
    flags.add_argument("--keep-copies", type=int, metavar="N", help="copies that stay [default: 1]")
    flags.add_argument("--cluster", choices=["star", "components"], help="how clusters form [default: star]")
    flags.add_argument("--tokenizer", help="what a word is")
    flags.add_argument("--html", help="the part of HTML pages: main, visible or markup")
    flags.add_argument("--refused", action="store_true", help="list the pairs that verification refused")
    flags.add_argument("--task-bytes", type=int, default=TASK_BYTES, metavar="BYTES", help="text that a task reads")
    flags.add_argument("--most-rows", type=int, metavar="ROWS", help="documents with one shingle in a task")
    flags.add_argument("--write", choices=["none", "kept"], default="none", help="also write the kept documents")
    flags.add_argument("--quiet", action="store_true", help="do not report finished stages")
    return flags


def main(words: list[str] | None = None) -> int:
    """Run the command; errors are messages without a trace."""
    args = parser().parse_args(words)
    if not args.remote and "PYSPARK_GATEWAY_PORT" not in os.environ:
        # Not called by spark-submit: the workers are processes of this machine.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        run(args)
    except (ValueError, TypeError, OSError, RuntimeError, MemoryError, Error) as error:
        print(f"simtool: {error}", file=sys.stderr)
        return 2
    return 0


def run(args: argparse.Namespace) -> None:
    """Run a job, and write its frames."""
    builder = SparkSession.builder.appName("simtool dedup")
    spark = (builder.remote(args.remote) if args.remote else builder).getOrCreate()
    out = args.output.rstrip("/")
    if "://" in out:
        raise ValueError(f"output {out!r}: expected a directory that all machines share")
    names = ["against", "against_only", "method", "similarity", "shingle", "keep", "within"]
    names += ["keep_copies", "cluster", "tokenizer", "html", "refused", "task_bytes", "most_rows"]
    result = dedup(
        args.inputs,
        spark=spark,
        work=args.work or f"{out}/work",
        text=args.text_field,
        ids=args.id_field,
        url=args.url_field,
        date=args.date_field,
        progress=None if args.quiet else report,
        file_format=args.format,
        **{name: getattr(args, name) for name in names},
    )
    tables = {"duplicates": result.duplicates, "clusters": result.clusters}
    if args.refused:
        tables["refused"] = result.refused
    if args.write == "kept":
        tables["kept"] = result.kept
    for name, table in tables.items():
        result.write(name, table, f"{out}/{name}")
    print(result, file=sys.stderr)


def report(line: str) -> None:
    """A finished stage."""
    print(line[:200], file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
