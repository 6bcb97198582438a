"""The settings of functions: their choices, those of files, and names that they had before."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NewType, TypeAlias, TypedDict

from simtool_dedup._flags import joined
from simtool_dedup._typing import ColumnName, Path

Choice = NewType("Choice", str)
"""A choice with a name or a number in it, for type checkers: ``keep=Choice("field:score")``.

At run time, the plain ``str`` is the same.
"""

Keep: TypeAlias = (
    Literal["first", "longest", "most-shingles", "newest", "shortest-url", "none"] | Choice
)
Within: TypeAlias = Literal["global", "site", "language", "source", "extension"] | Choice
Cluster: TypeAlias = Literal["star", "components"]
Tokenizer: TypeAlias = Literal[
    "auto", "ascii", "unicode", "chars", "code", "code-and-comments"
]
Html: TypeAlias = Literal["main", "visible", "markup"]
Action: TypeAlias = Literal["mark", "cut", "mask"] | Choice
Unit: TypeAlias = Literal["line", "paragraph"] | Choice
Normalize: TypeAlias = Literal["form", "case", "digits", "spaces", "none"]
KeepPassage: TypeAlias = Literal["first", "none"]
Snap: TypeAlias = Literal["word", "sentence", "line", "none"]
Profile: TypeAlias = Literal["gpt3", "lm-eval", "olmo"]
Weights: TypeAlias = Literal["tf", "log-tf", "once"]
Layout: TypeAlias = Literal["fast", "compact"]
Payload: TypeAlias = Literal["url", "date", "url,date", "none"]
Purpose: TypeAlias = Literal["dedup", "match", "index"]
Write: TypeAlias = Literal["none", "ids", "kept", "annotated", "text", "removed"]
WriteFormat: TypeAlias = Literal["input", "jsonl", "jsonl.gz", "jsonl.zst", "parquet"]
InputFormat: TypeAlias = Literal[
    "form-feed", "whole-file", "html", "jsonl", "warc", "arc", "parquet"
]
StopWords: TypeAlias = str | os.PathLike[str] | Iterable[str]
Size: TypeAlias = str | int


class RunOptions(TypedDict, total=False):
    """The settings that all searches have."""

    text: ColumnName | None
    ids: ColumnName | None
    url: ColumnName | None
    tokenizer: Tokenizer | None
    html: Html | None
    max_document: Size | None
    threads: int | None
    memory: Size | None
    temp_dir: Path | None
    progress: bool | None


class DedupOptions(RunOptions, total=False):
    """The settings of :func:`dedup`."""

    date: ColumnName | None
    method: str | None
    similarity: float | Choice | None
    shingle: int | None
    keep: Keep | Sequence[Keep] | None
    within: Within | None
    keep_copies: int | None
    cluster: Cluster | None
    against: Any
    against_only: bool
    stop_words: StopWords | None
    refused: bool
    refuse_above: Size | float | None


class PassageOptions(RunOptions, total=False):
    """The settings that :func:`lines`, :func:`spans` and :func:`decontaminate` have."""

    action: Action
    min_words: int | None
    min_sentences: int | None


class LinesOptions(PassageOptions, total=False):
    """The settings of :func:`lines`."""

    unit: Unit | None
    normalize: Normalize | Sequence[Normalize] | None
    above: int | None
    in_documents: int | None
    within: Within | None
    keep: KeepPassage | None
    against: Any
    remove_listed: Any
    max_listed: int | None


class SpansOptions(PassageOptions, total=False):
    """The settings of :func:`spans`."""

    min_length: Size | None
    keep: KeepPassage | None
    snap: Snap | None
    against: Any
    max_listed: int | None


class DecontaminateOptions(PassageOptions, total=False):
    """The settings of :func:`decontaminate`."""

    reference_text: ColumnName | Sequence[str] | None
    reference_ids: str | None
    profile: Profile | None
    min_length: Size | None
    min_item: Size | None
    edited: float | Literal["none"] | None
    min_share: float | None
    max_gap: int | None
    answer: str | None
    answer_within: Size | None
    max_documents: int | None
    around: int | None
    min_piece: int | None
    max_pieces: int | None


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How files are read, and what is written: the argument ``files``, if the data are paths.

    Attributes
    ----------
    output : path, optional
        The directory of the output, in which an interrupted run is resumed. By default a temporary one,
        which is removed with the result.
    write : {"none", "ids", "kept", "annotated", "text", "removed"}, optional
        Of :func:`dedup`: what is written besides the reports; ``"removed"`` also together with another
        one, as ``("kept", "removed")``.
    write_format : {"input", "jsonl", "jsonl.gz", "jsonl.zst", "parquet"}, optional
        How documents are written: a file for each input, or one stream of records, cut into shards.
    shard_size : int or str, default "1G"
        Bytes of a shard, before compression.
    shard_name, source_field, guess_language, skipped, compression_level, restart, include, exclude
        As the flags of the command.
    pairs : {"csv", "parquet"} or a sequence of them, optional
        Of :func:`dedup`: further forms of the list of pairs.
    min_sources : int, optional
        Of :func:`dedup`, 2 or more: a document is kept only if its cluster has documents from at least
        this number of input files.
    page : bool, default True
        Whether ``page.html`` is written.
    input_format : str, optional
        The format of all inputs, ``--format`` of the command; by default it is detected.
    """

    output: Path | None = field(default=None, kw_only=False)
    write: Write | Sequence[Write] | None = None
    write_format: WriteFormat | None = None
    shard_size: Size | None = None
    shard_name: str | None = None
    source_field: str | None = None
    guess_language: bool = False
    skipped: Literal["keep", "drop"] | None = None
    compression_level: int | None = None
    pairs: Literal["csv", "parquet"] | Sequence[Literal["csv", "parquet"]] | None = None
    min_sources: int | None = None
    page: bool = True
    restart: bool = False
    input_format: InputFormat | None = None
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def options(self, command: str) -> dict[str, Any]:
        """The settings besides ``output``, by the flags of the command.

        Raises
        ------
        ValueError
            For settings that the command does not have.
        """
        found = {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}
        del found["output"]
        own = {name: found.pop(name) for name in ("write", "pairs", "min_sources")}
        if command == "dedup":
            found |= {**own, "write": joined(self.write), "pairs": joined(self.pairs)}
        elif name := next((name for name, value in own.items() if value is not None), None):
            raise ValueError(f"files: {name} has an effect on dedup only")
        found["no_page"] = not found.pop("page")
        return found | {"include": list(self.include), "exclude": list(self.exclude)}


def file_options(files: FileOptions | None, are_paths: bool) -> FileOptions:
    """The settings of files; refuses them if the data are rows."""
    if files is not None and not isinstance(files, FileOptions):
        raise TypeError(f"files: expected FileOptions, found {type(files).__name__}")
    if files is not None and not are_paths:
        raise ValueError("files: has an effect on files only, and the data are rows")
    return files or FileOptions()


FILE_NAMES = {
    **{one.name: f"files=FileOptions({one.name}=...)" for one in dataclasses.fields(FileOptions)},
    "format": "files=FileOptions(input_format=...)",
}
METHOD_NAMES = {
    **{name: f'method="simhash:{name}=..."' for name in ("bits", "distance", "features", "weights")},
    "keep_stop_words": 'method="simhash:stop-words=keep"',
    "recall": 'method="minhash:recall=..."',
}
OLD_NAMES = {
    "id": "ids=",
    "list": "max_listed=",
    "min": "min_length=",
    "reference_id": "reference_ids=",
    "answer_field": "answer=",
}
"""Names of arguments before, with what takes their place."""


def refuse_old_names(function: str, given: Mapping[str, Any], names: Mapping[str, str] = {}) -> None:
    """Refuse arguments that a function does not have.

    Raises
    ------
    TypeError
        For each of ``given``. It has the new name of an argument that was renamed.
    """
    for name in given:
        new = {**OLD_NAMES, **names}.get(name)
        if new is not None:
            raise TypeError(f"{function}: the argument {name} is {new} now")
        raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
