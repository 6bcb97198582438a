"""Results of a search for passages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from html import escape
from textwrap import fill
from typing import Any, Generic

from simtool_dedup import _simtool
from simtool_dedup._data import Rows
from simtool_dedup._html import Side, shown, sides
from simtool_dedup._kinds.base import mask_of
from simtool_dedup._simtool import PassageRows
from simtool_dedup._typing import Array, Data, Report

AROUND = 80
"""Bytes before and after a passage that are shown."""
SHOWN = 3
"""Passages in the representation for notebooks."""


class Passage:
    """A passage of a row, and the text that it repeats.

    Attributes
    ----------
    text : str
        The passage.
    before, after : str
        Some text around it.
    kept : str or None
        The kept text that it repeats; ``None`` if the search does not store it, as
        :func:`lines`, or if no copy is kept.
    ids : tuple
        The ids of the row and of the row that has the kept text.
    count : int
        The number of occurrences, or of runs of words that an item of the reference has.
    roles : tuple of str
        What the count means, and what the kept text is.
    """

    def __init__(
        self,
        text: bytes,
        place: tuple[int, int],
        kept: bytes | None,
        ids: tuple[Any, Any],
        count: int,
        roles: tuple[str, str] = ("occurs {} times", "kept: has the same"),
    ) -> None:
        start, end = place
        self.text = text[start:end].decode(errors="replace")
        self.before = text[max(start - AROUND, 0) : start].decode(errors="ignore")
        self.after = text[end : end + AROUND].decode(errors="ignore")
        self.kept = None if kept is None else kept.decode(errors="replace")
        self.ids = ids
        self.count = count
        self.roles = roles[0].format(f"{count:,}"), roles[1]

    def __repr__(self) -> str:
        """The passage with what is around it, and the kept text."""
        shown = f"{self.before}[{self.text}]{self.after}"
        parts = [f"{self.ids[0]}  {self.roles[0]}", fill(shown, 100)]
        if self.kept is not None:
            parts += [f"{self.ids[1]}  {self.roles[1]}", fill(self.kept, 100)]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        """The same for notebooks. All text is escaped."""
        text = f"{escape(self.before)}<mark>{escape(self.text)}</mark>{escape(self.after)}"
        texts = [Side(str(self.ids[0]), self.roles[0], text)]
        if self.kept is not None:
            texts.append(Side(str(self.ids[1]), self.roles[1], escape(self.kept)))
        return sides(*texts)


class PassageResult(Generic[Data, Report]):
    """The result of :func:`lines`, :func:`spans` and :func:`decontaminate` for rows.

    Tables are of the kind of the data, as those of :class:`RowsResult`.

    Attributes
    ----------
    kept
        The data without the rows that the action drops, with the texts that it changed. The other
        columns, and all rows without a passage, are as they were.
    ranges
        A row for each range of text that the action concerns, in order: ``id``, ``row``,
        ``char_start`` and ``char_end`` (``text[char_start:char_end]`` of a ``str``), ``text_start``
        and ``text_end`` (bytes of UTF-8), ``copies`` (occurrences), ``why`` (``repeated``,
        ``against``, ``listed`` or ``edited``), and of :func:`spans` also ``words``, ``kept`` and ``kept_row`` (id
        and number of the row with the text that it repeats, of ``against`` if ``why`` says so),
        ``kept_char_start``, ``kept_char_end``, ``kept_text_start`` and ``kept_text_end``. Of
        :func:`decontaminate`, ``ngrams`` is in the place of ``copies``, and names with ``item`` are in
        the place of those with ``kept``. Of an HTML page, places are those in its extracted text.
    items
        Of :func:`decontaminate`, a row for each item of the reference, by the ``share`` that was found:
        ``id``, ``row``, ``words``, ``ngrams`` (different runs of words), ``found`` and ``ignored`` ones,
        ``documents`` (texts that have one), ``too_short``, ``edited`` (whether the best text has an
        edited form of the item, so that runs are those of 5 words), and the text that has most:
        ``best``, ``best_row``, ``best_found``, ``best_text_start`` and ``best_text_end``.
    repeated
        Of the others, the most frequent passages: ``text`` (the first 4096 bytes, and ``shortened``), ``count``,
        ``removed``, ``documents``, ``sites``, ``bytes`` and their ``share``, ``id`` and ``row`` of the
        first occurrence.
    mask : numpy.ndarray of bool
        For each row, whether it is kept; a list without NumPy.
    skipped
        Rows that were not read: ``id``, ``row``, ``reason``, ``detail``.
    summary : dict
        The counts and settings of ``summary.json`` of the command.
    """

    def __init__(
        self, rows: Rows, against: Rows | None, found: PassageRows, summary: Mapping[str, Any]
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
        """The data with changed texts, without dropped rows."""
        found: Data = self._rows.changed(self._found)
        return found

    @cached_property
    def ranges(self) -> Report:
        """A row for each range of text that the action concerns."""
        table = self._found.ranges()
        name = "item" if self._has_items else "kept"
        sides = {"id": bytes(len(table)), name: self._found.are_against("ranges", name)}
        found: Report = self._rows.report(table, sides, self._against)
        return found

    @property
    def _has_items(self) -> bool:
        return bool(self.summary["settings"]["command"] == "decontaminate")

    @cached_property
    def items(self) -> Report:
        """The items of the reference."""
        if not self._has_items:
            raise AttributeError("items: only decontaminate has items of a reference")
        names = ("id", "best")
        sides = {name: self._found.are_against("listed", name) for name in names}
        found: Report = self._rows.report(self._found.listed(), sides, self._against)
        return found

    @cached_property
    def repeated(self) -> Report:
        """The most frequent passages."""
        if self._has_items:
            raise AttributeError("repeated: decontaminate has items and ranges")
        sides = {"id": self._found.are_against("listed", "id")}
        found: Report = self._rows.report(self._found.listed(), sides, self._against)
        return found

    @cached_property
    def mask(self) -> Array:
        """For each row, whether it is kept."""
        found: Array = mask_of(self._found.mask())
        return found

    @cached_property
    def skipped(self) -> Report:
        """Rows that were not read."""
        table = self._found.skipped()
        found: Report = self._rows.report(table, {"id": bytes(len(table))})
        return found

    def _origin(self, number: int) -> Rows:
        """The rows that have the text which a range repeats."""
        is_against = self._found.range(number)["is_against"]
        return self._against if is_against and self._against is not None else self._rows

    def explain(self, number: int) -> Passage:
        """Show a range, what is around it, and the text that it repeats or has of an item.

        Parameters
        ----------
        number : int
            The position in :attr:`ranges`.

        Returns
        -------
        Passage
            Both texts.

        Raises
        ------
        IndexError
            If there is no such range.
        """
        if number < 0:
            number += self._found.counts()[0]
        if number < 0:
            raise IndexError("there is no such range")
        found = self._found.range(number)
        kept, kept_id = None, None
        if found["kept_row"] is not None:
            origin = self._origin(number)
            start, end = found["kept_bytes"]
            kept = self._page_text(origin, found["kept_row"])[start:end]
            kept_id = origin.id_of(found["kept_row"])
        text = self._page_text(self._rows, found["row"])
        ids = self._rows.id_of(found["row"]), kept_id
        roles = [("has {} runs of words of an item", "the item")] if self._has_items else []
        return Passage(text, found["bytes"], kept, ids, found["count"], *roles)

    def _page_text(self, rows: Rows, row: int) -> bytes:
        html = self.summary["settings"]["reading"]["html"]
        return _simtool.page_text(rows.text_of(row), html)

    def _counts(self) -> list[tuple[str, int]]:
        ranges, changed, dropped, skipped = self._found.counts()
        return [
            ("rows", len(self._rows)),
            ("ranges", ranges),
            ("rows with ranges", changed),
            ("dropped", dropped),
            ("skipped", skipped),
        ]

    def __repr__(self) -> str:
        """The counts in one line."""
        counts = ", ".join(f"{count:_} {name}" for name, count in self._counts())
        return f"PassageResult({counts})"

    def _repr_html_(self) -> str:
        """The counts and the first passages, for notebooks. All text is escaped."""
        numbers = range(min(self._found.counts()[0], SHOWN))
        return shown(self._counts(), [self.explain(number) for number in numbers], "The first passages:")
