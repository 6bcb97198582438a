"""Measurement of methods on the user's texts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from simtool_dedup import _simtool
from simtool_dedup._data import ID, Rows, paths_of
from simtool_dedup._flags import flags, stop_word_file
from simtool_dedup._options import Html, Purpose, Size, StopWords, Tokenizer, refuse_old_names
from simtool_dedup._progress import watching
from simtool_dedup._run import called, field_of, row_flags, row_path
from simtool_dedup._scratch import temporary_directory
from simtool_dedup._typing import ColumnName

Truth = str | os.PathLike[str] | Iterable[tuple[Any, ...]]


def evaluate(
    data: Any,
    *,
    pairs: Truth | None = None,
    clusters: Truth | None = None,
    planted: bool = False,
    text: ColumnName | None = None,
    ids: ColumnName | None = None,
    method: str | Sequence[str] = (),
    sweep: str | Sequence[str] = (),
    matches: Sequence[str | os.PathLike[str]] = (),
    listed_only: bool = False,
    closed_world: bool = False,
    copied: int | None = None,
    seed: int | None = None,
    precision: float | None = None,
    mistakes: int | None = None,
    draws: int | None = None,
    output: str | os.PathLike[str] | None = None,
    tokenizer: Tokenizer | None = None,
    stop_words: StopWords | None = None,
    html: Html | None = None,
    threads: int | None = None,
    memory: Size | None = None,
    progress: bool | None = None,
    **old: Any,
) -> dict[str, Any]:
    """Measure how well methods find the near-duplicates of your texts.

    Parameters
    ----------
    data : frame, list, iterable or path
        As for :func:`dedup`. Ids of rows are their numbers if there is no column of ids, and no index of
        pandas with a name.
    pairs : path or iterable of (id, id, label)
        The truth: labelled pairs. A label is 1, or 0 for a pair that should not be found.
    clusters : path or iterable of (id, cluster)
        The truth: clusters.
    planted : bool, default False
        Without a truth: make copies of known strength of some texts.
    text, ids : str, optional
        Columns or fields.
    method : str or sequence of str, optional
        Methods, with their parameters.
    sweep : str or sequence of str, optional
        Values of parameters to try, such as ``"distance=2,4,8"``.
    matches : sequence of paths, optional
        Results of other tools, to be scored.
    listed_only, closed_world, copied, seed, precision, mistakes, draws
        As the flags of ``simtool evaluate``.
    output : path, optional
        A directory for the report: a page for a browser, JSON and CSV.
    tokenizer, stop_words, html, threads, memory, progress
        As for :func:`dedup`.

    Returns
    -------
    dict
        What ``simtool evaluate --json`` prints: for each method its counts, precision, recall and
        cost, with intervals.

    Raises
    ------
    ValueError, TypeError, OSError, Error
        As :func:`dedup`.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> texts = [" ".join(f"w{row * 7 + word}" for word in range(60)) for row in range(30)]
    >>> found = simtool.evaluate(texts, planted=True, copied=5, method="simhash", draws=0)
    >>> found["methods"][0]["name"]
    'simhash'
    """
    refuse_old_names("evaluate", old)
    options = {
        "planted": planted,
        "method": as_list(method),
        "sweep": as_list(sweep),
        "matches": [os.fspath(path) for path in matches],
        "listed_only": listed_only,
        "closed_world": closed_world,
        "copied": copied,
        "seed": seed,
        "precision": precision,
        "mistakes": mistakes,
        "draws": draws,
        "output": output,
        "tokenizer": tokenizer,
        "html": html,
        "threads": threads,
        "memory": memory,
    }
    truth = {"pairs": pairs, "clusters": clusters}
    return call("evaluate", data, text, ids, truth, stop_words, options, progress)


def tune(
    data: Any,
    *,
    pairs: Truth | None = None,
    clusters: Truth | None = None,
    planted: bool = False,
    purpose: Purpose = "dedup",
    noise: bool = False,
    contained: bool = False,
    aligned: float | None = None,
    precision: float | None = None,
    text: ColumnName | None = None,
    ids: ColumnName | None = None,
    method: str | Sequence[str] = (),
    sweep: str | Sequence[str] = (),
    closed_world: bool = False,
    copied: int | None = None,
    seed: int | None = None,
    tokenizer: Tokenizer | None = None,
    stop_words: StopWords | None = None,
    html: Html | None = None,
    threads: int | None = None,
    memory: Size | None = None,
    progress: bool | None = None,
    **old: Any,
) -> dict[str, Any]:
    """Recommend a tokenizer, a method and a threshold for a wanted precision.

    Parameters
    ----------
    data, pairs, clusters, planted, text, ids, method, sweep
        As for :func:`evaluate`.
    purpose : {"dedup", "match", "index"}, default "dedup"
        The command for which a setting is wanted, ``--for`` of the command.
    noise : bool, default False
        Also plant copies with wrong characters, as of OCR.
    contained : bool, default False
        A text that is part of a longer one is a duplicate of it.
    aligned : float, optional
        The least share of the words of the longer text that a duplicate has in the same order. The
        default is 0.8, or 0.5 for ``"match"``.
    precision : float, default 0.99
        The least share of proposed pairs that must be right.
    closed_world, copied, seed
        As the flags of ``simtool tune``.
    tokenizer, stop_words, html, threads, memory, progress
        As for :func:`dedup`.

    Returns
    -------
    dict
        ``flags``: the arguments of :func:`dedup` (or the ``method`` and ``tokenizer`` of another
        function) that are recommended, or None; ``measured``: recall, by label too, and cost with
        these; ``precision_shown``: whether the judged pairs are enough to show the wanted precision;
        ``recommended``: settings, the best first, with ``tokenizer``, ``method``, ``recall``,
        ``proposed`` and costs; ``left_out``: the others, with a ``reason``; and the counts.

    Raises
    ------
    ValueError, TypeError, OSError, Error
        As :func:`dedup`.

    Examples
    --------
    >>> import simtool_dedup as simtool
    >>> texts = [" ".join(f"w{row * 7 + word}" for word in range(60)) for row in range(30)]
    >>> found = simtool.tune(texts, planted=True, copied=5)
    >>> found["documents"], found["measured"]["recall"]["value"] > 0.5
    (30, True)
    >>> result = simtool.dedup(texts, **found["flags"])
    """
    refuse_old_names("tune", old)
    options = {
        "planted": planted,
        "purpose": purpose,
        "noise": noise,
        "contained": contained,
        "aligned": aligned,
        "precision": precision,
        "method": as_list(method),
        "sweep": as_list(sweep),
        "closed_world": closed_world,
        "copied": copied,
        "seed": seed,
        "tokenizer": tokenizer,
        "html": html,
        "threads": threads,
        "memory": memory,
    }
    truth = {"pairs": pairs, "clusters": clusters}
    return call("tune", data, text, ids, truth, stop_words, options, progress)


def as_list(value: str | Sequence[str]) -> list[str]:
    """A text or several as a list."""
    return [value] if isinstance(value, str) else list(value)


def call(
    command: str,
    data: Any,
    text: ColumnName | None,
    ids: ColumnName | None,
    truth: dict[str, Truth | None],
    stop_words: StopWords | None,
    options: dict[str, Any],
    progress: bool | None,
) -> dict[str, Any]:
    """Run a command on rows or files, with its truth in files."""
    with temporary_directory() as directory, watching(progress) as watch:
        options["stop_words"] = stop_word_file(stop_words, directory)
        for kind, listed in truth.items():
            options[kind] = truth_file(kind, listed, directory)
        paths = paths_of(data)
        if paths is None:
            rows = Rows(data, text, ids, writes_ids=True)
            path = row_path(directory)
            columns = rows.columns(rows.ids or ID)
            _simtool.write_rows(rows.rows, path, columns, options["threads"])
            return called(command, options | row_flags(rows), path, watch)
        fields = {"text": field_of("text", text), "ids": field_of("ids", ids)}
        words = flags({**options, **fields})
        found: dict[str, Any] = json.loads(
            _simtool.call([command, "--quiet", *words, "--", *paths], watch)
        )
        return found


def truth_file(kind: str, truth: Truth | None, directory: Path) -> str | None:
    """The path of a truth; rows of one are written to a file."""
    if truth is None or isinstance(truth, (str, os.PathLike)):
        return None if truth is None else os.fspath(truth)
    lines = ["\t".join(str(value) for value in row) for row in truth]
    head = ["a\tb\tlabel"] if kind == "pairs" else []
    path = directory / f"{kind}.tsv"
    path.write_text("\n".join(head + lines) + "\n", encoding="utf-8")
    return str(path)
