"""Stars: the lexicographically first maximal independent set of the verified pairs, in keep order.

A document whose earlier neighbours are all removed stays, and removes its later neighbours. The
result is unique, so it is that of one machine, which visits one document after another.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F

from simtool_dedup.spark._candidates import proposed, verified
from simtool_dedup.spark._documents import Documents, union
from simtool_dedup.spark._engine import counted

ONE_TASK = 4_000_000
"""Undecided pairs that one task settles, one document after another."""
MAX_ROUNDS = 40
"""Rounds after which one task settles the rest, however much it is."""

EDGE = "member long, earlier long, cut boolean"


class Stars:
    """The star rule over the marked documents."""

    def __init__(self, documents: Documents, one_task: int = ONE_TASK) -> None:
        """Stars of documents; ``one_task`` as :data:`ONE_TASK`."""
        self.documents = documents
        self.engine = documents.engine
        self.one_task = one_task

    def decisions(self) -> Any:
        """The removed leaders, each with the one that stays: ``member``, ``earlier`` and evidence."""
        pairs, cuts, labels, frontier = [], None, None, None
        number = 0
        while True:
            found = proposed(self.documents, number, labels, frontier)
            pairs.append(self.verify(found, number))
            cuts = open_cuts(found, cuts, frontier)
            settled = self.settle(union(pairs), cuts, number)
            if not self.engine.done[f"settled-{number}"]["undecided"]:
                break
            removed = settled.where(F.col("frontier").isNull()).select(F.col("member").alias("rank"))
            labels = removed.withColumn("label", F.lit(-1).cast("long"))
            frontier = settled.where(F.col("frontier").isNotNull())
            frontier = frontier.select(F.col("member").alias("rank"), "frontier")
            number += 1
        edges, removed = union(pairs), settled.select("member")

        def make() -> Any:
            gone = removed.withColumnRenamed("member", "earlier")
            stays = edges.join(gone, "earlier", "left_anti").join(removed, "member", "left_semi")
            first = stays.groupBy("member").agg(F.min("earlier").alias("earlier"))
            return stays.join(first, ["member", "earlier"])

        return self.engine.stage("decisions", make)

    def verify(self, found: Any, number: int) -> Any:
        """The candidates that verify."""
        return self.engine.stage(
            f"verified-{number}", lambda: verified(self.engine, self.documents.sets(), found)
        )

    def settle(self, edges: Any, cuts: Any, number: int) -> Any:
        """The removed documents, and those that need more candidates: ``member``, ``frontier``."""
        edges = edges.select("member", "earlier")
        core, gone = self.rounds(edges, cuts, number)
        core = core.withColumn("cut", F.lit(False))
        left = cuts.withColumn("cut", F.lit(True))
        if gone is not None:
            left = left.join(gone, "member", "left_anti")

        def make() -> Any:
            rows = core.unionByName(left.select("member", "earlier", "cut"))
            settled = self.engine.in_one_task(
                rows, ["member", "earlier"], "settle", "member long, frontier long"
            )
            if gone is not None:
                settled = settled.unionByName(gone.withColumn("frontier", F.lit(None).cast("long")))
            return settled

        undecided = F.col("frontier").isNotNull()
        return self.engine.stage(f"settled-{number}", make, counted(undecided=undecided))

    def rounds(self, edges: Any, cuts: Any, number: int) -> tuple[Any, Any]:
        """Decide documents in parallel until one task may settle the rest.

        A document without an undecided earlier neighbour, and without a cut, stays; its later
        neighbours go. Gives the pairs of undecided documents, and the removed documents.
        """
        removed: list[Any] = []
        name = f"round-{number}"
        count = sum(self.engine.rows(f"verified-{earlier}") for earlier in range(number + 1))
        for turn in range(MAX_ROUNDS):
            if count <= self.one_task:
                break
            going = self.engine.stage(f"{name}-gone-{turn}", lambda: going_of(edges, cuts))
            removed.append(going)
            edges = self.engine.stage(f"{name}-rest-{turn}", lambda: without(edges, going))
            before, count = count, self.engine.rows(f"{name}-rest-{turn}")
            if count == before:
                break
        return edges, union(removed) if removed else None


def going_of(edges: Any, cuts: Any) -> Any:
    """The neighbours of documents that certainly stay."""
    waiting = edges.select(F.col("member").alias("earlier")).distinct()
    unknown = cuts.select(F.col("member").alias("earlier"))
    stays = edges.select("earlier").distinct().join(waiting, "earlier", "left_anti")
    stays = stays.join(unknown, "earlier", "left_anti")
    return edges.join(stays, "earlier", "left_semi").select("member").distinct()


def without(edges: Any, going: Any) -> Any:
    """The pairs of documents that are not removed."""
    rest = edges.join(going, "member", "left_anti")
    return rest.join(going.withColumnRenamed("member", "earlier"), "earlier", "left_anti").select(
        "member", "earlier"
    )


def open_cuts(found: Any, cuts: Any, frontier: Any) -> Any:
    """Where the candidates of documents end: those of this round, and of those that got none in it."""
    now = found.where("cut").select("member", "earlier")
    if cuts is None:
        return now
    asked = frontier.select(F.col("rank").alias("member"))
    return cuts.join(asked, "member", "left_anti").unionByName(now)
