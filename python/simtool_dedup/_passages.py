"""Searches for passages: what lines, spans and decontaminate have in common."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simtool_dedup._data import Rows, paths_of
from simtool_dedup._flags import threads_of
from simtool_dedup._options import file_options
from simtool_dedup._passage_files import PassageFiles
from simtool_dedup._passage_result import PassageResult
from simtool_dedup._progress import watching
from simtool_dedup._run import called, of_files, others_setting, row_flags, written
from simtool_dedup._scratch import temporary_directory
from simtool_dedup._simtool import PassageRows
from simtool_dedup._typing import ColumnName

COMMON = (
    "tokenizer",
    "action",
    "min_words",
    "min_sentences",
    "html",
    "max_document",
    "memory",
)
"""Settings that every command has, besides the number of threads."""
DIRECTORIES = {"cut": "cut", "mask": "masked"}
"""The directories of the texts that an action changes."""


def run(
    command: str,
    own: dict[str, Any],
    given: Mapping[str, Any],
    reference_text: ColumnName | Sequence[str] | None = None,
    reference_ids: str | None = None,
) -> PassageResult[Any, Any] | PassageFiles:
    """Run a command on files or on rows, with its own settings and those that all of them have."""
    options = own | {name: given[name] for name in COMMON}
    options["threads"] = threads_of(given["threads"])
    columns = {name: given[name] for name in ("text", "ids", "url")}
    data, others, temp_dir = (given[name] for name in ("data", "against", "temp_dir"))
    paths = paths_of(data)
    files = file_options(given["files"], paths is not None)
    with temporary_directory(temp_dir) as directory, watching(given["progress"]) as watch:
        if "remove_listed" in options:
            options["remove_listed"] = list_file(options["remove_listed"], directory)
        if paths is not None:
            options |= {**files.options(command), "temp_dir": temp_dir}
            options["reference_text"] = as_list(reference_text)
            options["reference_ids"] = reference_ids
            found = of_files(command, paths, columns, others, files.output, options, watch)
            return PassageFiles(found, command)
        if reference_ids is not None:
            raise ValueError("reference_ids: has an effect on files only, and the data are rows")
        if reference_text is not None and not isinstance(reference_text, (str, int)):
            raise ValueError(
                "reference_text: the data are rows, so expected one column (join several in the frame)"
            )
        text = columns["text"] if reference_text is None else reference_text
        of_others = {**columns, "text": text}
        if command == "decontaminate":
            # The id and the URL of an item are not those of a text.
            of_others |= {"ids": None, "url": None}
        return of_rows(command, (data, columns), (others, of_others), options, directory, watch)


def as_list(texts: ColumnName | Sequence[str] | None) -> Sequence[Any] | None:
    """A text or several as a list."""
    return [texts] if isinstance(texts, (str, int)) else texts


def words(length: str | int | None) -> str | int | None:
    """A length; a number is one of words."""
    return f"{length}w" if isinstance(length, int) and not isinstance(length, bool) else length


def of_rows(
    command: str,
    data: tuple[Any, Mapping[str, Any]],
    others: tuple[Any, Mapping[str, Any]],
    options: dict[str, Any],
    directory: Path,
    watch: Any,
) -> PassageResult[Any, Any]:
    """Write rows, and those to compare with, to files, and run a command on them.

    ``data`` and ``others`` have rows and the names of their columns.
    """
    threads = options["threads"]
    changed = DIRECTORIES.get(str(options["action"]))
    rows, path = written(*data, (), directory, "rows", threads)
    if changed is not None:
        rows.check_replaceable(options["action"])
    other_rows, other_path = None, None
    name = others_setting(command)
    if others[0] is not None:
        if paths_of(others[0]) is not None:
            raise ValueError(f"{name}: the data are rows, so expected rows (read the file as a frame)")
        fields = [options["answer"]] if options.get("answer") else []
        other_rows, other_path = written(*others, fields, directory, name, threads)
        options[name] = [other_path]
    out = directory / "out"
    options |= {**row_flags(rows), "date": None, "output": out, "no_page": True}
    summary = called(command, options, path, watch)
    found = PassageRows(
        command,
        out,
        path,
        len(rows),
        other_path,
        # Nothing is written for a file without rows.
        None if changed is None else next((out / changed).rglob("rows.jsonl"), None),
        options["html"],
        rows.id_column(),
        other_rows.id_column() if other_rows is not None else None,
    )
    return PassageResult(rows, other_rows, found, summary)


def list_file(listed: Any, directory: Path) -> str | None:
    """The path of a list of units; those of an object are written to a file."""
    paths = None if listed is None else paths_of(listed)
    if listed is None or paths is not None:
        if paths is not None and len(paths) > 1:
            raise ValueError("remove_listed: expected a single list")
        return paths[0] if paths else None
    rows = Rows(listed)
    path = directory / "listed.jsonl"
    with path.open("x", encoding="utf-8") as file:
        for row in range(len(rows)):
            unit = rows.text_of(row)
            if isinstance(unit, bytes):
                unit = unit.decode(errors="replace")
            file.write(json.dumps({"text": unit}) + "\n")
    return str(path)
