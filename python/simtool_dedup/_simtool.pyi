from collections.abc import Callable, Sequence
from typing import Any, Literal, final

__all__ = [
    "Error",
    "RowResult",
    "SeenIndex",
    "Table",
    "__version__",
    "call",
    "explain",
    "main",
    "methods",
    "minhashes",
    "neighbours",
    "page_text",
    "read_answers",
    "read_report",
    "shared_shingles",
    "shingle_sets",
    "sketches",
    "text_at",
    "write_rows",
]

__version__: str

_Watch = Callable[[str, int, int], None]
_Path = Any

class Error(Exception): ...

def main(words: Sequence[str]) -> int: ...
def call(words: Sequence[str], watch: _Watch | None = None) -> bytes: ...
def write_rows(
    data: Table | list[Any], path: _Path, columns: dict[str, Any], threads: int | None = None
) -> None: ...
def shared_shingles(
    a: str | bytes, b: str | bytes, shingle: int | None = None, tokenizer_name: str | None = None
) -> tuple[int, int]: ...
def explain(
    a: str | bytes,
    b: str | bytes,
    similarity: float = 0.8,
    shingle: int | None = None,
    distance: int = 6,
    recall: float = 0.95,
    method: Sequence[str] = ...,
    keep_stop_words: bool = False,
    tokenizer_name: str | None = None,
    width: int = 100,
) -> tuple[str, str, list[str]]: ...
def neighbours(
    fingerprints: bytes, distance: int, width: int = 64, threads: int | None = None
) -> tuple[bytes, bytes, bytes]: ...
def page_text(text: str | bytes, html: str | None = None) -> bytes: ...
def methods() -> list[dict[str, Any]]: ...
def minhashes(
    data: Table | list[Any],
    path: str,
    count: int,
    shingle: int,
    tokenizer_name: str | None = None,
    threads: int | None = None,
) -> bytes: ...
def shingle_sets(
    data: Table | list[Any],
    path: str,
    width: int,
    tokenizer_name: str | None = None,
    threads: int | None = None,
) -> tuple[bytes, list[int]]: ...
def sketches(
    data: Table | list[Any],
    path: str,
    method: str,
    tokenizer_name: str | None = None,
    threads: int | None = None,
) -> tuple[bytes, int | None, int | None, list[int]]: ...
def read_report(
    out: _Path, name: Literal["duplicates", "refused", "clusters", "skipped"]
) -> Table: ...
def read_answers(lines: bytes, skipped: bytes) -> Table: ...
def text_at(
    path: _Path,
    member: int | None,
    start: int,
    text_field: str,
    html: str | None = None,
    format: str | None = None,
) -> bytes: ...

@final
class Table:
    def __new__(cls, data: Any, /) -> Table: ...
    def __len__(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def __arrow_c_stream__(self, requested_schema: Any | None = None) -> Any: ...
    def filter(self, mask: bytes) -> Table: ...
    def take(self, rows: Sequence[int]) -> Table: ...
    def check(self, setting: str, path: str) -> None: ...
    def text(self, path: str, row: int) -> str | None: ...
    def value(self, path: str, row: int) -> Any: ...
    def first_missing(self, path: str) -> int | None: ...
    def column(self, path: str) -> list[Any]: ...
    def to_pylist(self) -> list[dict[str, Any]]: ...

@final
class RowResult:
    def __new__(
        cls,
        out: _Path,
        data: str,
        rows: int,
        ids: tuple[Table, str] | None = None,
        against: tuple[Table, str] | None = None,
        refused: bool = False,
    ) -> RowResult: ...
    def mask(self) -> bytes: ...
    def counts(self) -> tuple[int, int, int]: ...
    def duplicates(self) -> Table: ...
    def refused(self) -> Table | None: ...
    def are_against(self, name: Literal["duplicates", "refused", "clusters"]) -> bytes: ...
    def clusters(self) -> Table: ...
    def skipped(self) -> Table: ...
    def least_similar(self, count: int) -> list[int]: ...
    def pair(self, number: int) -> dict[str, Any]: ...
    def at(self, similarity: float) -> RowResult: ...

@final
class SeenIndex:
    @staticmethod
    def open(
        directory: _Path, read_only: bool = False, similarity: float | None = None
    ) -> SeenIndex: ...
    @staticmethod
    def create(directory: _Path, new: dict[str, Any]) -> SeenIndex: ...
    @staticmethod
    def build(
        directory: _Path,
        source: dict[str, Any],
        new: dict[str, Any],
        payload: str | None = None,
        watch: _Watch | None = None,
    ) -> tuple[SeenIndex, bytes]: ...
    def process(
        self,
        source: dict[str, Any],
        adds: bool,
        limit: int = 10,
        payload: str | None = None,
        watch: _Watch | None = None,
    ) -> tuple[bytes, bytes]: ...
    def query_text(self, text: str | bytes, limit: int = 10) -> tuple[str, str]: ...
    def remove(self, ids: Sequence[str]) -> list[bool]: ...
    def has(self, id: str) -> bool: ...
    def documents(self) -> int: ...
    def facts(self) -> dict[str, Any]: ...
    def compact(self) -> None: ...
    def close(self) -> None: ...
    def is_closed(self) -> bool: ...

@final
class SparkTask:
    """A step of one task."""

    def __new__(cls, name: str, settings: str, extra: bytes | None = None) -> SparkTask: ...
    def push(self, batch: Any) -> None: ...
    def end(self) -> None: ...
    def take(self) -> Table | None: ...

@final
class FileDocuments:
    """The documents of a file as batches."""

    def take(self) -> Table | None: ...

def describe(settings: str) -> str: ...
def read_file(
    path: str,
    name: str,
    file: int,
    format: str | None,
    text_field: str,
    id_field: str,
    url_field: str,
    date_field: str,
    html: str | None,
) -> FileDocuments: ...
