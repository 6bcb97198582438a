"""Keyword arguments as flags of the command."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


NAMES = {
    "answer": "answer-field",
    "date": "date-field",
    "ids": "id-field",
    "input_format": "format",
    "max_listed": "list",
    "min_length": "min",
    "purpose": "for",
    "reference_ids": "reference-id-field",
    "reference_text": "reference-field",
    "text": "text-field",
    "url": "url-field",
}
"""Flags whose names are not those of the arguments."""
SWITCHES = {
    "against_only",
    "closed_world",
    "contained",
    "guess_language",
    "keep_stop_words",
    "listed_only",
    "no_page",
    "noise",
    "planted",
    "quiet",
    "refused",
    "restart",
}
"""Flags without a value."""


def flags(options: Mapping[str, object]) -> list[str]:
    """The flags of ``options``; those that are ``None``, and switches that are off, are left out.

    A list or a tuple repeats its flag.
    """
    words = []
    for name, value in options.items():
        flag = "--" + NAMES.get(name, name.replace("_", "-"))
        if value is None:
            continue
        if name in SWITCHES:
            if value:
                words.append(flag)
        elif isinstance(value, bool):
            raise TypeError(f"{name}: expected a value, found {value}")
        elif isinstance(value, (list, tuple)):
            words.extend(flag + "=" + word(item) for item in value)
        else:
            words.append(flag + "=" + word(value))
    return words


def word(value: object) -> str:
    """A value as the command reads it."""
    if isinstance(value, (str, bytes, os.PathLike)):
        return os.fsdecode(value)
    if isinstance(value, float):
        return repr(float(value))
    return str(value)


def whole(name: str, value: Any) -> int:
    """A whole number that is not negative."""
    try:
        number = operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{name}: expected a whole number, found {kind}") from None
    if number < 0:
        raise ValueError(f"{name} {number}: expected a whole number from 0 on")
    return number


def threads_of(value: Any) -> int | None:
    """A number of threads, or ``None``."""
    return None if value is None else whole("threads", value)


def joined(value: str | Iterable[str] | None) -> str | None:
    """A text, or several texts separated by commas."""
    if value is None or isinstance(value, str):
        return value
    return ",".join(value) or None


def stop_word_file(words: str | os.PathLike[str] | Iterable[str] | None, directory: Path) -> str | None:
    """The path of a file of stop words; words themselves are written to one in ``directory``."""
    if words is None or isinstance(words, (str, os.PathLike)):
        return None if words is None else os.fspath(words)
    path = directory / "stop-words.txt"
    path.write_text("\n".join(words) + "\n", encoding="utf-8")
    return str(path)
