"""Results of a deduplication of files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from simtool_dedup import _simtool
from simtool_dedup._explain import Explanation
from simtool_dedup._flags import whole
from simtool_dedup._html import shown
from simtool_dedup._result import SHOWN, Explanations, Result, explained, verification
from simtool_dedup._run import FileRun, files_of, local
from simtool_dedup._simtool import Table


class FileResult(Result[list[Any], Table]):
    """The result of :func:`dedup` for files.

    Attributes
    ----------
    output : pathlib.Path, str or None
        The directory with all files that the command writes, a ``str`` in an object store; ``None`` if
        it was temporary.
    kept : list of pathlib.Path or str
        The files without duplicates, with ``write="kept"``, ``"annotated"`` or ``"text"``. Shards are
        in their order; in an object store, they are ``str``.
    removed : list of pathlib.Path or str
        The files of duplicates, with ``write="removed"`` or ``("kept", "removed")``.
    duplicates, clusters, skipped : Table
        The reports, read when they are asked for. ``duplicates`` has the columns of
        ``duplicates.jsonl``; ``clusters`` has a row for each member.
    refused : Table or None
        Pairs that were proposed and refused, if they were asked for.
    summary : dict
        The contents of ``summary.json``.
    """

    def __init__(self, run: FileRun) -> None:
        self._directory = run.output
        self._temporary = run.temporary
        self.output = run.output if run.temporary is None else None
        self.summary: dict[str, Any] = dict(run.summary)

    @cached_property
    def kept(self) -> list[Any]:
        """The files without duplicates."""
        written = self.summary["settings"]["write"]
        if written not in ("kept", "annotated", "text"):
            message = "kept: the files were not written (write='kept', 'annotated' or 'text')"
            raise ValueError(message)
        return self._files(written)

    @cached_property
    def removed(self) -> list[Any]:
        """The files of duplicates."""
        if not self.summary["settings"]["removed"]:
            raise ValueError("removed: the files were not written (write='removed')")
        return self._files("removed")

    def _files(self, directory: str) -> list[Any]:
        written = self.summary["written"] or {}
        return files_of(self._directory, directory, written.get(directory))

    def _report(self, name: Literal["duplicates", "refused", "clusters", "skipped"]) -> Table:
        return _simtool.read_report(local(self._directory, name), "dedup", name)

    @cached_property
    def duplicates(self) -> Table:
        """The list of pairs."""
        return self._report("duplicates")

    @cached_property
    def clusters(self) -> Table:
        """The members of all clusters."""
        return self._report("clusters")

    @cached_property
    def skipped(self) -> Table:
        """The documents that could not be read."""
        return self._report("skipped")

    @cached_property
    def refused(self) -> Table | None:
        """Pairs that were proposed and refused; ``None`` unless they were asked for."""
        if not self.summary["settings"]["refused"]:
            return None
        return self._report("refused")

    @property
    def mask(self) -> Any:
        """Not for files, whose documents have no numbers.

        Raises
        ------
        AttributeError
            Always; it names the alternatives.
        """
        raise AttributeError(
            "mask: the documents of files have no row numbers; write='kept' writes the files without "
            "duplicates, write='ids' the ids of kept documents, and duplicates has those of the others"
        )

    def at(self, similarity: float) -> FileResult:
        """Not for files, which were written with the threshold of the run.

        Raises
        ------
        ValueError
            Always; it names the alternatives.
        """
        least, _ = verification(self.summary)
        raise ValueError(
            f"at: the files were written with similarity {least}; call dedup again with similarity="
            f"{similarity} and another output, or filter duplicates by its column similarity"
        )

    def explain(self, number: int) -> Explanation:
        """Show why a document is a duplicate; reads both again.

        Parameters
        ----------
        number : int
            The position in :attr:`duplicates`.

        Returns
        -------
        Explanation
            The kept text and the duplicate, side by side.

        Raises
        ------
        IndexError
            If there is no such duplicate.
        ValueError
            If no text is kept: the document repeats one of an index, or no copy is kept.
        OSError
            If a file cannot be read.
        """
        return self._explained(self.duplicates, number)

    def _explained(self, duplicates: Table, number: int) -> Explanation:
        count = len(duplicates)
        if not -count <= number < count:
            raise IndexError("there is no such duplicate")
        pair = duplicates.take([number % count]).to_pylist()[0]
        if pair["kept_file"] is None:
            raise ValueError("the text that it repeats is not in a file")
        texts = [self._text(pair, before) for before in ("kept_", "")]
        ids = pair["kept"], pair["id"]
        return explained(texts[0], texts[1], self.summary, ids, pair["method"])

    def _text(self, pair: Mapping[str, Any], before: str) -> bytes:
        file, member, start = (pair[before + name] for name in ("file", "member", "start"))
        reading = self.summary["settings"]["reading"]
        text, html, form = (reading[name] for name in ("text_field", "html", "format"))
        return _simtool.text_at(file, member, start, text, html, form)

    def least_similar(self, count: int = 5) -> Explanations:
        """Show the most doubtful duplicates: those with the lowest similarities.

        Parameters
        ----------
        count : int, default 5
            The number of pairs.

        Returns
        -------
        Explanations
            A list of :class:`Explanation`, the least similar first.
        """
        duplicates = self.duplicates
        similarities = duplicates.column("similarity")
        files = duplicates.column("kept_file")
        known = [
            (similarity, number)
            for number, similarity in enumerate(similarities)
            if similarity is not None and files[number] is not None
        ]
        least = sorted(known)[: whole("count", count)]
        return Explanations(self._explained(duplicates, number) for _, number in least)

    def __repr__(self) -> str:
        """The counts in one line, and the directory."""
        where = "" if self.output is None else f", in {str(self.output)!r}"
        return super().__repr__()[:-1] + where + ")"

    def _repr_html_(self) -> str:
        """The counts and the least similar duplicates, for notebooks. All text is escaped."""
        is_remote = isinstance(self._directory, str)
        return shown(self._counts(), Explanations() if is_remote else self.least_similar(SHOWN))
