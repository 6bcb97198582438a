"""The settings of a job, and the check that an interrupted one is the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import functions as F
from pyspark.sql import types as T

from simtool_dedup import _simtool
from simtool_dedup._flags import joined, whole
from simtool_dedup.spark._engine import Engine


def method_text(
    method: str | None,
    bits: int | None,
    distance: int | None,
    features: int | None,
    weights: str | None,
    keep_stop_words: bool,
    recall: float | None,
) -> str | None:
    """A method with its parameters, as the flags of the command add them."""
    parameters: list[tuple[str, Any]] = [
        ("bits", bits),
        ("distance", distance),
        ("features", features),
        ("recall", recall),
    ]
    if weights is not None:
        name, _, top = weights.partition(":")
        parameters += [("weights", name), ("top", top or None)]
    if keep_stop_words:
        parameters.append(("stop-words", "keep"))
    given = ",".join(f"{name}={value}" for name, value in parameters if value is not None)
    if not given:
        return method
    name = method or "minhash"
    return name + ("," if ":" in name else ":") + given


def task_settings(
    *,
    method: str | None,
    similarity: float | None,
    shingle: int | None,
    keep: str | Sequence[str] | None,
    within: str | None,
    cluster: str | None,
    against_only: bool,
    tokenizer: str | None,
    stop_words: Iterable[str] | None,
    html: str | None,
    max_document: int | None,
) -> dict[str, Any]:
    """The settings of the tasks; those of the command's defaults are left out."""
    if cluster not in (None, "star", "components"):
        raise ValueError(f"cluster {cluster!r}: expected star or components")
    if isinstance(similarity, str):
        raise ValueError(
            f"similarity {similarity!r}: a cluster compares whole documents only, so expected a share "
            "(the command has containment)"
        )
    if isinstance(stop_words, str):
        raise TypeError("stop_words: expected words, not a text")
    settings: dict[str, Any] = {
        "method": method,
        "similarity": similarity,
        "shingle": shingle,
        "keep": joined(keep),
        "within": within,
        "tokenizer": tokenizer,
        "stop_words": None if stop_words is None else "\n".join(stop_words),
        "html": html,
        "max_document": max_document,
        "components": True if cluster == "components" else None,
        "against_only": True if against_only else None,
    }
    return {name: value for name, value in settings.items() if value is not None}


def copies_of(keep_copies: int, keep: str | Sequence[str] | None, has_against: bool) -> int:
    """The documents of each cluster that stay; refuses what the command refuses."""
    keeps_none = keep == "none"
    if whole("keep_copies", keep_copies) < 1:
        raise ValueError(f"keep_copies {keep_copies}: expected at least 1")
    if keeps_none and keep_copies > 1:
        raise ValueError("keep none keeps no copy, so it cannot be combined with keep_copies")
    if has_against and keeps_none:
        raise ValueError("keep none needs an input that is compared with itself, not with others")
    if has_against and keep_copies > 1:
        raise ValueError(
            "keep_copies counts the copies within the input, so it cannot be combined with documents "
            "to compare with, whose copies are not counted"
        )
    return 0 if keeps_none else keep_copies


def described(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What the driver has to know about settings; refuses those that are wrong."""
    found: dict[str, Any] = json.loads(_simtool.describe(json.dumps(settings)))
    return found


WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
NUMBERS = (*WHOLE, T.FloatType, T.DoubleType, T.DecimalType)


class Columns:
    """The columns of a frame of documents."""

    def __init__(
        self,
        text: str,
        id: str,
        url: str | None,
        date: str | None,
        order: str | None,
        description: Mapping[str, Any],
    ) -> None:
        """Names of columns; dots lead into nested ones. ``description``: as :func:`described`."""
        self.text = text
        self.id = id
        self.url = url
        self.date = date
        self.order = order
        self.fields: Sequence[str | None] = description["fields"]
        self.groups: Sequence[str] = description["group_fields"]
        # The language of a document without such a column is detected.
        self.needs_groups = not description["groups_by_language"]
        self.groups_by_site = description["groups_by_site"]

    def key(self, frame: Any) -> Any:
        """The column that identifies a document, and that decides which comes first."""
        name = self.order or self.id
        found = frame.select(F.col(name).alias("key")).schema["key"].dataType
        column = F.col(name)
        return column.cast("long") if isinstance(found, WHOLE) else column

    def check(self, frame: Any, setting: str) -> None:
        """Refuse a frame without these columns."""
        top = set(frame.columns)
        named = [("text", self.text), ("id", self.id), ("url", self.url), ("date", self.date)]
        named += [("order", self.order), *(("keep", field) for field in self.fields)]
        if self.needs_groups:
            named += [("within", field) for field in self.groups]
        for what, name in named:
            if name is not None and name not in top and name.split(".")[0] not in top:
                columns = ", ".join(frame.columns)
                raise ValueError(f"{what} {name!r}: there is no such column; {setting} has {columns}")
        self.of_groups(frame)

    def of_groups(self, frame: Any) -> list[Any]:
        """The columns that say to which groups documents belong."""
        found = []
        for place, field in enumerate(self.groups):
            if field in frame.columns or self.needs_groups:
                kind = frame.select(F.col(field).alias("g")).schema["g"].dataType
                if not isinstance(kind, (*NUMBERS, T.StringType, T.BooleanType)):
                    raise ValueError(
                        f"within {field!r}: the column has the type {kind.simpleString()}, expected "
                        "strings, numbers or booleans (cast it)"
                    )
                found.append(F.col(field).cast("string").alias(f"g{place}"))
        return found

    def documents(self, frame: Any) -> Any:
        """The columns that the step ``sketch`` reads."""
        columns = [
            self.key(frame).alias("doc"),
            F.col(self.id).cast("string").alias("id"),
            F.col(self.text).alias("text"),
        ]
        for name, column in (("url", self.url), ("date", self.date)):
            if column is not None:
                columns.append(F.col(column).cast("string").alias(name))
        for place, field in enumerate(self.fields):
            if field is not None:
                kind = frame.select(F.col(field).alias("f")).schema["f"].dataType
                to = "double" if isinstance(kind, NUMBERS) else "string"
                columns.append(F.col(field).cast(to).alias(f"f{place}"))
        return frame.select(*columns, *self.of_groups(frame))

    def texts(self, frame: Any) -> Any:
        """The columns that the step ``sets`` reads."""
        columns = [self.key(frame).alias("key"), F.col(self.text).alias("text")]
        if self.groups_by_site:
            columns.append(F.col(self.url).cast("string").alias("url"))
        return frame.select(*columns, *self.of_groups(frame))


def check_same(engine: Engine, job: dict[str, Any]) -> None:
    """Record the job, or refuse another one in the same work directory."""
    engine.resume()
    earlier = engine.done.get("job")
    if earlier is None:
        if engine.done:
            raise ValueError(f"work {engine.work!r}: the record of its job is missing: use another one")
        engine.finish("job", job)
        return
    differences = [
        f"{name}: {shown(earlier.get(name))} there, {shown(job.get(name))} here"
        for name in sorted({*earlier, *job})
        if earlier.get(name) != job.get(name)
    ]
    if differences:
        raise ValueError(
            f"work {engine.work!r} has another job ({'; '.join(differences)}): "
            "give the same settings and inputs, or another directory"
        )


def shown(value: Any) -> str:
    """A value of a job in a message, not too long."""
    text = json.dumps(value)
    return text if len(text) <= 200 else text[:200] + "…"


def input_identity(frame: Any) -> dict[str, Any]:
    """What is known of a frame without reading it."""
    identity: dict[str, Any] = {"schema": frame.schema.simpleString()}
    try:
        files = sorted(frame.inputFiles())
    except Exception:  # Not every engine knows.
        files = []
    if files:
        identity["files"] = len(files)
        identity["first_file"], identity["last_file"] = files[0], files[-1]
    return identity
