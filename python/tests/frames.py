"""Documents as objects of different libraries."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from conftest import need

# Real text, and what breaks formats: quotes, control characters, form feeds, other scripts.
HOSTILE = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(
    ["", "\0", '"\\\n\r\t\x0c\x1e', "\u2028\u2029\ufeff\uffff", "日本語のテキスト", "👩‍👩‍👧 ok", "{}[]"]
)

KINDS = ["list", "pyarrow", "polars", "pandas"]


def frame(kind: str, data: list[dict[str, Any]], chunk: int, text_type: str) -> Any:
    """The documents as an object of a library."""
    if kind == "list" or not data:
        return data
    names = list(data[0])
    if kind == "polars":
        polars = need("polars")
        parts = [data[at : at + chunk] for at in range(0, len(data), chunk)]
        schema = dict.fromkeys(names, polars.String) | {"score": polars.Float64}
        frames = [polars.DataFrame(part, schema=schema, orient="row") for part in parts]
        return polars.concat(frames, rechunk=False)
    if kind == "pandas":
        return need("pandas").DataFrame(data)
    arrow = need("pyarrow")
    types = {name: arrow.string() for name in names} | {"score": arrow.float64()}
    types["text"] = getattr(arrow, text_type)()
    columns = {}
    for name in names:
        values = [document[name] for document in data]
        parts = [values[at : at + chunk] for at in range(0, len(values), chunk)]
        plain = [arrow.array(part, arrow.float64() if name == "score" else arrow.string()) for part in parts]
        columns[name] = arrow.chunked_array([part.cast(types[name]) for part in plain])
    return arrow.table(columns)
