"""The decisions about all documents, and the frames that the user gets."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Window
from pyspark.sql import functions as F

from simtool_dedup.spark._documents import EMPTY, SHORT, USUAL, Documents
from simtool_dedup.spark._engine import counted

EVIDENCE = ["shared", "shingles", "distance", "estimate"]


class Reports:
    """Frames of a job whose leaders are decided."""

    def __init__(self, documents: Documents, decisions: Any, against_only: bool, copies: int) -> None:
        """``decisions`` about leaders (``None`` if only equal documents are duplicates).

        ``copies``: the documents of each cluster that stay.
        """
        self.documents = documents
        self.engine = documents.engine
        self.decisions = decisions
        self.against_only = against_only
        self.copies = copies
        self.description = documents.description

    def of_leaders(self) -> Any:
        """Removed leaders by ``doc``, with the ``kept`` document and the evidence."""
        ranked = self.documents.ranked().select("rank", "doc")
        members = ranked.withColumnsRenamed({"rank": "member"})
        others = ranked.withColumnsRenamed({"rank": "earlier", "doc": "kept"})
        joined = self.decisions.join(members, "member").join(others, "earlier")
        return joined.select(
            "doc",
            "kept",
            F.lit(self.description["method"]).alias("method"),
            (F.col("shared") / F.col("shingles")).alias("similarity"),
            *EVIDENCE,
        )

    def of_followers(self, leaders: Any) -> Any:
        """Documents that are equal to a leader, dropped for it or for what it is dropped for."""
        followers = self.documents.equal().where(F.col("leader").isNotNull())
        followers = followers.select("doc", "leader", "same_text", "reference")
        has_distance = self.description["has_distances"]
        equal = {
            "kept": F.col("leader"),
            "method": F.when(F.col("same_text"), "exact").otherwise("normalized"),
            "similarity": F.lit(1.0),
            "shared": F.lit(None).cast("long"),
            "shingles": F.lit(None).cast("long"),
            "distance": F.lit(0 if has_distance else None).cast("long"),
            "estimate": F.lit(None if has_distance else 1.0).cast("double"),
        }
        if leaders is None:
            found = followers.select("doc", *(column.alias(name) for name, column in equal.items()))
            return found if not self.against_only else self.only_against(followers, found)
        of_leader = leaders.withColumnRenamed("doc", "leader").withColumn("gone", F.lit(True))
        joined = followers.join(of_leader, "leader", "left")
        if self.against_only:
            joined = joined.where(F.col("reference") | F.col("gone").isNotNull())
        columns = [
            F.when(F.col("gone"), F.col(name)).otherwise(column).alias(name)
            for name, column in equal.items()
        ]
        return joined.select("doc", *columns)

    def only_against(self, followers: Any, found: Any) -> Any:
        """Those of the followers whose leader is of the other collection."""
        return found.join(followers.where("reference").select("doc"), "doc", "left_semi")

    def dropped(self) -> Any:
        """The documents of clusters but the first: ``doc``, ``kept``, evidence, the size of the cluster.

        ``stays``: those that are kept besides the first one. If no copy is kept, also the first one,
        for which no other is ``kept``.
        """

        def make() -> Any:
            if self.decisions is None:
                dropped = self.of_followers(None)
            else:
                leaders = self.of_leaders()
                dropped = leaders.unionByName(self.of_followers(leaders))
            sizes = dropped.groupBy("kept").agg((F.count(F.lit(1)) + 1).alias("cluster_size"))
            dropped = dropped.join(sizes, "kept").withColumn("stays", F.lit(False))
            if self.copies == 0:
                return dropped.unionByName(first_of_clusters(dropped))
            if self.copies > 1:
                return self.with_copies(dropped)
            return dropped

        return self.engine.stage("dropped", make, counted(stays=F.col("stays")))

    def with_copies(self, dropped: Any) -> Any:
        """The documents of clusters, of which the first ones in keep order stay."""
        sorts = self.documents.rows().select("doc", "sort")
        # Not every engine compares bytes in windows.
        in_keep_order = Window.partitionBy("kept").orderBy(F.hex("sort"))
        stays = F.row_number().over(in_keep_order) < self.copies
        return dropped.join(sorts, "doc").withColumn("stays", stays).drop("sort")

    def gone(self) -> Any:
        """The documents that do not stay."""
        return self.dropped().where(~F.col("stays"))

    def labels(self) -> Any:
        """The id and the key of each document."""
        return self.documents.rows().select("doc", "id", "key", "reference")

    def duplicates(self) -> Any:
        """The frame of dropped documents."""
        labels = self.labels()
        kept = labels.select(
            F.col("doc").alias("kept"),
            F.col("id").alias("kept_id"),
            F.col("key").alias("kept_key"),
            F.col("reference").alias("kept_against"),
        )
        gone = self.gone().withColumn("kept", other_than("doc", "kept"))
        joined = gone.join(labels.drop("reference"), "doc").join(kept, "kept", "left")
        return joined.select(
            "id",
            F.col("kept_id").alias("kept"),
            "cluster_size",
            "method",
            "distance",
            "estimate",
            "similarity",
            "shared",
            "shingles",
            "kept_against",
            "key",
            "kept_key",
        )

    def clusters(self) -> Any:
        """A row for each document of a cluster."""
        dropped = self.dropped().where(F.col("doc") != F.col("kept"))
        members = dropped.select(
            F.col("kept").alias("cluster"), "cluster_size", "doc", F.col("stays").alias("kept")
        )
        first = members.select("cluster", "cluster_size").distinct()
        first = first.withColumn("doc", F.col("cluster")).withColumn("kept", F.lit(self.copies > 0))
        members = members.unionByName(first)
        labels = self.labels()
        names = labels.select(F.col("doc").alias("cluster"), F.col("id").alias("name"))
        joined = members.join(labels, "doc").join(names, "cluster")
        return joined.select(
            F.col("name").alias("cluster"), F.col("cluster_size").alias("size"), "id", "kept", "key"
        )

    def kept(self, frame: Any) -> Any:
        """The rows of the input that were not dropped."""
        gone = self.labels().join(self.gone().select("doc"), "doc", "left_semi")
        gone = gone.where(~F.col("reference")).select(F.col("key").alias("simtool_key"))
        name = "simtool_key"
        keyed = frame.withColumn(name, self.documents.columns.key(frame))
        return keyed.join(gone, name, "left_anti").drop(name)

    def refused(self, pairs: Any) -> Any:
        """The frame of refused pairs, with their similarity."""
        ranked = self.documents.ranked().select("rank", "doc").join(self.labels(), "doc")
        names = ranked.select(F.col("rank").alias("member"), "id", "key")
        others = ranked.select(
            F.col("rank").alias("earlier"),
            F.col("id").alias("kept"),
            F.col("reference").alias("kept_against"),
            F.col("key").alias("kept_key"),
        )
        joined = pairs.join(names, "member").join(others, "earlier")
        return joined.select(
            "id",
            "kept",
            F.lit(self.description["method"]).alias("method"),
            "distance",
            "estimate",
            (F.col("shared") / F.col("shingles")).alias("similarity"),
            "shared",
            "shingles",
            "kept_against",
            "key",
            "kept_key",
        )

    def summary(self, refused: int) -> dict[str, int]:
        """Counts that add up: seen = kept + dropped + skipped."""
        rows = self.documents.rows().groupBy("reference", "state")
        counts = rows.agg(F.count(F.lit(1)).alias("rows"), F.sum("text_bytes").alias("bytes")).collect()
        own = [row for row in counts if not row["reference"]]

        def documents(*states: int) -> int:
            return sum(row["rows"] for row in own if row["state"] in states)

        references = [row for row in counts if row["reference"]]
        references_read = sum(row["rows"] for row in references if row["state"] <= EMPTY)
        dropped = self.gone()
        kept_against = self.labels().where("reference").select(F.col("doc").alias("kept"))
        methods = dict(dropped.groupBy("method").count().collect())
        equal = [methods.pop(name, 0) for name in ("exact", "normalized")]
        sizes = self.dropped().select("kept", "cluster_size").distinct()
        clusters, largest = sizes.agg(F.count(F.lit(1)), F.max("cluster_size")).collect()[0]
        seen = sum(row["rows"] for row in own)
        skipped = seen - documents(USUAL, SHORT, EMPTY)
        gone = self.engine.rows("dropped") - self.engine.done["dropped"]["stays"]
        return {
            "seen": seen,
            "kept": seen - gone - skipped,
            "dropped": gone,
            "skipped": skipped,
            "same_text": equal[0],
            "same_words": equal[1],
            "near": sum(methods.values()),
            "clusters": clusters,
            "largest_cluster": largest or 0,
            "refused": refused,
            "against": references_read,
            "skipped_against": sum(row["rows"] for row in references) - references_read,
            "dropped_against": dropped.join(kept_against, "kept", "left_semi").count(),
            "empty": documents(EMPTY),
            "short": documents(SHORT),
            "text_bytes": sum(row["bytes"] for row in own),
        }


def first_of_clusters(dropped: Any) -> Any:
    """A row for the first document of each cluster, which is dropped as well.

    Its method is that of a document that is dropped for it: equality, if there is such a one.
    """
    methods = F.when(F.col("method") == "exact", 0).when(F.col("method") == "normalized", 1)
    methods = F.struct(methods.otherwise(2).alias("place"), "method")
    found = dropped.groupBy("kept", "cluster_size").agg(F.min(methods).alias("first"))
    nothing = {"similarity": "double", "shared": "long", "shingles": "long", "distance": "long"}
    nothing["estimate"] = "double"
    return found.select(
        F.col("kept").alias("doc"),
        "kept",
        F.col("first.method").alias("method"),
        *(F.lit(None).cast(kind).alias(name) for name, kind in nothing.items()),
        "cluster_size",
        F.lit(False).alias("stays"),
    )


def other_than(own: str, column: str) -> Any:
    """The value of a column, or null if it is that of another one."""
    return F.when(F.col(column) != F.col(own), F.col(column))
