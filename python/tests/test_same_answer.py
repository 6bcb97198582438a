"""The answer for rows is that of the command for the same documents as JSON Lines."""

# Promise (The Python package): `dedup` of rows has the ids, clusters, similarities, refused pairs
# and skipped documents of the command for the same documents as JSON Lines, for every type, chunks,
# options and hostile texts

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import simtool_dedup as dedup_module
from conftest import documents, need, read_jsonl, rows, simtool, write_jsonl
from frames import HOSTILE, KINDS, frame
from simtool_dedup._flags import flags

COLUMNS = [
    "id",
    "kept",
    "similarity",
    "shared",
    "shingles",
    "cluster",
    "cluster_size",
    "cluster_sites",
    "method",
    "distance",
    "estimate",
]

@st.composite
def collections(draw: Any) -> list[dict[str, Any]]:
    """Documents with near copies, hostile texts, missing texts and fields."""
    made = documents(draw(st.integers(0, 30)), draw(st.integers(0, 1000)))
    for text in draw(st.lists(st.none() | HOSTILE, max_size=8)):
        made.insert(
            draw(st.integers(0, len(made))),
            {
                "id": draw(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9)),
                "text": text,
                "url": draw(st.none() | HOSTILE),
                "date": None,
                "score": draw(st.none() | st.floats(allow_nan=False, allow_infinity=False)),
                "group": draw(st.none() | HOSTILE),
            },
        )
    return made


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "method": st.sampled_from(
            ["simhash", "minhash", "simhash:bits=128,distance=12", "shingles:similarity=0.6"]
        ),
        "similarity": st.sampled_from([0.5, 0.8, 0.9, 1.0]),
        "shingle": st.integers(1, 6),
        "keep": st.sampled_from(
            ["longest", "newest", "shortest-url", "field:score", "smallest:score,longest"]
        ),
        "within": st.sampled_from(["site", "field:group", "language"]),
        "cluster": st.sampled_from(["star", "components"]),
        "tokenizer": st.sampled_from(["ascii", "unicode", "chars"]),
        "refused": st.just(True),
        "threads": st.integers(1, 3),
    },
)
COPIES = st.sampled_from([{}, {}, {"keep_copies": 2}, {"keep": "none"}])


def selected(table: Any) -> list[dict[str, Any]]:
    """The columns of pairs that are compared."""
    return [{name: row[name] for name in COLUMNS} for row in rows(table)]


def check(data: list[dict[str, Any]], options: dict[str, Any], given_frame: Any) -> None:
    """Compare the result for rows with that of the command."""
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        directory = Path(name)
        path = write_jsonl(directory / "docs.jsonl", data)
        out = directory / "out"
        # Exit code 3: documents without a text were skipped.
        code = 3 if any(document["text"] is None for document in data) else 0
        simtool("dedup", *flags(options), "-o", str(out), "--no-page", "--", str(path), code=code)
        found = dedup_module.dedup(given_frame, **options)
        expected = read_jsonl(out / "duplicates.jsonl")
        assert selected(found.duplicates) == [{n: line[n] for n in COLUMNS} for line in expected]
        members = [
            (cluster["cluster"], cluster["size"], cluster["sites"], member["id"], member["kept"])
            for cluster in read_jsonl(out / "clusters.jsonl")
            for member in cluster["members"]
        ]
        assert members == [
            (row["cluster"], row["size"], row["sites"], row["id"], row["kept"])
            for row in rows(found.clusters)
        ]
        skipped = [(line["id"], line["reason"]) for line in read_jsonl(out / "skipped.jsonl")]
        assert skipped == [(row["id"], row["reason"]) for row in rows(found.skipped)]
        if options.get("refused"):
            refused = read_jsonl(out / "refused.jsonl")
            assert selected(found.refused) == [{n: line[n] for n in COLUMNS} for line in refused]
        dropped = {row["row"] for row in rows(found.duplicates)}
        assert [flag == 0 for flag in found.mask] == [row in dropped for row in range(len(data))]
        assert len(found.kept) == len(data) - len(dropped)
        assert len(dropped) == len(expected)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    data=collections(),
    options=OPTIONS,
    copies=COPIES,
    kind=st.sampled_from(KINDS),
    chunk=st.integers(1, 40),
    text_type=st.sampled_from(["string", "large_string", "string_view", "binary"]),
)
def test_rows_have_the_answer_of_the_command(
    data: list[dict[str, Any]],
    options: dict[str, Any],
    copies: dict[str, Any],
    kind: str,
    chunk: int,
    text_type: str,
) -> None:
    """For every type of data, chunks and options."""
    check(data, {**options, **copies}, frame(kind, data, chunk, text_type))


def test_equality_alone() -> None:
    """Methods without verification, and repeated ids."""
    data = documents(60, 3)
    data += [{**data[number], "id": "d1"} for number in range(20)]
    for method in ("exact", "normalized"):
        check(data, {"method": method}, data)


def test_larger_collections_of_every_type() -> None:
    """Several pieces of a table and several threads."""
    data = documents(3000, 5)
    for kind in KINDS:
        check(data, {"refused": True}, frame(kind, data, 700, "string_view"))


def test_against_rows_is_against_a_file(tmp_path: Path) -> None:
    """Kept documents of the other collection have their own ids."""
    data, others = documents(80, 7), documents(80, 8)
    others += [{**document, "id": "x" + document["id"]} for document in data[10:30]]
    paths = [
        write_jsonl(tmp_path / name, part) for name, part in [("a.jsonl", data), ("b.jsonl", others)]
    ]
    out = tmp_path / "out"
    simtool("dedup", str(paths[0]), "--against", str(paths[1]), "-o", str(out))
    expected = [{n: line[n] for n in COLUMNS} for line in read_jsonl(out / "duplicates.jsonl")]
    arrow = need("pyarrow")
    assert expected
    for given_data, given_others in [
        (data, others),
        (arrow.Table.from_pylist(data), arrow.Table.from_pylist(others)),
    ]:
        found = dedup_module.dedup(given_data, against=given_others)
        assert selected(found.duplicates) == expected
    assert found.explain(0).similarity >= 0.8
