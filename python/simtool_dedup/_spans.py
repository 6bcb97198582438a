"""Stretches of text that occur earlier."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

from simtool_dedup._options import (
    FILE_NAMES,
    FileOptions,
    Size,
    SpansOptions,
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
def spans(  # type: ignore[overload-overlap]
    data: Paths, *, files: FileOptions | None = None, **options: Unpack[SpansOptions]
) -> PassageFiles: ...
@overload
def spans(
    data: SeriesLike[Data, Report], **options: Unpack[SpansOptions]
) -> PassageResult[Data, Report]: ...
@overload
def spans(
    data: Frame, **options: Unpack[SpansOptions]
) -> PassageResult[Frame, Frame]: ...
@overload
def spans(  # type: ignore[overload-overlap]
    data: Items, **options: Unpack[SpansOptions]
) -> PassageResult[Items, Dicts]: ...
@overload
def spans(
    data: ArrowObject, **options: Unpack[SpansOptions]
) -> PassageResult[Any, Any]: ...
@overload
def spans(
    data: Iterable[Item], **options: Unpack[SpansOptions]
) -> PassageResult[list[Item], Dicts]: ...
def spans(
    data: Any,
    *,
    text: ColumnName | None = None,
    ids: ColumnName | None = None,
    url: ColumnName | None = None,
    min_length: Size | None = None,
    tokenizer: str | None = None,
    keep: str | None = None,
    snap: str | None = None,
    against: Any = None,
    action: str = "mark",
    min_words: int | None = None,
    min_sentences: int | None = None,
    max_listed: int | None = None,
    html: str | None = None,
    max_document: Size | None = None,
    threads: int | None = None,
    memory: Size | None = None,
    temp_dir: Path | None = None,
    files: FileOptions | None = None,
    progress: bool | None = None,
    **old: Any,
) -> Any:
    """Find all stretches of text that occur earlier, and remove them on request.

    A position is repeated if it is in a stretch of at least ``min_length`` units that occurs earlier, in an
    earlier row or in the same one. All of them are found. The answer is that of the command ``simtool
    spans`` for the same documents. It does not depend on threads and memory.

    Parameters
    ----------
    data : frame, list, iterable or path
        As for :func:`dedup`.
    text, ids, url : str, optional
        Columns or fields, as for :func:`dedup`. Texts may be null.
    min_length : str or int, default "50w"
        The least length of a stretch: of words (``"50w"`` or ``50``), without regard to case and to
        what is between them, or of bytes (``"500b"``).
    tokenizer : str, default "auto"
        What a word is, as for :func:`dedup`.
    keep : {"first", "none"}, default "first"
        Which copy of a stretch is kept.
    snap : {"word", "sentence", "line", "none"}, default "word"
        Shrink what is removed to whole words, sentences or lines.
    against : like data, optional
        These texts come first and do not change.
    action, min_words, min_sentences
        As for :func:`lines`.
    max_listed : int, default 1000
        The most passages in :attr:`PassageResult.repeated`.
    html, max_document, threads, memory, temp_dir, progress
        As for :func:`dedup`.
    files : FileOptions, optional
        Of paths: what is written, and how files are read.

    Returns
    -------
    PassageResult or PassageFiles
        A :class:`PassageResult` for rows, a :class:`PassageFiles` for files.

    Warns
    -----
    UserWarning
        For settings without effect, and for documents without a text.

    Raises
    ------
    ValueError, TypeError, OSError, Error, KeyboardInterrupt
        As :func:`dedup`.

    References
    ----------
    Schleimer, Wilkerson and Aiken, "Winnowing", SIGMOD 2003.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> texts = ["a cat sat on the mat", "Yesterday a cat sat on the mat again"]
    >>> found = simtool.spans(texts, min_length=5)
    >>> start, end = found.ranges[0]["char_start"], found.ranges[0]["char_end"]
    >>> texts[1][start:end]
    'a cat sat on the mat'
    """
    refuse_old_names("spans", old, FILE_NAMES)
    own = {
        "min_length": words(min_length),
        "keep": keep,
        "snap": snap,
        "max_listed": max_listed,
    }
    result = run("spans", own, locals())
    warn(result.summary)
    return result
