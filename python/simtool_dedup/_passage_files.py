"""Results of a search for passages in files."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

from simtool_dedup import _simtool
from simtool_dedup._run import FileRun, files_of, local
from simtool_dedup._simtool import Table


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
        self._temporary = run.temporary
        self.output = run.output if run.temporary is None else None
        self.summary: dict[str, Any] = dict(run.summary)

    @cached_property
    def kept(self) -> list[Any]:
        """The inputs as the action wrote them, or the shards."""
        action = str(self.summary["settings"]["action"])
        name = {"cut": "cut", "mask": "masked", "mark": None}.get(action, "kept")
        if name is None:
            raise ValueError("kept: the files were not written (action='cut', for example)")
        written = self.summary["written"]
        return files_of(self._directory, name, written and written[name])

    @cached_property
    def ranges(self) -> Table:
        """The ranges that the action concerns."""
        return self._report("ranges")

    @cached_property
    def items(self) -> Table:
        """The items of the reference."""
        if self._command != "decontaminate":
            raise AttributeError("items: only decontaminate has items of a reference")
        return self._report("list")

    @cached_property
    def repeated(self) -> Table:
        """The most frequent passages."""
        if self._command == "decontaminate":
            raise AttributeError("repeated: decontaminate has items and ranges")
        return self._report("list")

    @cached_property
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
