"""Steps of a datatrove pipeline.

>>> from datatrove.data import Document
>>> from simtool_dedup.datatrove import Dedup
>>> text = "A cat sat on the mat while a dog slept in the sun behind the house"
>>> documents = [Document(text, "a"), Document("Something else", "b"), Document(text.upper(), "c")]
>>> [document.id for document in Dedup().run(iter(documents))]
['a', 'b']
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from itertools import islice
from typing import Any

from datatrove.data import Document
from datatrove.pipeline.base import PipelineStep
from datatrove.utils.typeshelper import StatHints

from simtool_dedup._dedup import dedup
from simtool_dedup._fingerprints import fingerprint

__all__ = ["Dedup", "Fingerprint"]

BATCH = 1024
"""Documents whose fingerprints are computed at a time."""


class Dedup(PipelineStep):  # type: ignore[misc]
    """Drop near-duplicates among all documents of the pipeline.

    All documents are in memory at once, so it runs in one task: the tasks of an executor do not see
    each other's documents. Files of any size are for :func:`simtool_dedup.dedup` of paths.

    Parameters
    ----------
    exclusion_writer : datatrove.pipeline.writers.disk_base.DiskWriter, optional
        Writes the dropped documents, with ``duplicate_of`` (the id of the document that stays) and
        ``similarity`` in their metadata.
    **options
        Parameters of :func:`simtool_dedup.dedup` for rows. ``url``, ``date`` and fields are those of
        the metadata.
    """

    name = "simtool"
    type = "🫂 - DEDUPS"

    def __init__(self, exclusion_writer: Any = None, **options: Any) -> None:
        super().__init__()
        self.exclusion_writer = exclusion_writer
        self.options = options

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """Yield the documents that stay, in their order.

        Raises
        ------
        ValueError
            For more than one task, and for settings as :func:`simtool_dedup.dedup`.
        """
        if world_size > 1:
            raise ValueError(
                f"Dedup: {world_size} tasks do not see each other's documents; run it with tasks=1, or "
                "call simtool_dedup.dedup with the paths of all files"
            )
        documents = list(data or ())
        rows = [{**item.metadata, "text": item.text, "id": item.id} for item in documents]
        with self.track_time("run"):
            pairs = dedup(rows, **self.options).duplicates
        dropped = {pair["row"]: pair for pair in pairs}
        with self.exclusion_writer or nullcontext() as writer:
            for row, document in enumerate(documents):
                self.stat_update(StatHints.total)
                pair = dropped.get(row)
                if pair is None:
                    self.stat_update(StatHints.forwarded)
                    self.update_doc_stats(document)
                    yield document
                    continue
                self.stat_update(StatHints.dropped)
                if writer is not None:
                    document.metadata["duplicate_of"] = pair["kept"]
                    document.metadata["similarity"] = pair["similarity"]
                    writer.write(document, rank)


class Fingerprint(PipelineStep):  # type: ignore[misc]
    """Write the sketch of each document into its metadata, in any number of tasks.

    Parameters
    ----------
    key : str, default "simhash"
        The key in the metadata.
    **options
        Parameters of :func:`simtool_dedup.fingerprint`. A fingerprint of 32 or 64 bits is a number,
        another sketch is a hexadecimal text.
    """

    name = "simtool fingerprint"
    type = "🫂 - DEDUPS"

    def __init__(self, key: str = "simhash", **options: Any) -> None:
        super().__init__()
        self.key = key
        self.options = options

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """Yield all documents."""
        rest = iter(data or ())
        while documents := list(islice(rest, BATCH)):
            with self.track_time("batch"):
                sketches = fingerprint([item.text for item in documents], **self.options)
            for document, sketch in zip(documents, sketches):
                is_number = not hasattr(sketch, "__len__")
                document.metadata[self.key] = int(sketch) if is_number else bytes(sketch).hex()
                self.stat_update(StatHints.total, StatHints.forwarded)
                yield document
