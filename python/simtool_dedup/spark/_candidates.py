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
    """The first pairs of documents that share a rare shingle.

    ``labels`` (``rank``, ``label``) say which documents are removed or connected. Only documents of
    ``frontier`` (``rank``, ``frontier``) get candidates, after the rank that it names; all documents
    if it is ``None``.
    """
    engine = documents.engine
    frequent = documents.frequent()
    hot = documents.hot(frequent)

    def make() -> Any:
        rows = documents.sets().select("rank", "set")
        if frontier is not None:
            rows = rows.join(frontier, "rank", "left")
        if labels is not None:
            rows = rows.join(labels, "rank", "left")
        pairs = engine.exchanged(
            rows,
            "prefix",
            "pairs",
            PAIR,
            parts_of(engine.rows("sets"), SETS_OF_PART),
            frequent,
            hot=hot,
            most=FIRST * FACTOR**number,
            references=documents.counts()["references"],
        )
        return engine.by(pairs, "member", ["member", "earlier"], "first", PAIR)

    return engine.stage(f"proposed-{number}", make)


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
