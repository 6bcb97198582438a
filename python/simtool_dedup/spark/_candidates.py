"""Candidates and their exact comparison."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F

from simtool_dedup.spark._documents import Documents
from simtool_dedup.spark._engine import Engine

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

    def make() -> Any:
        rows = documents.prefix()
        if frontier is None:
            rows = rows.withColumn("frontier", F.lit(-1).cast("long"))
        else:
            rows = rows.join(frontier, "rank", "left")
            wanted = rows.where(F.col("frontier").isNotNull()).select("element").distinct()
            rows = rows.join(wanted, "element", "left_semi")
        if labels is None:
            rows = rows.withColumn("label", F.lit(None).cast("long"))
        else:
            rows = rows.join(labels, "rank", "left")
        pairs = engine.by(
            tiled(documents, rows).select("element", "tile", "rank", "size", "place", "label", "frontier"),
            ["element", "tile"],
            ["element", "tile", "rank"],
            "pairs",
            PAIR,
            most=FIRST * FACTOR**number,
            references=documents.counts()["references"],
        )
        return engine.by(pairs, "member", ["member", "earlier"], "first", PAIR)

    return engine.stage(f"proposed-{number}", make)


def tiled(documents: Documents, rows: Any) -> Any:
    """The rows with a ``tile``: those of very frequent elements are divided over tasks.

    Each tile has all documents of the element, and each document searches in one of them.
    """
    hot, most = documents.hot(), documents.most_rows
    first = F.lit(0).cast("long")
    if not documents.engine.rows("hot"):
        return rows.withColumn("tile", first)
    counts = F.broadcast(hot.select("element", F.ceil(F.col("count") / most).cast("long").alias("tiles")))
    rest = rows.join(counts.select("element"), "element", "left_anti").withColumn("tile", first)
    parts = rows.join(counts, "element")
    own = F.col("rank") % F.col("tiles")
    parts = parts.withColumn("own", own)
    parts = parts.withColumn("tile", F.explode(F.sequence(first, F.col("tiles") - 1)))
    parts = parts.withColumn("frontier", F.when(F.col("tile") == F.col("own"), F.col("frontier")))
    return rest.unionByName(parts.drop("own", "tiles"))


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
