"""Runs of the command, on files and on rows."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from simtool_dedup import _simtool
from simtool_dedup._data import ID, Rows, is_address, path_text, paths_of
from simtool_dedup._flags import flags
from simtool_dedup._scratch import Temporary, new_directory, removed_on_error
from simtool_dedup._simtool import Table


class FileRun(NamedTuple):
    """A finished run on files: its directory, what removes it if it is temporary, and its summary.

    A directory in an object store is a ``str``.
    """

    output: Path | str
    temporary: Temporary | None
    summary: dict[str, Any]


def of_files(
    command: str,
    paths: list[str],
    columns: Mapping[str, Any],
    against: Any,
    output: str | os.PathLike[str] | None,
    options: dict[str, Any],
    watch: Any,
) -> FileRun:
    """Run a command on files; without ``output``, in a temporary directory."""
    others = paths_of(against)
    name = others_setting(command)
    if against is not None and others is None:
        expected = "paths or an index" if command == "dedup" else "paths"
        raise TypeError(f"{name}: the data are files, so expected {expected}")
    options |= {setting: field_of(setting, value) for setting, value in columns.items()}
    options[name] = others
    # The commands that search for passages take no directory of temporary files.
    parent = options.pop("temp_dir") if command != "dedup" else options["temp_dir"]
    temporary = None
    if output is None:
        temporary = new_directory(parent)
        output = Path(temporary.name) / "out"
    output = path_text(output)
    words = [command, "--quiet", *flags({**options, "output": output}), "--", *paths]
    with nullcontext() if temporary is None else removed_on_error(temporary):
        summary = json.loads(_simtool.call(words, watch))
    holder = None if temporary is None else Temporary(temporary)
    return FileRun(str(output) if is_address(output) else Path(output), holder, summary)


def field_of(setting: str, name: Any) -> str | None:
    """The name of a field of a file."""
    if name is None or isinstance(name, str):
        return name
    raise TypeError(f"{setting}: expected the name of a field, a str, found {type(name).__name__}")


def local(output: Path | str, what: str) -> Path:
    """The directory of an output, which must not be in an object store."""
    if isinstance(output, Path):
        return output
    raise ValueError(
        f"{what}: the output is in an object store; download it, or read the objects below {output} "
        "with another library"
    )


def files_of(output: Path | str, directory: str, shards: Mapping[str, Any] | None) -> list[Any]:
    """The files that a run wrote below its output: ``shards`` in their order, or all."""
    if shards is None:
        found = (local(output, directory) / directory).rglob("*")
        return sorted(path for path in found if path.is_file())
    names = [shard["file"] for shard in shards["shards"]]
    if isinstance(output, Path):
        return [output / name for name in names]
    return [f"{output.rstrip('/')}/{name}" for name in names]


def others_setting(command: str) -> str:
    """The setting with the documents that a command compares with."""
    return "reference" if command == "decontaminate" else "against"


def rows_of(data: Any, columns: Mapping[str, Any], fields: Sequence[str], name: str) -> Rows:
    """Rows; errors name those that are compared with."""
    try:
        return Rows(data, **columns, fields=fields)
    except (TypeError, ValueError) as error:
        if name == "rows":
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from None


def written(
    data: Any,
    columns: Mapping[str, Any],
    fields: Sequence[str],
    directory: Path,
    name: str,
    threads: int | None,
) -> tuple[Rows, str]:
    """Write rows to a new file of ``directory``, with their numbers as ids; also its path."""
    rows = rows_of(data, columns, fields, name)
    path = row_path(directory, name)
    _simtool.write_rows(rows.rows, path, rows.columns(ID), threads)
    return rows, path


class RowInput(NamedTuple):
    """Rows as an input of a command: their name in reports, and the table with its columns.

    Rows that are no table are in the file with that name.
    """

    name: str
    table: tuple[str, Table, dict[str, Any]] | None


def given(
    data: Any,
    columns: Mapping[str, Any],
    fields: Sequence[str],
    directory: Path,
    name: str,
    threads: int | None,
) -> tuple[Rows, RowInput]:
    """Rows, with their numbers as ids, as an input of a command; rows that are no table are written."""
    rows = rows_of(data, columns, fields, name)
    if isinstance(rows.rows, Table):
        return rows, RowInput(name, (name, rows.rows, rows.columns(ID)))
    path = row_path(directory, name)
    _simtool.write_rows(rows.rows, path, rows.columns(ID), threads)
    return rows, RowInput(path, None)


def row_path(directory: Path, name: str = "rows") -> str:
    """The path of a file of rows."""
    return str(directory / f"{name}.jsonl")


def row_flags(rows: Rows) -> dict[str, Any]:
    """The flags that name the fields in a file of rows."""
    return {
        "text": "#text",
        "ids": ID,
        "url": rows.url and "#url",
        "date": rows.date and "#date",
        "input_format": "jsonl",
    }


def called(
    command: str,
    options: Mapping[str, Any],
    path: str,
    watch: Any,
    tables: Sequence[tuple[str, Table, dict[str, Any]]] = (),
) -> dict[str, Any]:
    """Run a command on rows, in a file or in a table; its result. Errors do not name the file."""
    try:
        result: dict[str, Any] = json.loads(
            _simtool.call([command, "--quiet", *flags(options), "--", path], watch, tables)
        )
    except (ValueError, OSError, _simtool.Error) as error:
        text = str(error).replace(f"{path}: ", "").replace(path, "the rows")
        raise type(error)(text) from None
    return result


def warn(summary: Mapping[str, Any]) -> None:
    """Issue the warnings of a run, of which each names its setting; for functions of the package."""
    for warning in summary["warnings"]:
        message = warning["message"].replace('text_field "#text"', "text")
        warnings.warn(message, UserWarning, stacklevel=3)
