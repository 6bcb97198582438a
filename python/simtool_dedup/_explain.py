"""Why two texts are near-duplicates, or not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from simtool_dedup import _simtool
from simtool_dedup._html import Side, sides
from simtool_dedup._options import Tokenizer

Text = str | bytes

class Similarity(float):
    """The share of shingles that two texts have in common, as a number.

    Attributes
    ----------
    shared : int
        The number of shingles in both texts.
    shingles : int
        The number of shingles in at least one of them.
    """

    shared: int
    shingles: int

    def __new__(cls, shared: int, shingles: int) -> Similarity:
        """The similarity ``shared / shingles``; 0 for two texts without words."""
        self = super().__new__(cls, shared / max(shingles, 1))
        self.shared = shared
        self.shingles = shingles
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        """The arguments of the constructor, for copies."""
        return self.shared, self.shingles

    def __repr__(self) -> str:
        """The number with the fraction."""
        return f"{float(self):.4f} ({self.shared}/{self.shingles})"


class Explanation:
    """Two texts with the verdicts of methods on them.

    ``print`` shows the texts side by side; a notebook shows them with marked differences.

    Attributes
    ----------
    a, b : str or bytes
        The texts.
    verdicts : list of dict
        The measurement and the decision of each method, as ``simtool explain --json`` has them.
    ids : tuple or None
        The ids of the texts, if they are those of a result.
    roles : tuple of str or None
        Of a result: why the first text was kept, and why the other one was removed.
    """

    def __init__(
        self,
        a: Text,
        b: Text,
        made: tuple[str, str, Sequence[str]],
        ids: tuple[Any, Any] | None = None,
        roles: tuple[str, str] | None = None,
    ) -> None:
        self.a = a
        self.b = b
        self.ids = ids
        self.roles = roles
        facts, self._text, self._html = made
        self.verdicts: list[dict[str, Any]] = json.loads(facts)["verdicts"]

    @property
    def similarity(self) -> Similarity:
        """The share of shingles in common, counted exactly."""
        shared, shingles = self._verdict("jaccard")["similarity"]
        return Similarity(shared, shingles)

    @property
    def is_near(self) -> bool:
        """Whether the similarity reaches the threshold."""
        return bool(self._verdict("jaccard")["near"])

    def _verdict(self, method: str) -> dict[str, Any]:
        return next(verdict for verdict in self.verdicts if verdict["method"] == method)

    def __repr__(self) -> str:
        """The verdicts, and the texts side by side."""
        heads = (f"{letter}  {name}  {role}".rstrip() for letter, name, role in zip("AB", *self._heads()))
        return ("" if self.ids is None else "\n".join(heads) + "\n\n") + self._text

    def _heads(self) -> tuple[Sequence[str], Sequence[str]]:
        """The names and the roles of the texts."""
        names = ("A", "B") if self.ids is None else tuple(map(str, self.ids))
        return names, self.roles or ("", "")

    def _repr_html_(self) -> str:
        """Both texts with their differences, for notebooks. All text is escaped."""
        found = self.similarity
        shared = f"similarity {float(found):.4f}: {found.shared} of {found.shingles} shingles shared"
        return f"<p>{shared}</p>" + sides(*map(Side, *self._heads(), self._html))


def similarity(
    a: Text, b: Text, *, shingle: int | None = None, tokenizer: Tokenizer | None = None
) -> Similarity:
    """Count the shingles that two texts have in common.

    Parameters
    ----------
    a, b : str or bytes
        The texts. Bytes that are not UTF-8 separate words.
    shingle : int, optional
        Words in a shingle, 1 to 100; 5 by default (9 characters with ``tokenizer="chars"``).
    tokenizer : str, optional
        What a word is, as for :func:`dedup`.

    Returns
    -------
    Similarity
        ``|A ∩ B| / |A ∪ B|`` of the sets of shingles, a ``float`` with both numbers. Texts without
        words have similarity 0.

    Raises
    ------
    ValueError
        For settings out of range, and for a ``str`` with surrogates.

    References
    ----------
    Broder, "On the resemblance and containment of documents", 1997.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> a = "the quick brown fox jumps over the lazy dog today"
    >>> b = "the quick brown fox jumps over the lazy dog again"
    >>> simtool.similarity(a, b)
    0.7143 (5/7)
    """
    return Similarity(*_simtool.shared_shingles(a, b, shingle, tokenizer))


def explain(
    a: Text,
    b: Text,
    *,
    similarity: float = 0.8,
    shingle: int | None = None,
    distance: int = 6,
    recall: float = 0.99,
    method: str | Sequence[str] = (),
    keep_stop_words: bool = False,
    tokenizer: Tokenizer | None = None,
    width: int = 100,
) -> Explanation:
    """Compare two texts by every usual method, as ``simtool explain`` does.

    Parameters
    ----------
    a, b : str or bytes
        The texts.
    similarity : float, default 0.8
        Least share of shingles in common of duplicates.
    shingle : int, optional
        Words in a shingle.
    distance : int, default 6
        Largest Hamming distance of fingerprints, in bits.
    recall : float, default 0.99
        Share of the pairs of the given similarity that MinHash has to propose.
    method : str or sequence of str
        Further methods, or ``"all"``. Methods with statistics of a collection have none here.
    keep_stop_words : bool, default False
        Whether fingerprints count common words.
    tokenizer : str, optional
        What a word is.
    width : int, default 100
        Columns of the text.

    Returns
    -------
    Explanation
        The verdicts, and the texts side by side.

    Raises
    ------
    ValueError
        For settings out of range.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> text = "a cat sat on the mat while a dog slept in the sun"
    >>> found = simtool.explain(text, text + " today")
    >>> found.is_near, found.similarity
    (True, 0.9000 (9/10))
    """
    methods = [method] if isinstance(method, str) else list(method)
    made = _simtool.explain(
        a, b, similarity, shingle, distance, recall, methods, keep_stop_words, tokenizer, width
    )
    return Explanation(a, b, made)
