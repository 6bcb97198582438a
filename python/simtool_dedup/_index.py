"""An index on disk: has this text been seen?"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path as Directory
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypedDict, overload

from simtool_dedup import _simtool
from simtool_dedup._data import Rows, paths_of
from simtool_dedup._flags import joined, threads_of, whole
from simtool_dedup._kinds.items import Items
from simtool_dedup._options import Html, Keep, Layout, Payload, Size, Tokenizer, refuse_old_names
from simtool_dedup._progress import watching
from simtool_dedup._run import field_of, row_path
from simtool_dedup._scratch import temporary_directory
from simtool_dedup._simtool import SeenIndex
from simtool_dedup._typing import ArrowObject, ColumnName, Dicts, Frame, Path, Report, SeriesLike

if TYPE_CHECKING:
    from typing_extensions import Unpack

Listed: TypeAlias = os.PathLike[str] | Iterable[Any]
"""A path, several, or items."""


class QueryOptions(TypedDict, total=False):
    """The settings of :meth:`Index.query`."""

    text: ColumnName | None
    ids: ColumnName | None
    limit: int
    threads: int | None
    memory: Size | None
    progress: bool | None


class AddOptions(QueryOptions, total=False):
    """The settings of :meth:`Index.add`."""

    url: ColumnName | None
    date: ColumnName | None
    payload: Payload | Sequence[Payload] | None
    dump: str


class Index:
    """A directory that knows texts by their sketches.

    The command ``simtool index`` and the service ``simtool serve`` use the same directory. Only one
    process at a time can have it open for changes. In a process that has, opening it again gives the same
    index; it is closed with the last of its objects. Texts that are added one after another are decided
    about as by one :func:`dedup` of all of them that keeps the first of the copies. An index stores
    sketches and sets of shingles, no texts, so similarities are exact.

    Parameters
    ----------
    directory : path
        The directory of an index.
    create : bool, default False
        Make an empty index if the directory does not exist or is empty.
    method : str, default "minhash"
        The method of a new index, by default that of :func:`dedup`; :func:`methods` lists them.
    tokenizer : str, optional
        What a word is, for a new index.
    html : {"main", "visible", "markup"}, optional
        The part of HTML pages that is their text, for a new index; by default ``main``.
    layout : {"fast", "compact"}, optional
        The tables of fingerprints of a new index: fast, or compact (at most 34 bytes for a
        fingerprint of 64 bits; slower if they are skewed). By default ``fast``.
    similarity : float, optional
        Least similarity of matches of a new index, 0.8 by default; for one that is opened for reading
        only, in place of the stored one.
    signatures : bool, default False
        Store 128 bytes of each text's shingles in place of all of them, in a new index. Similarities
        are estimates then, and answers say so (``estimated``).
    keep : str, optional
        Order of preference among copies of a new index, as in :func:`dedup`: answers for lists and
        files have ``replaces``, the earlier copy that a better one replaces. The first copy is kept in
        any case.
    read_only : bool, default False
        Open without writing anything.

    Raises
    ------
    OSError
        If there is no index, if another process has it open, or if this process has it open for reading
        only and now for changes, or the other way around.
    ValueError
        For unknown settings, and if the directory is not empty.
    Error
        If it is damaged.

    Notes
    -----
    Threads share an index. Open it after a fork, not before.

    Examples
    --------
    >>> import tempfile, simtool_dedup as simtool
    >>> text = "A cat sat on the mat while a dog slept in the sun behind the house by the sea"
    >>> directory = tempfile.TemporaryDirectory()
    >>> with simtool.Index(directory.name, create=True) as seen:
    ...     added = seen.add([{"id": "a", "text": text}])
    ...     seen.query(text.upper())["verdict"]
    'duplicate'
    >>> directory.cleanup()
    """

    def __init__(
        self,
        directory: Path,
        *,
        create: bool = False,
        method: str | None = None,
        tokenizer: Tokenizer | None = None,
        html: Html | None = None,
        layout: Layout | None = None,
        similarity: float | None = None,
        signatures: bool = False,
        keep: Keep | None = None,
        read_only: bool = False,
    ) -> None:
        self.directory = Directory(directory)
        is_new = not self.directory.exists() or (
            self.directory.is_dir() and not any(self.directory.iterdir())
        )
        self._index: SeenIndex
        if create and is_new:
            new = settings(method, tokenizer, html, layout, similarity, signatures, keep)
            self._index = SeenIndex.create(directory, new)
        else:
            given = (method, tokenizer, html, layout, signatures, keep)
            if given != (None, None, None, None, False, None):
                raise ValueError(
                    "method, tokenizer, html, layout, signatures and keep: have an effect on a new index "
                    "only; info() shows those of this one"
                )
            self._index = SeenIndex.open(directory, read_only, similarity)

    @classmethod
    def build(
        cls,
        directory: Path,
        data: Any,
        *,
        text: ColumnName | None = None,
        ids: ColumnName | None = None,
        url: ColumnName | None = None,
        date: ColumnName | None = None,
        payload: Payload | Sequence[Payload] | None = None,
        method: str | None = None,
        tokenizer: Tokenizer | None = None,
        html: Html | None = None,
        layout: Layout | None = None,
        similarity: float | None = None,
        signatures: bool = False,
        keep: Keep | None = None,
        dump: str = "",
        threads: int | None = None,
        memory: Size | None = None,
        progress: bool | None = None,
        **old: Any,
    ) -> Index:
        """Make an index of many documents at once. It exists when it is complete.

        Parameters
        ----------
        directory : path
            A new or empty directory.
        data : frame, list, iterable or path
            As for :func:`dedup`. Rows need ids.
        text, ids, url, date : str, optional
            Columns or fields; by default ``text``, ``id``, ``url`` and ``date``.
        payload : {"url", "date", "url,date", "none"} or sequence of str, optional
            What is stored with a document and returned with its matches. ``"url,date"`` is a JSON
            object of both. By default nothing.
        method, tokenizer, html, layout, similarity, signatures, keep
            As for :class:`Index`. Methods with statistics of the collection count them first.
        dump : str, optional
            As for :meth:`add`.
        threads, memory, progress
            As for :func:`dedup`.

        Returns
        -------
        Index
            The index, open.

        Raises
        ------
        ValueError, TypeError, OSError, Error
            As :func:`dedup`; ``ValueError`` for a row without an id.
        """
        refuse_old_names("Index.build", old)
        with temporary_directory() as scratch, watching(progress) as watch:
            stored = joined(payload)
            fields = Fields(text, ids, url, date)
            source = source_of(data, fields, stored, scratch, threads, memory, needs_ids=True)
            new = settings(method, tokenizer, html, layout, similarity, signatures, keep)
            index, _ = SeenIndex.build(directory, source, new, stored, dump, watch)
        self = cls.__new__(cls)
        self.directory = Directory(directory)
        self._index = index
        return self

    @overload
    def query(self, data: str | bytes, *, limit: int = 10) -> dict[str, Any]: ...
    @overload
    def query(self, data: SeriesLike[Any, Report], **options: Unpack[QueryOptions]) -> Report: ...
    @overload
    def query(self, data: Frame, **options: Unpack[QueryOptions]) -> Frame: ...
    @overload
    def query(self, data: Listed, **options: Unpack[QueryOptions]) -> Dicts: ...
    @overload
    def query(self, data: ArrowObject, **options: Unpack[QueryOptions]) -> Any: ...
    def query(
        self,
        data: Any,
        *,
        text: ColumnName | None = None,
        ids: ColumnName | None = None,
        limit: int = 10,
        threads: int | None = None,
        memory: Size | None = None,
        progress: bool | None = None,
        **old: Any,
    ) -> Any:
        """Look texts up without adding them.

        Parameters
        ----------
        data : str, bytes, frame, list, iterable or path object
            A single text, or rows or files as for :func:`dedup`; here a ``str`` is a text.
        text, ids : str, optional
            Columns or fields.
        limit : int, default 10
            The most matches of a text.
        threads, memory, progress
            As for :func:`dedup`.

        Returns
        -------
        dict, list of dict, or frame
            * For a single text a dictionary: ``verdict`` (``new``, ``duplicate`` or ``empty``) and
              ``matches``, the one of which it is a copy first, with ``id``, ``distance``,
              ``similarity``, ``shingles`` (the two numbers), and ``payload`` if one is stored.
            * For a list, or files, such a dictionary for each document, with its ``id``, and with
              ``replaces`` if it is better than the earlier copies by ``keep`` of the index: the id of
              the best of these.
            * For a frame, a frame of the same type: ``row``, ``id``, ``verdict`` (also ``unchanged``
              and ``changed``, of the same id), ``added``, and the first match: ``match``,
              ``distance``, ``estimate``, ``similarity`` and ``payload`` of that match, and the number
              of ``matches``. Rows without a text are left out.

        Raises
        ------
        ValueError, TypeError, OSError, Error
            As :func:`dedup`.
        """
        refuse_old_names("Index.query", old)
        if isinstance(data, (str, bytes)):
            verdict, matches = self._index.query_text(data, whole("limit", limit))
            return {"verdict": verdict, "matches": json.loads(matches)}
        fields = Fields(text, ids, None, None)
        return self._process(data, fields, (None, ""), False, limit, threads, memory, progress)

    @overload
    def add(self, data: SeriesLike[Any, Report], **options: Unpack[AddOptions]) -> Report: ...
    @overload
    def add(self, data: Frame, **options: Unpack[AddOptions]) -> Frame: ...
    @overload
    def add(self, data: str | Listed, **options: Unpack[AddOptions]) -> Dicts: ...
    @overload
    def add(self, data: ArrowObject, **options: Unpack[AddOptions]) -> Any: ...
    def add(
        self,
        data: Any,
        *,
        text: ColumnName | None = None,
        ids: ColumnName | None = None,
        url: ColumnName | None = None,
        date: ColumnName | None = None,
        payload: Payload | Sequence[Payload] | None = None,
        dump: str = "",
        limit: int = 10,
        threads: int | None = None,
        memory: Size | None = None,
        progress: bool | None = None,
        **old: Any,
    ) -> Any:
        """Look texts up and add them, each in one step.

        Every text is added, also a duplicate, unless the dump has its id with the same text: it was
        sent twice. Another text of an id is a further document. Added texts are durable when the
        function returns; after an interruption, a part of them is.

        Parameters
        ----------
        data : frame, list, iterable or path
            As for :func:`dedup`. Rows need ids.
        text, ids, url, date, payload
            As for :meth:`build`.
        dump : str, optional
            Label of the dump that the texts belong to; see :meth:`remove_dump`.
        limit, threads, memory, progress
            As for :meth:`query`.

        Returns
        -------
        list of dict, or frame
            As for :meth:`query`, with ``added``.

        Raises
        ------
        ValueError, TypeError, OSError, Error
            As :func:`dedup`; ``ValueError`` for a row without an id.
        """
        refuse_old_names("Index.add", old)
        fields, stored = Fields(text, ids, url, date), (joined(payload), dump)
        return self._process(data, fields, stored, True, limit, threads, memory, progress)

    def _process(
        self,
        data: Any,
        fields: Fields,
        stored: tuple[str | None, str],
        adds: bool,
        limit: int,
        threads: int | None,
        memory: Size | None,
        progress: bool | None,
    ) -> Any:
        paths = paths_of(data)
        payload, dump = stored
        with temporary_directory() as scratch, watching(progress) as watch:
            rows = None if paths is not None else Rows(data, *fields, writes_ids=True)
            source = source_of(
                data if rows is None else rows, fields, payload, scratch, threads, memory, needs_ids=adds
            )
            lines, skipped = self._index.process(
                source, adds, whole("limit", limit), payload, dump, watch
            )
        if rows is not None and not isinstance(rows.kind, Items):
            return rows.kind.report(_simtool.read_answers(lines, skipped), {})
        answers = [json.loads(line) for line in lines.splitlines()]
        for answer in answers:
            if rows is not None:
                for place in ("file", "start", "length", "member"):
                    answer.pop(place, None)
                if rows.ids is None:
                    del answer["id"]
        return answers

    def remove(self, ids: str | Iterable[str]) -> Any:
        """Remove all documents with some ids. Durable when it returns.

        The decisions about other documents do not change: a copy of a removed document remains a copy.
        The next document with the text of a removed one is new.

        Parameters
        ----------
        ids : str or iterable of str
            Ids.

        Returns
        -------
        bool or list of bool
            Whether each document was there.
        """
        if isinstance(ids, str):
            return self._index.remove([ids])[0]
        return self._index.remove([str(id) for id in ids])

    def remove_dump(self, label: str) -> dict[str, int]:
        """Remove the documents of a dump, as if they had never been added.

        Later documents are decided again, which takes about as long as adding them.

        Parameters
        ----------
        label : str
            The label that its documents were added with.

        Returns
        -------
        dict
            ``removed``, the number of its documents, and ``kept_now``, that of documents that were
            copies of these and are kept now.

        Raises
        ------
        ValueError
            If there is no such dump.
        """
        removed, kept_now = self._index.remove_dump(label)
        return {"removed": removed, "kept_now": kept_now}

    def info(self) -> dict[str, Any]:
        """Describe the index.

        Returns
        -------
        dict
            ``method``, ``tokenizer``, ``html``, ``layout``, ``documents``, ``removed`` (of which
            some bytes are left), ``recent`` (not in a segment yet), ``segments``, ``bytes``,
            ``similarity``, the least of a match, ``estimated`` (whether similarities are), and
            ``dumps``, their labels.
        """
        return self._index.facts()

    def compact(self) -> None:
        """Merge the index into one segment, without removed documents.

        Takes time in proportion to the index. After Ctrl-C, the index is as it was.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C.
        OSError
            If the disk is full.
        Error
            If the index is damaged.
        """
        self._index.compact()

    def close(self) -> None:
        """Close the index, so that another process can open it when this one has closed it everywhere."""
        self._index.close()

    def __len__(self) -> int:
        """The number of documents, also of those without features."""
        return self._index.documents()

    def __contains__(self, document: object) -> bool:
        """Whether the index has a document with this id."""
        return self._index.has(str(document))

    def __enter__(self) -> Index:
        """The index, which is closed at the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the index."""
        self.close()

    def __repr__(self) -> str:
        """The directory and the number of documents."""
        where = str(self.directory)
        if self._index.is_closed():
            return f"Index({where!r}, closed)"
        return f"Index({where!r}, {len(self):_} documents)"


class Fields(NamedTuple):
    """Columns or fields of documents, where they are given."""

    text: ColumnName | None
    ids: ColumnName | None
    url: ColumnName | None
    date: ColumnName | None


def settings(
    method: str | None,
    tokenizer: Tokenizer | None,
    html: Html | None,
    layout: Layout | None,
    similarity: float | None,
    signatures: bool,
    keep: Keep | None,
) -> dict[str, Any]:
    """The settings of a new index, for the Rust part."""
    return {
        "method": method,
        "tokenizer": tokenizer,
        "html": html,
        "layout": layout,
        "similarity": similarity,
        "signatures": signatures,
        "keep": keep,
    }


def source_of(
    data: Any,
    fields: Fields,
    payload: str | None,
    directory: Directory,
    threads: int | None,
    memory: Size | None,
    *,
    needs_ids: bool,
) -> dict[str, Any]:
    """Documents for the Rust part: files, or rows that are written to one."""
    source: dict[str, Any] = {
        "threads": threads_of(threads),
        "memory": None if memory is None else str(memory),
        "fields": None,
    }
    paths = None if isinstance(data, Rows) else paths_of(data)
    if paths is not None:
        names = (field_of(setting, name) for setting, name in fields._asdict().items())
        usual = ("text", "id", "url", "date")
        return {**source, "paths": paths, "fields": [name or by for name, by in zip(names, usual)]}
    rows = data if isinstance(data, Rows) else Rows(data, *fields, writes_ids=True)
    if needs_ids:
        check_ids(rows)
    stored = (payload or "").split(",")
    for name, column in (("url", rows.url), ("date", rows.date)):
        if name in stored and column is None and len(rows) > 0:
            raise ValueError(f"payload: the data has no {name} (name its column: {name}=...)")
    path = row_path(directory)
    columns = rows.columns(rows.ids)
    columns |= {name: None for name in ("url", "date") if name not in stored}
    _simtool.write_rows(rows.rows, path, columns, threads)
    return {**source, "paths": [path]}


def check_ids(rows: Rows) -> None:
    """Fail unless every row has an id."""
    if len(rows) == 0:
        return
    if rows.ids is None:
        raise ValueError("ids: name the column of the ids; an index needs one for each row")
    if isinstance(rows.rows, list):
        ids = rows.ids_of(range(len(rows)))
        missing = next((row for row, id in enumerate(ids) if id is None or id == ""), None)
    else:
        missing = rows.rows.first_missing(rows.ids)
    if missing is not None:
        raise ValueError(f"row {missing}: has no id; an index needs one for each row")
