"""Results of a deduplication of rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from numbers import Real
from typing import Any, Literal

from simtool_dedup import _simtool
from simtool_dedup._data import Rows
from simtool_dedup._explain import Explanation
from simtool_dedup._flags import whole
from simtool_dedup._html import shown
from simtool_dedup._kinds.base import mask_of
from simtool_dedup._result import SHOWN, Explanations, Result, explained, verification
from simtool_dedup._simtool import RowResult, Table
from simtool_dedup._typing import Array, Data, Report


class RowsResult(Result[Data, Report]):
    """The result of :func:`dedup` for rows of a frame or a list.

    Tables are of the kind of the data: frames of polars, pandas or Daft, tables of pyarrow, relations of
    DuckDB, a ``datasets.Dataset``; for lists, tuples and arrays of NumPy, lists of dictionaries; for
    other objects with the Arrow PyCapsule interface, a :class:`Table`. Each is made at its first use and
    kept with the result. A result can be copied and pickled.

    Attributes
    ----------
    kept
        The data without its duplicates, in its order. Rows without a text are kept.
    duplicates
        A row for each duplicate, in the order of the data: ``id``, ``kept`` (the id of the row that
        stays), ``similarity`` (exact), ``shared`` and ``shingles`` (the numbers of shingles in both
        texts and in at least one; null if all words are the same), ``cluster``, ``cluster_size``,
        ``cluster_sites`` (the number of different hosts of the URLs of the cluster; only if the data
        has URLs), ``method``, ``distance``, ``estimate``, ``row`` and ``kept_row``. They are the
        values of ``duplicates.jsonl`` of the command. Without a column of ids, ids are the labels of an
        index of pandas, else the numbers of the rows.
    clusters
        A row for each member of a cluster: ``cluster``, ``size``, ``sites`` (only if the data has
        URLs), ``id``, ``row``, and whether it is ``kept``.
    mask : numpy.ndarray of bool
        For each row, whether it is kept; a list without NumPy.
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

    def __getstate__(self) -> dict[str, Any]:
        """What the tables are made of."""
        return {name: self.__dict__[name] for name in ("_rows", "_against", "_found", "summary")}

    @cached_property
    def kept(self) -> Data:
        """The data without its duplicates, in its order."""
        found: Data = self._rows.kept(self._found.mask())
        return found

    @cached_property
    def duplicates(self) -> Report:
        """A row for each duplicate."""
        found: Report = self._pairs(self._found.duplicates(), "duplicates")
        return found

    def _pairs(self, table: Table, name: Literal["duplicates", "refused"]) -> Any:
        sides = {"id": bytes(len(table)), "kept": self._found.are_against(name)}
        return self._rows.report(table, sides, self._against)

    @cached_property
    def clusters(self) -> Report:
        """A row for each member of a cluster."""
        members = {"id": self._found.are_against("clusters")}
        found: Report = self._rows.report(self._found.clusters(), members, self._against)
        return found

    @cached_property
    def mask(self) -> Array:
        """For each row, whether it is kept."""
        found: Array = mask_of(self._found.mask())
        return found

    @cached_property
    def refused(self) -> Report | None:
        """Pairs that were proposed and refused; ``None`` unless they were asked for."""
        table = self._found.refused()
        return None if table is None else self._pairs(table, "refused")

    @cached_property
    def skipped(self) -> Report:
        """Rows that were not read."""
        table = self._found.skipped()
        found: Report = self._rows.report(table, {"id": bytes(len(table))})
        return found

    def explain(self, number: int) -> Explanation:
        """Show why a row is a duplicate.

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
            If no text is kept: the row repeats a document of an index, or no copy is kept.
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
        return explained(a, b, self.summary, ids, pair["method"])

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

    def at(self, similarity: float) -> RowsResult[Data, Report]:
        """Apply a stricter threshold without another run.

        Duplicates of at least this similarity to the kept row remain duplicates, the others
        are kept. Every duplicate of the new result was compared with the very row that is kept (with
        ``keep="none"``, with the first row of its cluster, which is removed if any other is). A run with
        this threshold can find further pairs: rows that are kept now are not compared with each other.

        Parameters
        ----------
        similarity : float
            Least similarity, not below that of the run.

        Returns
        -------
        RowsResult
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
        return RowsResult(self._rows, self._against, self._found.at(similarity), self.summary)

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

    def _repr_html_(self) -> str:
        """The counts and the least similar duplicates, for notebooks. All text is escaped."""
        return shown(self._counts(), self.least_similar(SHOWN))


def reason_for_another_run(settings: Mapping[str, Any]) -> str | None:
    """Why the result of a stricter threshold does not follow from that of a run, if it does not."""
    if settings["keep_copies"] > 1:
        return "with keep_copies, which copies are kept depends on the threshold"
    if settings["min_sources"] > 1:
        return "with min_sources, which clusters are kept depends on the threshold"
    if settings["clusters"] != "star":
        return "with cluster='components', rows are connected by pairs that are not listed"
    if "url" in str(settings["method"]).split():
        return "with the method url, copies of one URL have no similarity"
    return None
