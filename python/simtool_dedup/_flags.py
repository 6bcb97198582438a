"""Keyword arguments as flags of the command."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path


def flags(options: Mapping[str, object]) -> list[str]:
    """The flags of ``options``; those that are ``None`` or ``False`` are left out.

    A list or a tuple repeats its flag.
    """
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
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
