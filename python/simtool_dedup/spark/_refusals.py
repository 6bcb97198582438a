"""Pairs that the method proposes and verification refuses."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F

from simtool_dedup.spark._candidates import PAIR
from simtool_dedup.spark._documents import Documents

MAX_REFUSALS = 20
"""Refused pairs of a document that count, as in the command."""


def refusals(documents: Documents, labels: Any) -> Any:
    """The first refused pairs of each document: ``member``, ``earlier``.

    ``labels`` (``rank``, ``label``): of removed documents, the one that stays; of components, the first
    document.
    """
    engine = documents.engine

    def make() -> Any:
        rows = documents.buckets().join(labels, "rank", "left")
        if documents.description["near_by_key"]:
            names = ["key", "rank", "label"]
        else:
            names = ["key", "rank", "label", "sketch"]
            if not documents.description["carries_sketch"]:
                rows = rows.join(documents.marked().select("rank", "sketch"), "rank")
        pairs = engine.by(
            rows.select(*names),
            "key",
            ["key", "rank"],
            "refusals",
            PAIR,
            references=documents.counts()["references"],
        )
        first = engine.by(
            pairs, "member", ["member", "earlier"], "first", PAIR, most=MAX_REFUSALS
        )
        return first.select("member", "earlier")

    return engine.stage("refusals", make)
