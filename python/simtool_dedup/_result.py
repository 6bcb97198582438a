"""Results of a deduplication: what those of rows, of files and of a cluster have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic

from simtool_dedup import _simtool
from simtool_dedup._explain import Explanation
from simtool_dedup._typing import Data, Report

WHY = {
    "first": "the first",
    "longest": "the longest",
    "most-shingles": "the one with the most shingles",
    "newest": "the newest",
    "shortest-url": "the one with the shortest URL",
}
"""Which copy a policy keeps."""
SHOWN = 3
"""Pairs in the representation for notebooks."""


class Result(ABC, Generic[Data, Report]):
    """The result of a deduplication: of rows, of files, or on a cluster.

    ``Data`` is the type of :attr:`kept`, and ``Report`` that of the tables.

    Attributes
    ----------
    summary : dict
        The counts and settings of ``summary.json`` of the command.
    """

    summary: dict[str, Any]

    @property
    @abstractmethod
    def kept(self) -> Data:
        """The data without its duplicates."""

    @property
    @abstractmethod
    def duplicates(self) -> Report:
        """A row for each duplicate: its id, that of the kept one, and the evidence."""

    @property
    @abstractmethod
    def clusters(self) -> Report:
        """A row for each member of a cluster."""

    @property
    @abstractmethod
    def refused(self) -> Report | None:
        """Pairs that were proposed and refused; ``None`` unless they were asked for."""

    @property
    @abstractmethod
    def skipped(self) -> Report:
        """The documents that were not read."""

    def _counts(self) -> list[tuple[str, int]]:
        """The counts that the representation shows."""
        return [(name, self.summary[name]) for name in ("seen", "kept", "dropped", "skipped")]

    def __repr__(self) -> str:
        """The counts in one line."""
        counts = ", ".join(f"{count:_} {name}" for name, count in self._counts())
        return f"{type(self).__name__}({counts})"


def verification(summary: Mapping[str, Any]) -> tuple[float, int]:
    """The least similarity and the words of a shingle of a run; those by default without them."""
    found = summary["settings"]["verification"] or {"similarity": (4, 5), "shingle": 5}
    part, whole = found["similarity"]
    return part / whole, found["shingle"]


def explained(
    a: str | bytes, b: str | bytes, summary: Mapping[str, Any], ids: tuple[Any, Any], method: str
) -> Explanation:
    """The kept text ``a`` of a run, and ``b``, which was removed as ``method`` found both."""
    settings = summary["settings"]
    similarity, shingle = verification(summary)
    made = _simtool.explain(a, b, similarity, shingle, tokenizer_name=settings["tokenizer"])
    keep = settings["keep"]
    kept = f"kept: {WHY.get(keep, 'the best')} of the copies (keep={keep!r})"
    removed = f"removed: at least {similarity:g} similar"
    if method == "url":
        kept, removed = "kept: the newest of its URL", "removed: of the same URL"
    return Explanation(a, b, made, ids, (kept, removed))


class Explanations(list[Explanation]):
    """Pairs of texts side by side."""

    def __repr__(self) -> str:
        """All pairs, one below the other."""
        return "\n\n".join(repr(pair) for pair in self)

    def _repr_html_(self) -> str:
        """All pairs with marked differences. All text is escaped."""
        return "<hr>".join(pair._repr_html_() for pair in self)
