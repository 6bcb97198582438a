"""Steps of a datatrove pipeline.

>>> from datatrove.data import Document
>>> from simtool_dedup.datatrove import Fingerprint
>>> [document] = Fingerprint().run(iter([Document("A cat sat on the mat", "a")]))
>>> document.metadata
{'simhash': 14038892667993851434}
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import islice
from typing import Any

from datatrove.data import Document
from datatrove.pipeline.base import PipelineStep
from datatrove.utils.logging import logger
from datatrove.utils.typeshelper import StatHints

from simtool_dedup._dedup import dedup
from simtool_dedup._fingerprints import fingerprint
from simtool_dedup._options import FileOptions
from simtool_dedup.client import SeenClient

__all__ = ["Dedup", "Fingerprint", "Seen"]

BATCH = 1024
"""Documents whose fingerprints are computed at a time."""


class Dedup(PipelineStep):  # type: ignore[misc]
    """Remove near-duplicates from the files that earlier tasks wrote, as :func:`simtool_dedup.dedup`.

    It runs in one task, with all processors of its machine and in bounded memory. Any number of tasks
    write the files before, and read ``kept`` of its output after it. In one pipeline with a single task, it
    reads all documents of the steps before it, so that they are written, and passes none on.

    Parameters
    ----------
    paths : path, pattern or list of path objects
        The files, in the order of which the first copy is kept.
    files : simtool_dedup.FileOptions
        The directory of the output, in which an interrupted task resumes, and what is written, such as
        ``FileOptions("out", write="kept")``.
    **options
        Further parameters of :func:`simtool_dedup.dedup`. In the files of datatrove's writers, fields of
        the metadata are named ``metadata.NAME``.
    """

    name = "simtool"
    type = "🫂 - DEDUPS"

    def __init__(self, paths: Any, files: FileOptions, **options: Any) -> None:
        super().__init__()
        self.paths = paths
        self.files = files
        self.options = options

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> None:
        """Deduplicate the files. The statistics count their documents.

        Raises
        ------
        ValueError
            For more than one task, and for settings as :func:`simtool_dedup.dedup`.
        OSError, Error
            As :func:`simtool_dedup.dedup`.
        """
        if world_size > 1:
            raise ValueError(
                f"Dedup: one task compares the documents of all files, and this executor has {world_size}; "
                "give Dedup an executor of its own with tasks=1, which depends on the one that writes"
            )
        deque(data or (), maxlen=0)
        with self.track_time():
            summary = dedup(self.paths, files=self.files, **self.options).summary
        for label, count in (
            (StatHints.total, "seen"),
            (StatHints.forwarded, "kept"),
            (StatHints.dropped, "dropped"),
            ("skipped", "skipped"),
        ):
            self.stat_update(label, value=summary[count])


class Seen(PipelineStep):  # type: ignore[misc]
    """Drop documents whose text a service ``simtool serve`` has seen, and add the others.

    It runs in any number of tasks and streams: a task has one batch in memory. The first copy that
    reaches the service is kept, so which one that is depends on the order of the tasks. A task that is
    repeated gets the same answers, if ids differ.

    Parameters
    ----------
    url : str, default "http://127.0.0.1:8750"
        The address of the service.
    token : str, optional
        Its token.
    exclusion_writer : datatrove.pipeline.writers.disk_base.DiskWriter, optional
        Writes the dropped documents, with ``duplicate_of`` (the id of the kept document) and
        ``similarity`` in their metadata.
    **settings
        Further parameters of :class:`simtool_dedup.client.SeenClient`.
    """

    name = "simtool seen"
    type = "🫂 - DEDUPS"

    def __init__(
        self,
        url: str = "http://127.0.0.1:8750",
        token: str | None = None,
        exclusion_writer: Any = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        self.settings = {"url": url, "token": token, **settings}
        self.exclusion_writer = exclusion_writer

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """Yield new documents, in their order, and those that the service refused, with a warning.

        Raises
        ------
        SeenError
            If the service cannot be reached or refuses a request.
        """
        sent: deque[Document] = deque()

        def requests() -> Iterator[dict[str, Any]]:
            for document in data or ():
                sent.append(document)
                yield {"id": document.id, "text": document.text, "limit": 1}

        with SeenClient(**self.settings) as client, self.exclusion_writer or nullcontext() as writer:
            for answer in client.add(requests()):
                document = sent.popleft()
                self.stat_update(StatHints.total)
                if "problem" in answer:
                    logger.warning(f"{document.id} is not compared: {answer['problem']['detail']}")
                    self.stat_update("failed")
                elif not answer["kept"]:
                    self.stat_update(StatHints.dropped)
                    if writer is not None:
                        [match] = answer["matches"]
                        document.metadata["duplicate_of"] = match["id"]
                        document.metadata["similarity"] = match["similarity"]
                        writer.write(document, rank)
                    continue
                self.stat_update(StatHints.forwarded)
                self.update_doc_stats(document)
                yield document


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
