"""``python -m simtool_dedup.spark INPUT... -o OUT``: deduplicate files on a cluster."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from pyspark.sql import SparkSession

from simtool_dedup.spark import dedup, read
from simtool_dedup.spark._read import OURS


BATCH, USUAL_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch", "10000"
"""Rows of a batch, which are texts of pages: batches that fit into the cache take less time."""


def parser() -> argparse.ArgumentParser:
    """The flags, with the names of the command."""
    flags = argparse.ArgumentParser(
        prog="python -m simtool_dedup.spark",
        description="Find and remove near-duplicate documents with Apache Spark. The result is that of "
        "simtool dedup on one machine. To resume an interrupted run, give the same command again.",
    )
    flags.add_argument("inputs", nargs="+", metavar="INPUT", help="files, directories or patterns")
    flags.add_argument("-o", "--output", required=True, metavar="DIR", help="directory of the output")
    flags.add_argument("--work", metavar="DIR", help="directory of the tables between stages [default: OUT/work]")
    flags.add_argument("--format", default="wet", help="wet, warc, arc, jsonl, or a format of Spark such as parquet")
    flags.add_argument("--remote", metavar="URL", help="a Spark Connect server, such as sc://host:15002")
    flags.add_argument("--against", nargs="+", metavar="INPUT", help="also remove what repeats one of these")
    flags.add_argument("--against-only", action="store_true", help="keep duplicates within the input")
    for name in ("text", "id", "url", "date"):
        flags.add_argument(f"--{name}-field", default=name, metavar="NAME", help=f"the field of the {name}")
    flags.add_argument("--order-field", metavar="NAME", help="a column with a value of its own in each row")
    flags.add_argument("--method", help="how candidates are found: simtool methods lists them [default: minhash]")
    flags.add_argument("--similarity", type=float, metavar="SHARE", help="least similarity [default: 0.8]")
    flags.add_argument("--shingle", type=int, metavar="WORDS", help="words in a shingle [default: 5]")
    flags.add_argument("--distance", type=int, metavar="K", help="largest Hamming distance of candidates")
    flags.add_argument("--keep", metavar="POLICIES", help="which copy stays, or none [default: first]")
    flags.add_argument("--within", metavar="SCOPE", help="compare within groups: field:NAME, site or language")
    flags.add_argument("--keep-copies", type=int, default=1, metavar="N", help="copies that stay [default: 1]")
    flags.add_argument("--cluster", choices=["star", "components"], help="how clusters form [default: star]")
    flags.add_argument("--tokenizer", help="what a word is")
    flags.add_argument("--html", help="the part of HTML pages: main, visible or markup")
    flags.add_argument("--refused", action="store_true", help="list the pairs that verification refused")
    flags.add_argument("--write", choices=["none", "kept"], default="none", help="also write the kept rows")
    flags.add_argument("--quiet", action="store_true", help="do not report finished stages")
    return flags


def main(words: list[str] | None = None) -> int:
    """Run the command."""
    args = parser().parse_args(words)
    builder = SparkSession.builder.appName("simtool dedup")
    spark = (builder.remote(args.remote) if args.remote else builder).getOrCreate()
    if not args.remote and spark.conf.get(BATCH) == USUAL_BATCH:
        spark.conf.set(BATCH, "1000")
    is_ours = args.format in OURS

    def frame(paths: list[str]) -> Any:
        if not is_ours:
            return read(spark, paths, format=args.format)
        return read(
            spark,
            paths,
            format=args.format,
            text=args.text_field,
            id=args.id_field,
            url=args.url_field,
            date=args.date_field,
            html=args.html,
        )

    names = ["text", "id", "url", "date"]
    columns: dict[str, Any] = {name: name if is_ours else getattr(args, f"{name}_field") for name in names}
    documents = frame(args.inputs)
    if not is_ours:
        # Columns that nothing needs may be missing.
        policies = args.keep or ""
        for name, policy in (("url", "shortest-url"), ("date", "newest")):
            if policy not in policies and not (name == "url" and args.within == "site"):
                columns.pop(name)
    out = args.output.rstrip("/")
    result = dedup(
        documents,
        work=args.work or f"{out}/work",
        **columns,
        order="position" if is_ours else args.order_field,
        method=args.method,
        similarity=args.similarity,
        shingle=args.shingle,
        distance=args.distance,
        keep=args.keep,
        within=args.within,
        keep_copies=args.keep_copies,
        cluster=args.cluster,
        against=frame(args.against) if args.against else None,
        against_only=args.against_only,
        tokenizer=args.tokenizer,
        html="markup" if is_ours else args.html,
        refused=args.refused,
        progress=None if args.quiet else report,
    )
    tables = {"duplicates": result.duplicates, "clusters": result.clusters, "summary": result.summary}
    if args.refused:
        tables["refused"] = result.refused
    if args.write == "kept":
        tables["kept"] = result.kept
    for name, table in tables.items():
        result.write(name, table, f"{out}/{name}")
    print(result, file=sys.stderr)
    return 0


def report(line: str) -> None:
    """A finished stage."""
    print(line[:200], file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
