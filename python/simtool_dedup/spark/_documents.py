"""From rows to leaders with ranks, and the shingle sets of those that may have a duplicate."""

from __future__ import annotations

import struct
from typing import Any

from pyspark.sql import functions as F

from simtool_dedup.spark._engine import Engine, counted, parts_of
from simtool_dedup.spark._job import Columns

USUAL, SHORT, EMPTY, NO_TEXT, TOO_LARGE = range(5)
"""The states of a row."""

BROADCAST_ROWS = 1_000_000
"""Documents that every task may know, before texts are read again."""

MAX_ROWS = 1_000_000
"""Documents with one rare shingle that one task searches; more are divided over several."""

SAMPLE_ROWS = 1 << 17
"""Sets whose elements are counted, at the least."""
MAX_SPARSE = 64
"""At most this many sets for each one that is counted."""
MIN_COUNT = 8
"""An element is frequent if the counted sets have it this often."""
MAX_FREQUENT = 1 << 17
"""Frequent elements that every task knows."""

KEYS_OF_PART, SETS_OF_PART = 50_000, 5_000
"""Documents whose keys, and sets whose elements, are a part of some 20 MB."""


class Documents:
    """The documents of a job."""

    def __init__(
        self,
        engine: Engine,
        frame: Any,
        against: Any,
        columns: Columns,
        description: dict[str, Any],
        most_rows: int,
    ) -> None:
        """A frame, and perhaps one with which it is compared; ``most_rows`` as :data:`MAX_ROWS`."""
        self.engine = engine
        self.frames = [(frame, False)] + ([] if against is None else [(against, True)])
        self.columns = columns
        self.description = description
        self.most_rows = most_rows
        # The masks of groups, if only documents of one group are compared.
        self.masks = ["mask"] if description["grouped"] else []
        self.mask_schema = "".join(f", {name} long" for name in self.masks)

    def rows(self) -> Any:
        """All documents: digests, sketches, places in keep order."""

        def make() -> Any:
            parts = []
            for frame, is_reference in self.frames:
                documents = self.columns.documents(frame)
                kind = documents.schema["doc"].dataType.simpleString()
                schema = (
                    f"key {kind}, id string, doc binary, reference boolean, state int, text_bytes long, "
                    "digest binary, text_digest binary, sort binary, sketch binary"
                )
                schema += self.mask_schema
                parts.append(self.engine.step(documents, "sketch", schema, reference=is_reference))
            return union(parts)

        rows = self.engine.stage("rows", make)
        repeated = self.engine.value("repeated-ids", lambda: repeated_ids(rows))
        if repeated:
            what = self.columns.order or self.columns.id
            raise ValueError(
                f"{what}: {repeated} values occur more than once, and each document needs one of its "
                "own (pass order= with a column that has one)"
            )
        return rows

    def equal(self) -> Any:
        """Leaders, and the documents that are equal to one."""
        digest = "text_digest" if self.description["method"] == "exact" else "digest"

        def make() -> Any:
            rows = self.rows().where(F.col("state") <= SHORT)
            names = ["doc", "state", "digest", "text_digest", "sort", "sketch", *self.masks]
            rows = rows.select(*names)
            schema = (
                "doc binary, leader binary, same_text boolean, reference boolean, sort binary, sketch binary"
            )
            schema += self.mask_schema
            return self.engine.by(rows, digest, [digest, "sort"], "leaders", schema)

        return self.engine.stage("equal", make)

    def numbered(self) -> Any:
        """The leaders, numbered in parts that follow each other in keep order."""

        def make() -> Any:
            leaders = self.equal().where(F.col("leader").isNull())
            leaders = leaders.select("doc", "sort", "reference", "sketch", *self.masks)
            schema = "part int, doc binary, sort binary, reference boolean, sketch binary, place long"
            schema += self.mask_schema
            if self.engine.sorts_in_tasks:
                one = leaders.withColumn("part", F.lit(0))
                return self.engine.in_one_task(one, ["sort"], "number", schema)
            parts = leaders.orderBy("sort").withColumn("part", F.spark_partition_id())
            return self.engine.step(parts, "number", schema)

        def parts(numbered: Any) -> list[list[int]]:
            """Of each part: its number, the rank of its first row, its rows, and its references."""
            found = numbered.groupBy("part").agg(
                F.count(F.lit(1)), F.min("sort"), F.max("sort"), F.sum(F.col("reference").cast("long"))
            )
            ordered = sorted(found.collect(), key=lambda part: bytes(part[2]))
            begin, made = 0, []
            for number, (part, count, least, _, references) in enumerate(ordered):
                if number and bytes(least) <= bytes(ordered[number - 1][3]):
                    raise RuntimeError("the engine's sort gave partitions that overlap")
                made.append([part, begin, count, references])
                begin += count
            return made

        return self.engine.stage("numbered", make, parts)

    def ranked(self) -> Any:
        """The leaders with their ranks in keep order; those of the other collection come first."""
        numbered = self.numbered()
        parts = self.engine.done["numbered"]
        starts = self.engine.small([(part, start) for part, start, *_ in parts], "part int, start long")
        return numbered.join(starts, "part").select(
            (F.col("place") + F.col("start")).alias("rank"), "doc", "reference", "sketch", *self.masks
        )

    def counts(self) -> dict[str, int]:
        """The number of leaders, and of those of the other collection."""
        self.numbered()
        parts = self.engine.done["numbered"]
        return {
            "leaders": sum(part[2] for part in parts),
            "references": sum(part[3] or 0 for part in parts),
        }

    def buckets(self) -> Any:
        """Keys that several documents share, with their ranks."""

        def make() -> Any:
            ranked = self.ranked().select("rank", "sketch", *self.masks)
            carried = ", sketch binary" if self.description["carries_sketch"] else ""
            schema = "key long, rank long, others binary" + carried
            leaders = self.counts()["leaders"]
            parts = parts_of(leaders, KEYS_OF_PART)
            return self.engine.exchanged(ranked, "keys", "near", schema, parts, leaders=leaders)

        self.ranked()
        return self.engine.stage("buckets", make)

    def marks(self) -> Any:
        """The ranks of documents that share a key, and whether more than a few share one of theirs."""

        def make() -> Any:
            crowded = F.max(F.col("others").isNull())
            return self.buckets().groupBy("rank").agg(crowded.alias("crowded"))

        return self.engine.stage("marks", make)

    def marked(self) -> Any:
        """The documents that share a key with another one."""

        def make() -> Any:
            marks, rows = self.marks(), self.rows().select("doc", "key", "digest")
            ranked = self.ranked().drop(*self.masks)
            if not self.are_few():
                return ranked.join(marks, "rank").join(rows, "doc")
            ranked = ranked.join(F.broadcast(marks), "rank")
            rows = rows.join(F.broadcast(ranked.select("doc")), "doc", "left_semi")
            return ranked.join(rows, "doc")

        self.marks()
        return self.engine.stage("marked", make)

    def are_few(self) -> bool:
        """Whether every task may know all marked documents."""
        return self.engine.rows("marks") <= BROADCAST_ROWS

    def sets(self) -> Any:
        """The shingle sets of the marked documents, from a second reading of the texts."""

        def make() -> Any:
            marked = self.marked()
            parts = []
            for frame, is_reference in self.frames:
                wanted = marked.where(F.col("reference") == is_reference)
                texts = self.columns.texts(frame)
                if self.are_few():
                    texts = texts.join(F.broadcast(wanted.select("key")), "key", "left_semi")
                kind = texts.schema["key"].dataType.simpleString()
                schema = f"key {kind}, digest_now binary, set binary"
                sets = self.engine.step(texts, "sets", schema)
                sets = sets.join(wanted.select("key", "rank", "sketch", "digest", "crowded"), "key")
                same = F.col("digest") == F.col("digest_now")
                parts.append(sets.select("rank", "sketch", "set", "crowded", same.alias("same")))
            return union(parts)

        self.marked()
        measure = counted(different=~F.col("same"), crowded=F.col("crowded"))
        sets = self.engine.stage("sets", make, measure)
        different = self.engine.done["sets"]["different"]
        if different or self.engine.rows("sets") != self.engine.rows("marked"):
            raise RuntimeError(
                f"the input changed during the job: of {self.engine.rows('marked')} documents that were "
                f"to be read again, {self.engine.rows('sets')} were there, and {different} had other "
                "words (start again with another work=)"
            )
        return sets.select("rank", "sketch", "set", "crowded")

    def crowded(self) -> tuple[Any, int]:
        """The sets of documents that share a key with more than a few, and how many these are."""
        return self.sets().where("crowded"), int(self.engine.done["sets"]["crowded"])

    def frequent(self) -> bytes:
        """The frequent elements, which are behind the others in all sets, the most frequent one last."""
        sets, count = self.crowded()

        def make() -> Any:
            every = max(1, min(MAX_SPARSE, count // SAMPLE_ROWS))
            sample = sets.where(F.col("rank") % every == 0).select("set")
            parts = parts_of(count // every, SETS_OF_PART)
            schema = "element long, count long"
            counts = self.engine.exchanged(
                sample, "elements", "frequent", schema, parts, least=MIN_COUNT
            )
            return counts.orderBy(F.desc("count"), "element").limit(MAX_FREQUENT)

        found = self.engine.stage("frequent", make).collect()
        counts = sorted((count, element) for element, count in found)
        return struct.pack(f"<{len(counts)}q", *(element for _, element in counts))

    def hot(self, frequent: bytes) -> list[list[int]]:
        """Elements that very many prefixes have, each with the number of tiles of its documents."""
        (sets, count), most = self.crowded(), self.most_rows
        if not frequent or count <= most:
            return []

        def make() -> Any:
            schema = "element long, count long"
            counts = self.engine.step(sets.select("set"), "hot", schema, frequent)
            whole = counts.groupBy("element").agg(F.sum("count").alias("count"))
            tiles = F.ceil(F.col("count") / most).cast("long")
            return whole.where(F.col("count") > most).select("element", tiles.alias("tiles"))

        found = self.engine.stage("hot", make).collect()
        return sorted([element, tiles] for element, tiles in found)


def union(parts: list[Any]) -> Any:
    """One frame of several with the same columns."""
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.unionByName(part)
    return whole


def repeated_ids(rows: Any) -> int:
    """How many identities occur more than once."""
    return int(rows.groupBy("doc").count().where(F.col("count") > 1).count())
