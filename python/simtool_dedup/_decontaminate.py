"""Parts of evaluation sets in texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

from simtool_dedup._options import (
    FILE_NAMES,
    DecontaminateOptions,
    FileOptions,
    Size,
    refuse_old_names,
)
from simtool_dedup._passage_files import PassageFiles
from simtool_dedup._passage_result import PassageResult
from simtool_dedup._passages import run, words
from simtool_dedup._run import warn
from simtool_dedup._typing import (
    ArrowObject,
    ColumnName,
    Data,
    Dicts,
    Frame,
    Item,
    Items,
    Path,
    Paths,
    Report,
    SeriesLike,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


@overload
def decontaminate(
    data: Paths, reference: Any, *, files: FileOptions | None = None, **options: Unpack[DecontaminateOptions]
) -> PassageFiles: ...
@overload
def decontaminate(
    data: SeriesLike[Data, Report], reference: Any, **options: Unpack[DecontaminateOptions]
) -> PassageResult[Data, Report]: ...
@overload
def decontaminate(
    data: Frame, reference: Any, **options: Unpack[DecontaminateOptions]
) -> PassageResult[Frame, Frame]: ...
@overload
def decontaminate(
    data: Items, reference: Any, **options: Unpack[DecontaminateOptions]
) -> PassageResult[Items, Dicts]: ...
@overload
def decontaminate(
    data: ArrowObject, reference: Any, **options: Unpack[DecontaminateOptions]
) -> PassageResult[Any, Any]: ...
@overload
def decontaminate(
    data: Iterable[Item], reference: Any, **options: Unpack[DecontaminateOptions]
) -> PassageResult[list[Item], Dicts]: ...
def decontaminate(
    data: Any,
    reference: Any,
    *,
    text: ColumnName | None = None,
    ids: ColumnName | None = None,
    url: ColumnName | None = None,
    reference_text: ColumnName | Sequence[str] | None = None,
    reference_ids: str | None = None,
    profile: str | None = None,
    min_length: Size | None = None,
    min_item: Size | None = None,
    edited: float | str | None = None,
    min_share: float | None = None,
    max_gap: int | None = None,
    answer: str | None = None,
    answer_within: Size | None = None,
    tokenizer: str | None = None,
    max_documents: int | None = None,
    around: int | None = None,
    min_piece: int | None = None,
    max_pieces: int | None = None,
    action: str = "mark",
    min_words: int | None = None,
    min_sentences: int | None = None,
    html: str | None = None,
    max_document: Size | None = None,
    threads: int | None = None,
    memory: Size | None = None,
    temp_dir: Path | None = None,
    files: FileOptions | None = None,
    progress: bool | None = None,
    **old: Any,
) -> Any:
    """Find parts of evaluation sets in texts, and remove them on request.

    A stretch of a text is contaminated if runs of ``min_length`` words cover it that an item of the
    reference has, too, or if it is an edited item. All of them are found. The answer is that of the command ``simtool
    decontaminate`` for the same documents. It does not depend on threads and memory.

    Parameters
    ----------
    data : frame, list, iterable or path
        As for :func:`dedup`.
    reference : frame, list or iterable; for files, paths
        The evaluation sets, an item in each row.
    text, ids, url : str, optional
        Columns or fields of the data and, unless ``reference_text`` is given, of the reference. Texts
        may be null.
    reference_text : str or, for files, sequence of str, optional
        The column, or the fields in their order, with the text of an item.
    reference_ids : str, optional
        Of paths: the field with the id of an item, by default that of ``ids``.
    profile : {"gpt3", "lm-eval", "olmo"}, optional
        Defaults of the following settings.
    min_length : str or int, default "13w"
        The words of a run, without regard to case and to what is between them.
    min_item : str or int, default "8w"
        Look for a shorter item as a whole, if it has at least this many words.
    edited : float or "none", default 0.5
        Also find edited items: of at least 13 words, of which a text has at least this share of the
        runs of 5 words near each other, weighted by how few items have them. The default is "none" with
        another ``min_length``, and with ``profile``, ``min_share`` or ``max_documents``.
    min_share : float, optional
        Only clusters with at least this share of an item count: its runs, weighted by how few items
        have them.
    max_gap : int, default 10
        The most places without a run of the item between those of a cluster.
    answer : str, optional
        The column with the answer of an item: where an item has one, clusters count only if it is near.
    answer_within : str or int, default "50w"
        The words before and after a cluster that count as near.
    tokenizer : str, default "auto"
        What a word is, as for :func:`dedup`.
    max_documents : int, optional
        Ignore runs that are in more texts than this.
    around : int, default 0
        Characters before and after each stretch that go with it.
    min_piece : int, default 0
        Pieces with fewer characters between stretches go, too.
    max_pieces : int, optional
        Drop texts that a cut would divide into more pieces than this.
    action, min_words, min_sentences
        As for :func:`lines`.
    html, max_document, threads, memory, temp_dir, progress
        As for :func:`dedup`.
    files : FileOptions, optional
        Of paths: what is written, and how files are read.

    Returns
    -------
    PassageResult or PassageFiles
        A :class:`PassageResult` for rows, a :class:`PassageFiles` for files. Their ``items`` have a
        row for each item of the reference.

    Warns
    -----
    UserWarning
        For settings without effect, for documents without a text, and for items that are too short.

    Raises
    ------
    ValueError, TypeError, OSError, Error, KeyboardInterrupt
        As :func:`dedup`.

    References
    ----------
    Brown et al., "Language models are few-shot learners", 2020, appendix C.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> item = "A train leaves the town at noon and drives sixty miles an hour for two hours"
    >>> found = simtool.decontaminate(["Exercise 7: " + item, "Nothing"], [item])
    >>> found.ranges[0]["char_start"], found.items[0]["share"]
    (12, 1.0)
    """

    refuse_old_names("decontaminate", old, FILE_NAMES)
    own = {
        "profile": profile,
        "min_length": words(min_length),
        "min_item": words(min_item),
        "edited": edited,
        "min_share": min_share,
        "max_gap": max_gap,
        "answer": answer,
        "answer_within": words(answer_within),
        "max_documents": max_documents,
        "around": around,
        "min_piece": min_piece,
        "max_pieces": max_pieces,
    }
    given = {**locals(), "against": reference}
    result = run("decontaminate", own, given, reference_text, reference_ids)
    warn(result.summary)
    return result
