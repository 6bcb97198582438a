"""Fingerprints of texts, and their neighbours."""

from __future__ import annotations

from typing import Any, Literal, overload

from simtool_dedup import _simtool
from simtool_dedup._flags import threads_of, whole
from simtool_dedup._kinds import kind_of
from simtool_dedup._options import Tokenizer, Weights
from simtool_dedup._simtool import Table
from simtool_dedup._typing import Array, ColumnName


def array(data: bytes, dtype: str, columns: int | None = None) -> Array:
    """Little-endian numbers as an array of NumPy; without NumPy as a ``memoryview``."""
    try:
        import numpy
    except ImportError:
        flat: Any = memoryview(data)
        flat = flat.cast({"<u8": "Q", "<u4": "I", "u1": "B"}[dtype])
        if columns is not None and len(flat) > 0:
            flat = flat.cast("B").cast(flat.format, [len(flat) // columns, columns])
        table: Array = flat
        return table
    found: Array = numpy.frombuffer(data, dtype=dtype)
    return found if columns is None else found.reshape(-1, columns)


def texts_of(texts: Any, text: ColumnName | None) -> tuple[Table | list[Any], str, bool]:
    """Texts for the Rust part, the path of their column, and whether it is a single text."""
    if isinstance(texts, (str, bytes)):
        return [texts], "text", True
    kind = kind_of(texts)
    column = kind.column("text", text)
    rows = kind.rows({} if column is None or column.label is None else {column.label: "text"})
    if not isinstance(rows, Table) and any(isinstance(row, dict) for row in rows):
        raise TypeError("expected texts, found dictionaries")
    return rows, "text" if column is None else column.path, False


@overload
def simhash(
    texts: str | bytes,
    *,
    bits: Literal[32, 64] = 64,
    features: int = 1,
    weights: Weights = "tf",
    keep_stop_words: bool = False,
    tokenizer: Tokenizer | None = None,
    threads: int | None = None,
) -> int: ...
@overload
def simhash(
    texts: str | bytes,
    *,
    bits: int,
    features: int = 1,
    weights: Weights = "tf",
    keep_stop_words: bool = False,
    tokenizer: Tokenizer | None = None,
    threads: int | None = None,
) -> int | bytes: ...
@overload
def simhash(
    texts: Any,
    *,
    text: ColumnName | None = None,
    bits: int = 64,
    features: int = 1,
    weights: Weights = "tf",
    keep_stop_words: bool = False,
    tokenizer: Tokenizer | None = None,
    threads: int | None = None,
) -> Array: ...
def simhash(
    texts: Any,
    *,
    text: ColumnName | None = None,
    bits: int = 64,
    features: int = 1,
    weights: Weights = "tf",
    keep_stop_words: bool = False,
    tokenizer: Tokenizer | None = None,
    threads: int | None = None,
) -> Any:
    """Compute the SimHash of a text, or of each text of a column or list.

    Texts with most words in common have fingerprints that differ in few bits. The numbers are the
    same on every machine, and the same as those of ``simtool dedup`` and of an index.

    Parameters
    ----------
    texts : str, bytes, a column, a table, or an iterable of str, bytes and None
        A column is a series of polars or pandas, an array of pyarrow or NumPy, or a column of
        ``datasets``. Columns are not copied if they are Arrow. HTML is not parsed: tags are words, unlike
        in :func:`dedup` with ``html``.
    text : str, optional
        The column of a table; by default ``text``, or the only one.
    bits : int, default 64
        32, 64, 128 or 256.
    features : int, default 1
        Words in a feature.
    weights : str, default "tf"
        ``tf``, ``log-tf`` or ``once``.
    keep_stop_words : bool, default False
        Whether to count the common words of nine languages.
    tokenizer : str, optional
        What a word is.
    threads : int, optional
        Threads; one for each processor by default.

    Returns
    -------
    int or numpy.ndarray
        For a text, a number. For several, an array of ``uint64`` of shape ``(n,)``, of ``uint32``
        for 32 bits, and of bytes of shape ``(n, bits / 8)`` for more. A text without features, also
        a null one, has the fingerprint 0.

    Raises
    ------
    ValueError
        For parameters out of range, and for a ``str`` with surrogates.
    TypeError
        For objects that are no texts.

    References
    ----------
    Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> a = simtool.simhash("A cat sat on the mat while a dog slept in the sun behind the house")
    >>> b = simtool.simhash("A cat sat on the mat, while a dog slept in the sun behind the house!")
    >>> a == b
    True
    """
    stop_words = "keep" if keep_stop_words else "skip"
    parameters = f"bits={bits},features={features},weights={weights},stop-words={stop_words}"
    method = f"simhash:{parameters}"
    return fingerprint(texts, text=text, method=method, tokenizer=tokenizer, threads=threads)


def fingerprint(
    texts: Any,
    *,
    text: ColumnName | None = None,
    method: str = "simhash",
    tokenizer: Tokenizer | None = None,
    threads: int | None = None,
) -> Any:
    """Compute the sketch of a text, or of each text of a column or list, by any method.

    Parameters
    ----------
    texts, text
        As for :func:`simhash`.
    method : str, default "simhash"
        ``NAME`` or ``NAME:parameter=value,...``; :func:`methods` lists them. Not a method that needs
        statistics of a collection.
    tokenizer : str, optional
        What a word is.
    threads : int, optional
        Threads; one for each processor by default.

    Returns
    -------
    int, bytes, numpy.ndarray or list of bytes
        A fingerprint of 32 or 64 bits is a number, several are an array. Another sketch is bytes;
        several are an array of shape ``(n, length)``, or a list if their lengths differ. A text
        without features has zeros, or no bytes.

    Raises
    ------
    ValueError
        For an unknown method or parameter, and for methods that need statistics.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> simtool.fingerprint(["one two three", None], method="simhash:bits=32").shape
    (2,)
    >>> len(simtool.fingerprint("one two three", method="exact"))
    16
    """
    rows, path, is_single = texts_of(texts, text)
    data, width, length, lengths = _simtool.sketches(
        rows, path, method, tokenizer, threads_of(threads)
    )
    if length is None:
        sketches, start = [], 0
        for each in lengths:
            sketches.append(data[start : start + each])
            start += each
        return sketches[0] if is_single else sketches
    if width in (32, 64) and length * 8 == width:
        if is_single:
            return int.from_bytes(data, "little")
        return array(data, f"<u{length}")
    return data if is_single else array(data, "u1", length)


def minhash(
    texts: Any,
    *,
    text: ColumnName | None = None,
    hashes: int = 128,
    shingle: int = 5,
    tokenizer: Tokenizer | None = None,
    threads: int | None = None,
) -> Array:
    """Compute the MinHash signature of a text, or of each text of a column or list.

    The share of equal numbers in two signatures is an unbiased estimate of :func:`similarity`, with
    a standard error of at most ``0.5 / sqrt(hashes)``.

    Parameters
    ----------
    texts, text
        As for :func:`simhash`.
    hashes : int, default 128
        Permutations, 1 to 256. Those of fewer are the first of more.
    shingle : int, default 5
        Words in a shingle, 1 to 100.
    tokenizer : str, optional
        What a word is.
    threads : int, optional
        Threads; one for each processor by default.

    Returns
    -------
    numpy.ndarray
        ``uint32`` of shape ``(hashes,)``, or ``(n, hashes)`` for several texts. A text without
        words, also a null one, has the largest numbers, 2**32 - 1.

    Raises
    ------
    ValueError
        For settings out of range.

    References
    ----------
    Broder, "On the resemblance and containment of documents", 1997.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> a = simtool.minhash("one two three four five six seven eight nine ten")
    >>> b = simtool.minhash("one two three four five six seven eight nine eleven")
    >>> a.shape
    (128,)
    >>> 0.4 < float((a == b).mean()) < 0.95
    True
    """
    rows, path, is_single = texts_of(texts, text)
    counts = whole("hashes", hashes), whole("shingle", shingle)
    data = _simtool.minhashes(rows, path, *counts, tokenizer, threads_of(threads))
    return array(data, "<u4") if is_single else array(data, "<u4", hashes)


def shingles(
    texts: Any,
    *,
    text: ColumnName | None = None,
    words: int = 5,
    tokenizer: Tokenizer | None = None,
    threads: int | None = None,
) -> Array | list[Array]:
    """Compute the set of word shingles of a text, or of each text of a column or list.

    Parameters
    ----------
    texts, text
        As for :func:`simhash`.
    words : int, default 5
        Words in a shingle, 1 to 100. A shorter text is one shingle.
    tokenizer : str, optional
        What a word is.
    threads : int, optional
        Threads; one for each processor by default.

    Returns
    -------
    numpy.ndarray or list of numpy.ndarray
        The hashes of the shingles: ``uint64``, sorted, without repetitions.

    Raises
    ------
    ValueError
        For settings out of range.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> len(simtool.shingles("one two three four five six seven"))
    3
    """
    rows, path, is_single = texts_of(texts, text)
    data, lengths = _simtool.shingle_sets(
        rows, path, whole("words", words), tokenizer, threads_of(threads)
    )
    if is_single:
        return array(data, "<u8")
    sets, start = [], 0
    for length in lengths:
        sets.append(array(data[start : start + 8 * length], "<u8"))
        start += 8 * length
    return sets


def neighbours(
    fingerprints: Any, distance: int = 3, *, width: int = 64, threads: int | None = None
) -> tuple[Array, Array, Array]:
    """Find all pairs of fingerprints that differ in at most ``distance`` bits.

    The search is exact: no pair is missed, whatever the distance.

    Parameters
    ----------
    fingerprints : array of uint64, or an iterable of int
        Fingerprints, such as those of :func:`simhash`. Arrays may be signed: a negative number stands
        for its bits (two's complement), as databases store fingerprints. An iterable of ``int``
        has none.
    distance : int, default 3
        The largest number of different bits.
    width : int, default 64
        Bits that count, from the lowest on.
    threads : int, optional
        Threads; one for each processor by default.

    Returns
    -------
    tuple of numpy.ndarray
        Three arrays of the same length: the lower position of each pair (``uint32``), the other
        position (``uint32``), and the number of different bits (``uint8``). Ordered by the lower
        position, then by distance, then by the other position. Memory: 9 bytes for each pair; while
        they are collected, 9 more, and some 40 for each fingerprint.

    Raises
    ------
    ValueError
        For more than 2**32 - 1 fingerprints, or numbers out of range.
    Error
        For more pairs than fit into half of the available memory.
    KeyboardInterrupt
        After Ctrl-C.

    Notes
    -----
    A self-join: the time grows little faster than the number of fingerprints, as long as few are
    near by chance.

    References
    ----------
    Manku, Jain, Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> a, b, distance = simtool.neighbours([0b0000, 0b1011, 0b0011], distance=2)
    >>> list(zip(a.tolist(), b.tolist(), distance.tolist()))
    [(0, 2, 2), (1, 2, 1)]
    """
    bits = min(whole("distance", distance), 64), whole("width", width)
    data = _simtool.neighbours(fingerprint_bytes(fingerprints), *bits, threads_of(threads))
    first, second, distances = data
    return array(first, "<u4"), array(second, "<u4"), array(distances, "u1")


def fingerprint_bytes(fingerprints: Any) -> bytes:
    """Fingerprints as little-endian numbers of 64 bits."""
    if hasattr(fingerprints, "to_numpy"):
        fingerprints = fingerprints.to_numpy()
    if hasattr(fingerprints, "astype") and hasattr(fingerprints, "tobytes"):
        if fingerprints.dtype.kind not in "ui" or fingerprints.ndim != 1:
            raise ValueError(
                "fingerprints: expected integers of at most 64 bits, in one dimension and without nulls"
            )
        # A narrow negative number has no further bits.
        bits = fingerprints.astype(f"<u{fingerprints.dtype.itemsize}", copy=False)
        return bytes(bits.astype("<u8", copy=False).tobytes())
    from array import array as numbers

    try:
        values = numbers("Q", fingerprints)
    except OverflowError as error:
        raise ValueError(f"fingerprints: {error}") from None
    import sys

    if sys.byteorder == "big":
        values.byteswap()
    return values.tobytes()


def methods() -> list[dict[str, Any]]:
    """List the methods of the registry.

    Returns
    -------
    list of dict
        ``name``, ``summary``, ``description`` (with sources), ``measured`` (costs) and
        ``parameters``: a list of dictionaries with ``name``, ``default``, ``meaning`` and
        ``domain``.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> simtool.methods()[0]["name"]
    'simhash'
    """
    return _simtool.methods()
