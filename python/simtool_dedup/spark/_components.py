"""Connected components of the verified pairs."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F

from simtool_dedup.spark._candidates import proposed, verified
from simtool_dedup.spark._documents import Documents, union
from simtool_dedup.spark._stars import MAX_ROUNDS, ONE_TASK, open_cuts


class Components:
    """The components of the marked documents."""

    def __init__(self, documents: Documents, against_only: bool, one_task: int = ONE_TASK) -> None:
        """Components of documents; ``one_task`` as of stars."""
        self.documents = documents
        self.engine = documents.engine
        self.against_only = against_only
        self.one_task = one_task

    def firsts(self) -> Any:
        """The documents of components of several, each with the first one: ``rank``, ``first``."""
        pairs, cuts, labels, frontier = [], None, None, None
        number = 0
        while True:
            found = proposed(self.documents, number, labels, frontier)
            pairs.append(self.verify(found, number))
            cuts = open_cuts(found, cuts, frontier)
            firsts = self.connect(union(pairs), number)
            if not self.engine.value(f"cuts-{number}", cuts.count):
                return firsts
            labels = firsts.select("rank", F.col("first").alias("label"))
            frontier = cuts.select(F.col("member").alias("rank"), F.col("earlier").alias("frontier"))
            number += 1

    def decisions(self) -> Any:
        """The removed leaders, each with the first one of its component, and their similarity."""
        references = self.documents.counts()["references"]

        def make() -> Any:
            pairs = self.firsts().where(F.col("rank") != F.col("first"))
            pairs = pairs.where(F.col("rank") >= references)
            if self.against_only:
                pairs = pairs.where(F.col("first") < references)
            pairs = pairs.select(F.col("rank").alias("member"), F.col("first").alias("earlier"))
            return verified(self.engine, self.documents.sets(), pairs, any=True)

        return self.engine.stage("decisions", make)

    def verify(self, found: Any, number: int) -> Any:
        """The candidates that verify."""
        return self.engine.stage(
            f"verified-{number}", lambda: verified(self.engine, self.documents.sets(), found)
        )

    def connect(self, edges: Any, number: int) -> Any:
        """The components of pairs: ``rank``, ``first``.

        Rounds replace pairs until one task may connect the rest, or nothing changes. Source: Kiveris,
        Lattanzi, Mirrokni, Rastogi and Vassilvitskii, "Connected Components in MapReduce and Beyond",
        SOCC 2014.
        """
        edges = edges.select("member", "earlier")
        name = f"round-{number}"
        count = sum(self.engine.rows(f"verified-{earlier}") for earlier in range(number + 1))
        turn = 0
        while count > self.one_task and turn < MAX_ROUNDS:
            before = edges
            large = self.engine.stage(f"{name}-large-{turn}", lambda: star(before, True))
            edges = self.engine.stage(f"{name}-small-{turn}", lambda: star(large, False))
            count = self.engine.rows(f"{name}-small-{turn}")
            changed = self.engine.value(
                f"{name}-changed-{turn}",
                lambda: edges.join(before, ["member", "earlier"], "left_anti").count()
                + before.join(edges, ["member", "earlier"], "left_anti").count(),
            )
            turn += 1
            if not changed:
                # Every document is paired with the first one of its component.
                found = edges.select(F.col("member").alias("rank"), F.col("earlier").alias("first"))
                own = edges.select(F.col("earlier").alias("rank")).distinct()
                whole = found.unionByName(own.withColumn("first", F.col("rank")))
                return self.engine.stage(f"components-{number}", lambda: whole)
        return self.engine.stage(
            f"components-{number}",
            lambda: self.engine.in_one_task(
                edges, ["member", "earlier"], "union", "rank long, first long"
            ),
        )


def star(edges: Any, large: bool) -> Any:
    """Pair neighbours of each document with the least of it and them.

    Large: only its neighbours that follow it. Small: it, and its neighbours that precede it.
    """
    out = edges.select(F.col("member").alias("a"), F.col("earlier").alias("b"))
    if large:
        both = out.unionByName(out.select(F.col("b").alias("a"), F.col("a").alias("b")))
        least = both.groupBy("a").agg(F.min("b").alias("b"))
        least = least.select("a", F.least("a", "b").alias("least"))
        pairs = both.where(F.col("b") > F.col("a")).join(least, "a")
        pairs = pairs.select(F.col("b").alias("member"), F.col("least").alias("earlier"))
    else:
        least = out.groupBy("a").agg(F.min("b").alias("least"))
        own = least.select(F.col("a").alias("member"), F.col("least").alias("earlier"))
        pairs = out.join(least, "a").select(F.col("b").alias("member"), F.col("least").alias("earlier"))
        pairs = pairs.unionByName(own)
    return pairs.where(F.col("member") != F.col("earlier")).distinct()
