"""Candidates and their exact comparison."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F

from simtool_dedup.spark._documents import SETS_OF_PART, Documents
from simtool_dedup.spark._engine import Engine, parts_of

FIRST, FACTOR = 2, 8
"""Candidates of each document and shingle in the first round, and the factor of each further one."""

PAIR = "member long, earlier long, cut boolean"
VERIFIED = "member long, earlier long, shared long, shingles long, distance long, estimate double"


def proposed(documents: Documents, number: int, labels: Any, frontier: Any) -> Any:
    """The pairs of documents that share a key with few, and the first pairs that share a rare shingle.

    ``labels`` (``rank``, ``label``) say which documents are removed or connected. Only documents of
    ``frontier`` (``rank``, ``frontier``) get candidates, after the rank that it names; all documents
    if it is ``None``.
    """
    engine = documents.engine

    def make() -> Any:
        pairs = listed(documents, frontier)
        if documents.crowded()[1]:
            pairs = pairs.unionByName(by_shingles(documents, number, labels, frontier))
        return engine.by(pairs, "member", ["member", "earlier"], "first", PAIR)

    return engine.stage(f"proposed-{number}", make)


def listed(documents: Documents, frontier: Any) -> Any:
    """All pairs of documents that share a key with few."""
    rows = documents.buckets().where(F.col("others").isNotNull()).select("rank", "others")
    if frontier is not None:
        rows = rows.join(frontier, "rank")
    references = documents.counts()["references"]
    return documents.engine.step(rows, "listed", PAIR, references=references)


def by_shingles(documents: Documents, number: int, labels: Any, frontier: Any) -> Any:
    """The first pairs of other documents that share a rare shingle."""
    sets, count = documents.crowded()
    frequent = documents.frequent()
    rows = sets.select("rank", "set")
    if frontier is not None:
        rows = rows.join(frontier, "rank", "left")
    if labels is not None:
        rows = rows.join(labels, "rank", "left")
    return documents.engine.exchanged(
        rows,
        "prefix",
        "pairs",
        PAIR,
        parts_of(count, SETS_OF_PART),
        frequent,
        hot=documents.hot(frequent),
        most=FIRST * FACTOR**number,
        references=documents.counts()["references"],
    )


def verified(engine: Engine, sets: Any, pairs: Any, **settings: Any) -> Any:
    """The pairs that are near and similar enough, with both counts; all with ``any=True``."""
    pairs = pairs.select("member", "earlier")
    others = pairs.join(sets.withColumnRenamed("rank", "earlier"), "earlier")
    own = sets.withColumnRenamed("rank", "member").join(
        pairs.select("member").distinct(), "member", "left_semi"
    )
    own = own.withColumn("earlier", F.lit(-1).cast("long"))
    names = ["member", "earlier", "sketch", "set"]
    rows = others.select(*names).unionByName(own.select(*names))
    return engine.by(rows, "member", ["member", "earlier"], "verify", VERIFIED, **settings)
