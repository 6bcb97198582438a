"""Results of a deduplication."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from html import escape
from itertools import repeat
from numbers import Real
from typing import Any, Literal

from simtool_dedup import _simtool
from simtool_dedup._data import Rows, mask_of
from simtool_dedup._explain import Explanation
from simtool_dedup._flags import whole
from simtool_dedup._run import FileRun, files_of, local
from simtool_dedup._simtool import RowResult, Table

SHOWN = 3
"""Pairs in the representation for notebooks."""


def verification(summary: Mapping[str, Any]) -> tuple[float, int]:
    """The least similarity and the words of a shingle of a run; those by default without them."""
    found = summary["settings"]["verification"] or {"similarity": (4, 5), "shingle": 5}
    part, whole = found["similarity"]
    return part / whole, found["shingle"]


def reason_for_another_run(settings: Mapping[str, Any]) -> str | None:
    """Why the result of a stricter threshold does not follow from that of a run, if it does not."""
    if settings["keep_copies"] > 1:
        return "with keep_copies, which copies stay depends on the threshold"
    if settings["min_sources"] > 1:
        return "with min_sources, which clusters stay depends on the threshold"
    if settings["clusters"] != "star":
        return "with cluster='components', rows are connected by pairs that are not listed"
    if "url" in str(settings["method"]).split():
        return "with the method url, copies of one URL have no similarity"
    return None


def explained(
    a: str | bytes, b: str | bytes, summary: Mapping[str, Any], ids: tuple[Any, Any]
) -> Explanation:
    """Two texts of a run."""
    similarity, shingle = verification(summary)
    tokenizer = summary["settings"]["tokenizer"]
    made = _simtool.explain(a, b, similarity, shingle, tokenizer_name=tokenizer)
    return Explanation(a, b, made, ids)


class Explanations(list[Explanation]):
    """Pairs of texts side by side."""

    def __repr__(self) -> str:
        """All pairs, one below the other."""
        return "\n\n".join(repr(pair) for pair in self)

    def _repr_html_(self) -> str:
        """All pairs with marked differences. All text is escaped."""
        return "<hr>".join(pair._repr_html_() for pair in self)


class Result:
    """The result of :func:`dedup` for rows of a frame or a list.

    Tables have the type of the data that came in: frames of polars or pandas, tables of pyarrow, a
    ``datasets.Dataset``; for a list, lists of dictionaries; for other objects with the Arrow
    PyCapsule interface, a :class:`Table`.

    Attributes
    ----------
    kept
        The data without its duplicates, in its order. Rows without a text stay.
    duplicates
        A row for each duplicate, in the order of the data: ``id``, ``kept`` (the id of the row that
        stays), ``similarity`` (exact), ``shared`` and ``shingles`` (the numbers of shingles in both
        texts and in at least one; null if all words are the same), ``cluster``, ``cluster_size``,
        ``cluster_sites`` (the number of different hosts of the URLs of the cluster; only if the data
        has URLs), ``method``, ``distance``, ``estimate``, ``row`` and ``kept_row``. They are the
        values of ``duplicates.jsonl`` of the command. Ids are numbers of rows if the data has none.
    clusters
        A row for each member of a cluster: ``cluster``, ``size``, ``sites`` (only if the data has
        URLs), ``id``, ``row``, and whether it is ``kept``.
    mask : numpy.ndarray of bool
        For each row, whether it stays; a list without NumPy.
    refused
        Pairs that were proposed and refused, with the columns of ``duplicates``, at most 20 for a
        row; ``None`` unless they were asked for.
    skipped
        Rows that were not read: ``id``, ``row``, ``reason``, ``detail``.
    summary : dict
        The counts and settings of ``summary.json`` of the command.
    """

    def __init__(
        self,
        rows: Rows,
        against: Rows | None,
        found: RowResult,
        summary: Mapping[str, Any],
    ) -> None:
        self._rows = rows
        self._against = against
        self._found = found
        self.summary: dict[str, Any] = dict(summary)

    def _named(self, row: int | None, is_against: bool) -> Any:
        """The id of a row of a list."""
        if row is None:
            return None
        rows = self._against if is_against and self._against is not None else self._rows
        return rows.id_of(row)

    def _pairs(self, table: Table, name: Literal["duplicates", "refused"]) -> Any:
        """A list of pairs; for a list, with the ids of its rows."""
        found = self._rows.back(table)
        if isinstance(found, list):
            for row, is_against in zip(found, self._found.are_against(name)):
                row["id"] = self._named(row["row"], False)
                if row["kept_row"] is not None:
                    row["kept"] = self._named(row["kept_row"], is_against != 0)
        return found

    def _documents(self, table: Table, are_against: Iterable[int]) -> Any:
        """A list of documents; for a list, with the ids of its rows."""
        found = self._rows.back(table)
        if isinstance(found, list):
            for row, is_against in zip(found, are_against):
                if row["row"] is not None:
                    row["id"] = self._named(row["row"], is_against != 0)
        return found

    @property
    def kept(self) -> Any:
        """The data without its duplicates, in its order."""
        return self._rows.kept(self._found.mask())

    @property
    def duplicates(self) -> Any:
        """A row for each duplicate."""
        return self._pairs(self._found.duplicates(), "duplicates")

    @property
    def clusters(self) -> Any:
        """A row for each member of a cluster."""
        return self._documents(self._found.clusters(), self._found.are_against("clusters"))

    @property
    def mask(self) -> Any:
        """For each row, whether it stays."""
        return mask_of(self._found.mask())

    @property
    def refused(self) -> Any:
        """Pairs that were proposed and refused; ``None`` unless they were asked for."""
        table = self._found.refused()
        return None if table is None else self._pairs(table, "refused")

    @property
    def skipped(self) -> Any:
        """Rows that were not read."""
        return self._documents(self._found.skipped(), repeat(0))

    def explain(self, number: int) -> Explanation:
        """Show why a row is a duplicate.

        Parameters
        ----------
        number : int
            The position in :attr:`duplicates`.

        Returns
        -------
        Explanation
            The text that stays and the duplicate, side by side.

        Raises
        ------
        IndexError
            If there is no such duplicate.
        ValueError
            If no text stays: the row repeats a document of an index, or no copy is kept.
        """
        if number < 0:
            number += self._found.counts()[0]
        if number < 0:
            raise IndexError("there is no such duplicate")
        pair = self._found.pair(number)
        if pair["kept_row"] is None:
            raise ValueError("the text that it repeats is not in the data")
        others = self._against if pair["is_against"] and self._against else self._rows
        html = self.summary["settings"]["reading"]["html"]
        texts = others.text_of(pair["kept_row"]), self._rows.text_of(pair["row"])
        a, b = (_simtool.page_text(text, html) for text in texts)
        ids = others.id_of(pair["kept_row"]), self._rows.id_of(pair["row"])
        return explained(a, b, self.summary, ids)

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
        numbers = self._found.least_similar(whole("count", count))
        return Explanations(
            self.explain(number)
            for number in numbers
            if self._found.pair(number)["kept_row"] is not None
        )

    def at(self, similarity: float) -> Result:
        """Apply a stricter threshold without another run.

        Duplicates of at least this similarity to the row that stays remain duplicates, the others
        stay. Every duplicate of the new result was compared with the very row that stays (with
        ``keep="none"``, with the first row of its cluster, which goes if any other does). A run with
        this threshold can find further pairs: rows that stay now are not compared with each other.

        Parameters
        ----------
        similarity : float
            Least similarity, not below that of the run.

        Returns
        -------
        Result
            The same data with fewer duplicates; :attr:`summary` is that of the run.

        Raises
        ------
        ValueError
            For a lower threshold than that of the run, and for runs with ``keep_copies``,
            ``cluster="components"`` or the method ``url``, after which only another run can tell.
        """
        if not isinstance(similarity, Real):
            raise TypeError(f"at: expected a number, found {type(similarity).__name__}")
        why = reason_for_another_run(self.summary["settings"])
        if why is not None:
            raise ValueError(f"at: {why}; call dedup again with similarity={similarity}")
        least, _ = verification(self.summary)
        if not least <= similarity <= 1:
            raise ValueError(
                f"at: similarity {similarity}: expected {least}, that of the run, to 1; for a lower "
                f"one, call dedup again"
            )
        return Result(self._rows, self._against, self._found.at(similarity), self.summary)

    def _counts(self) -> list[tuple[str, int]]:
        duplicates, clusters, skipped = self._found.counts()
        rows = len(self._rows)
        return [
            ("rows", rows),
            ("kept", rows - duplicates),
            ("duplicates", duplicates),
            ("clusters", clusters),
            ("skipped", skipped),
        ]

    def __repr__(self) -> str:
        """The counts in one line."""
        return "Result(" + ", ".join(f"{count:_} {name}" for name, count in self._counts()) + ")"

    def _repr_html_(self) -> str:
        """The counts and the least similar duplicates, for notebooks. All text is escaped."""
        names = "".join(f"<th>{name}</th>" for name, _ in self._counts())
        counts = "".join(f"<td>{count:,}</td>" for _, count in self._counts())
        method = escape(str(self.summary.get("settings", {}).get("method", "")))
        html = f"<table><tr>{names}</tr><tr>{counts}</tr></table><p>method {method}</p>"
        shown = self.least_similar(SHOWN)
        if shown:
            html += "<p>The least similar duplicates:</p>" + shown._repr_html_()
        return html


class FileResult:
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
        if run.temporary is not None:
            weakref.finalize(self, run.temporary.cleanup)
        self.output = run.output if run.temporary is None else None
        self.summary: dict[str, Any] = dict(run.summary)

    @property
    def kept(self) -> list[Any]:
        """The files without duplicates."""
        written = self.summary["settings"]["write"]
        if written not in ("kept", "annotated", "text"):
            message = "kept: the files were not written (write='kept', 'annotated' or 'text')"
            raise ValueError(message)
        return self._files(written)

    @property
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

    @property
    def duplicates(self) -> Table:
        """The list of pairs."""
        return self._report("duplicates")

    @property
    def clusters(self) -> Table:
        """The members of all clusters."""
        return self._report("clusters")

    @property
    def skipped(self) -> Table:
        """The documents that could not be read."""
        return self._report("skipped")

    @property
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
            The text that stays and the duplicate, side by side.

        Raises
        ------
        IndexError
            If there is no such duplicate.
        ValueError
            If no text stays: the document repeats one of an index, or no copy is kept.
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
        return explained(texts[0], texts[1], self.summary, (pair["kept"], pair["id"]))

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
        """The counts in one line."""
        documents = self.summary
        counts = ", ".join(f"{documents[name]:_} {name}" for name in ("seen", "kept", "dropped"))
        where = "" if self.output is None else f", in {str(self.output)!r}"
        return f"FileResult({counts}{where})"

    def _repr_html_(self) -> str:
        """The counts and the least similar duplicates, for notebooks. All text is escaped."""
        documents = self.summary
        shown = [(name, documents[name]) for name in ("seen", "kept", "dropped", "skipped")]
        names = "".join(f"<th>{name}</th>" for name, _ in shown)
        counts = "".join(f"<td>{count:,}</td>" for _, count in shown)
        html = f"<table><tr>{names}</tr><tr>{counts}</tr></table>"
        if isinstance(self._directory, str):
            return html
        least = self.least_similar(SHOWN)
        if least:
            html += "<p>The least similar duplicates:</p>" + least._repr_html_()
        return html
