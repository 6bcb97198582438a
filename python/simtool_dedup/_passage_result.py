"""Results of a search for passages."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from html import escape
from textwrap import fill
from typing import Any, Literal

from simtool_dedup import _simtool
from simtool_dedup._data import Rows, mask_of
from simtool_dedup._run import FileRun, files_of, local
from simtool_dedup._simtool import PassageRows, Table

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
        The text that stays and that it repeats; ``None`` if the search does not store it, as
        :func:`lines`, or if no copy stays.
    ids : tuple
        The ids of the row and of the row that has the kept text.
    count : int
        The number of occurrences, or of runs of words that an item of the reference has.
    """

    def __init__(
        self,
        text: bytes,
        place: tuple[int, int],
        kept: bytes | None,
        ids: tuple[Any, Any],
        count: int,
    ) -> None:
        start, end = place
        self.text = text[start:end].decode(errors="replace")
        self.before = text[max(start - AROUND, 0) : start].decode(errors="ignore")
        self.after = text[end : end + AROUND].decode(errors="ignore")
        self.kept = None if kept is None else kept.decode(errors="replace")
        self.ids = ids
        self.count = count

    def __repr__(self) -> str:
        """The passage with what is around it, and the text that stays."""
        shown = f"{self.before}[{self.text}]{self.after}"
        parts = [f"{self.ids[0]} (count {self.count})", fill(shown, 100)]
        if self.kept is not None:
            parts += [f"repeats {self.ids[1]}", fill(self.kept, 100)]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        """The same for notebooks. All text is escaped."""
        text = f"{escape(self.before)}<mark>{escape(self.text)}</mark>{escape(self.after)}"
        cells = f"<td style='vertical-align:top;text-align:left'>{text}</td>"
        heads = f"<th style='text-align:left'>{escape(str(self.ids[0]))}</th>"
        if self.kept is not None:
            cells += f"<td style='vertical-align:top;text-align:left'>{escape(self.kept)}</td>"
            heads += f"<th style='text-align:left'>{escape(str(self.ids[1]))}</th>"
        return (
            f"<p>count {self.count:,}</p><table style='width:100%;table-layout:fixed;"
            f"white-space:pre-wrap'><tr>{heads}</tr><tr>{cells}</tr></table>"
        )


class PassageResult:
    """The result of :func:`lines`, :func:`spans` and :func:`decontaminate` for rows.

    Tables have the type of the data that came in, as those of :class:`Result`.

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
        For each row, whether it stays; a list without NumPy.
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

    @property
    def kept(self) -> Any:
        """The data with changed texts, without dropped rows."""
        return self._rows.changed(self._found)

    @property
    def ranges(self) -> Any:
        """A row for each range of text that the action concerns."""
        found = self._rows.back(self._found.ranges())
        if isinstance(found, list):
            name = "item" if self._has_items else "kept"
            for number, row in enumerate(found):
                row["id"] = self._rows.id_of(row["row"])
                if row[name + "_row"] is not None:
                    row[name] = self._origin(number).id_of(row[name + "_row"])
        return found

    @property
    def _has_items(self) -> bool:
        return bool(self.summary["settings"]["command"] == "decontaminate")

    @property
    def items(self) -> Any:
        """The items of the reference."""
        if not self._has_items:
            raise AttributeError("items: only decontaminate has items of a reference")
        found = self._rows.back(self._found.listed())
        if isinstance(found, list) and self._against is not None:
            for row in found:
                row["id"] = self._against.id_of(row["row"])
                if row["best_row"] is not None:
                    row["best"] = self._rows.id_of(row["best_row"])
        return found

    @property
    def repeated(self) -> Any:
        """The most frequent passages."""
        if self._has_items:
            raise AttributeError("repeated: decontaminate has items and ranges")
        return self._rows.back(self._found.listed())

    @property
    def mask(self) -> Any:
        """For each row, whether it stays."""
        return mask_of(self._found.mask())

    @property
    def skipped(self) -> Any:
        """Rows that were not read."""
        found = self._rows.back(self._found.skipped())
        if isinstance(found, list):
            for row in found:
                row["id"] = self._rows.id_of(row["row"])
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
        return Passage(text, found["bytes"], kept, ids, found["count"])

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
        names = "".join(f"<th>{name}</th>" for name, _ in self._counts())
        counts = "".join(f"<td>{count:,}</td>" for _, count in self._counts())
        html = f"<table><tr>{names}</tr><tr>{counts}</tr></table>"
        for number in range(min(self._found.counts()[0], SHOWN)):
            html += self.explain(number)._repr_html_()
        return html


class PassageFiles:
    """The result of :func:`lines`, :func:`spans` and :func:`decontaminate` for files.

    Attributes
    ----------
    output : pathlib.Path, str or None
        The directory with all files that the command writes, a ``str`` in an object store; ``None`` if
        it was temporary.
    kept : list of pathlib.Path
        The inputs as the action wrote them, or the shards of the documents, in their order.
    ranges, repeated, items, skipped : Table
        The reports, read when they are asked for: ``ranges`` has a row for each range of
        ``spans.jsonl``, with ``text_start`` and ``text_end`` in bytes of the text, ``repeated`` has the
        most frequent passages, and ``items`` those of the reference of :func:`decontaminate`.
    summary : dict
        The contents of ``summary.json``.
    """

    def __init__(self, run: FileRun, command: str) -> None:
        self._directory = run.output
        self._command = command
        if run.temporary is not None:
            weakref.finalize(self, run.temporary.cleanup)
        self.output = run.output if run.temporary is None else None
        self.summary: dict[str, Any] = dict(run.summary)

    @property
    def kept(self) -> list[Any]:
        """The inputs as the action wrote them, or the shards."""
        action = str(self.summary["settings"]["action"])
        name = {"cut": "cut", "mask": "masked", "mark": None}.get(action, "kept")
        if name is None:
            raise ValueError("kept: the files were not written (action='cut', for example)")
        written = self.summary["written"]
        return files_of(self._directory, name, written and written[name])

    @property
    def ranges(self) -> Table:
        """The ranges that the action concerns."""
        return self._report("ranges")

    @property
    def items(self) -> Table:
        """The items of the reference."""
        if self._command != "decontaminate":
            raise AttributeError("items: only decontaminate has items of a reference")
        return self._report("list")

    @property
    def repeated(self) -> Table:
        """The most frequent passages."""
        if self._command == "decontaminate":
            raise AttributeError("repeated: decontaminate has items and ranges")
        return self._report("list")

    @property
    def skipped(self) -> Table:
        """The documents that could not be read."""
        return self._report("skipped")

    def _report(self, name: Literal["ranges", "list", "skipped"]) -> Table:
        return _simtool.read_report(local(self._directory, name), self._command, name)

    def __repr__(self) -> str:
        """The counts in one line."""
        documents = self.summary
        counts = ", ".join(f"{documents[name]:_} {name}" for name in ("seen", "kept", "dropped"))
        where = "" if self.output is None else f", in {str(self.output)!r}"
        return f"PassageFiles({counts}{where})"
