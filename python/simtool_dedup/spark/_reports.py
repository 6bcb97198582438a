"""The decisions about all documents, and the frames that the user gets."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F

from simtool_dedup.spark._documents import EMPTY, SHORT, USUAL, Documents

EVIDENCE = ["shared", "shingles", "distance", "estimate"]


class Reports:
    """Frames of a job whose leaders are decided."""

    def __init__(self, documents: Documents, decisions: Any, against_only: bool) -> None:
        """``decisions`` about leaders (``None`` if only equal documents are duplicates)."""
        self.documents = documents
        self.engine = documents.engine
        self.decisions = decisions
        self.against_only = against_only
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
        """All dropped documents: ``doc``, ``kept``, evidence, and the size of the cluster."""

        def make() -> Any:
            if self.decisions is None:
                dropped = self.of_followers(None)
            else:
                leaders = self.of_leaders()
                dropped = leaders.unionByName(self.of_followers(leaders))
            sizes = dropped.groupBy("kept").agg((F.count(F.lit(1)) + 1).alias("cluster_size"))
            return dropped.join(sizes, "kept")

        return self.engine.stage("dropped", make)

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
        joined = self.dropped().join(labels.drop("reference"), "doc").join(kept, "kept")
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
        dropped = self.dropped().select(F.col("kept").alias("cluster"), "cluster_size", "doc")
        first = dropped.select("cluster", "cluster_size").distinct()
        first = first.withColumn("doc", F.col("cluster")).withColumn("kept", F.lit(True))
        members = dropped.withColumn("kept", F.lit(False)).unionByName(first)
        labels = self.labels()
        names = labels.select(F.col("doc").alias("cluster"), F.col("id").alias("name"))
        joined = members.join(labels, "doc").join(names, "cluster")
        return joined.select(
            F.col("name").alias("cluster"), F.col("cluster_size").alias("size"), "id", "kept", "key"
        )

    def kept(self, frame: Any) -> Any:
        """The rows of the input that were not dropped."""
        gone = self.labels().join(self.dropped().select("doc"), "doc", "left_semi")
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
        dropped = self.dropped()
        kept_against = self.labels().where("reference").select(F.col("doc").alias("kept"))
        methods = dict(dropped.groupBy("method").count().collect())
        equal = [methods.pop(name, 0) for name in ("exact", "normalized")]
        sizes = dropped.select("kept", "cluster_size").distinct()
        clusters, largest = sizes.agg(F.count(F.lit(1)), F.max("cluster_size")).collect()[0]
        seen = sum(row["rows"] for row in own)
        skipped = seen - documents(USUAL, SHORT, EMPTY)
        gone = self.engine.rows("dropped")
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
