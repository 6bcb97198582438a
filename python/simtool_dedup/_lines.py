"""Boilerplate: lines and other units that documents repeat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

from simtool_dedup._flags import joined
from simtool_dedup._options import (
    FILE_NAMES,
    FileOptions,
    LinesOptions,
    Size,
    refuse_old_names,
)
from simtool_dedup._passage_files import PassageFiles
from simtool_dedup._passage_result import PassageResult
from simtool_dedup._passages import run
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
def lines(  # type: ignore[overload-overlap]
    data: Paths, *, files: FileOptions | None = None, **options: Unpack[LinesOptions]
) -> PassageFiles: ...
@overload
def lines(
    data: SeriesLike[Data, Report], **options: Unpack[LinesOptions]
) -> PassageResult[Data, Report]: ...
@overload
def lines(
    data: Frame, **options: Unpack[LinesOptions]
) -> PassageResult[Frame, Frame]: ...
@overload
def lines(  # type: ignore[overload-overlap]
    data: Items, **options: Unpack[LinesOptions]
) -> PassageResult[Items, Dicts]: ...
@overload
def lines(
    data: ArrowObject, **options: Unpack[LinesOptions]
) -> PassageResult[Any, Any]: ...
@overload
def lines(
    data: Iterable[Item], **options: Unpack[LinesOptions]
) -> PassageResult[list[Item], Dicts]: ...
def lines(
    data: Any,
    *,
    text: ColumnName | None = None,
    ids: ColumnName | None = None,
    url: ColumnName | None = None,
    unit: str | None = None,
    normalize: str | Sequence[str] | None = None,
    above: int | None = None,
    in_documents: int | None = None,
    within: str | None = None,
    keep: str | None = None,
    against: Any = None,
    remove_listed: Any = None,
    action: str = "mark",
    min_words: int | None = None,
    min_sentences: int | None = None,
    tokenizer: str | None = None,
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
    """Find boilerplate, repeated lines, paragraphs or runs of sentences, and remove them on request.

    The answer is that of the command ``simtool lines`` for the same documents. Units are counted
    exactly. The result does not depend on threads and memory.

    Parameters
    ----------
    data : frame, list, iterable or path
        As for :func:`dedup`.
    text, ids, url : str, optional
        Columns or fields, as for :func:`dedup`. Texts may be null.
    unit : str, default "run:30"
        What is counted: ``run:N``, runs of lines with at least N words, ``line``, ``paragraph`` or
        ``sentences:N``, every run of N sentences.
    normalize : str or sequence of str, default "form,spaces"
        Differences that do not count: ``form`` (of characters), ``case``, ``digits``, ``spaces``,
        or ``none``.
    above : int, default 1, but for ``run:N``
        Units that occur more often than this are removed.
    in_documents : int, default 5 for ``run:N``
        Units that occur in at least this number of documents are removed. Not with ``above``.
    within : str, default "global"
        Count only within groups: ``global`` (all documents), ``site``, ``N-documents``, and of files
        ``source``.
    keep : {"first", "none"}, default "first"
        Which occurrence of a removed unit is kept.
    against : like data, optional
        Also count the units of these texts, which come first and do not change.
    remove_listed : path, iterable of str, or a table with a column ``text``, optional
        Remove these units wherever they occur, and no others: a ``boilerplate.jsonl``, or
        :attr:`PassageResult.repeated` of an earlier result, perhaps with fewer rows.
    action : str, default "mark"
        ``mark`` only reports, ``cut`` removes, ``mask`` replaces characters by blanks of as many
        bytes, ``drop-document:SHARE`` drops rows with at least this share of repeated text.
    min_words, min_sentences : int, optional
        Drop rows of which fewer remain after a cut.
    tokenizer : str, optional
        What a word is, for ``run:N`` and ``min_words``.
    max_listed : int, default 1000
        The most units in :attr:`PassageResult.repeated`.
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

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> found = simtool.lines(
    ...     ["Home | About\\nA day", "Home | About\\nA night"], unit="line", action="cut"
    ... )
    >>> found.kept
    ['Home | About\\nA day', 'A night']
    """
    refuse_old_names("lines", old, FILE_NAMES)
    own = {
        "unit": unit,
        "normalize": joined(normalize),
        "above": above,
        "in_documents": in_documents,
        "within": within,
        "keep": keep,
        "remove_listed": remove_listed,
        "max_listed": max_listed,
    }
    result = run("lines", own, locals())
    warn(result.summary)
    return result
