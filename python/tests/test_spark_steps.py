"""The steps of a job on a cluster, without an engine, against naive definitions."""

# Promise (On a cluster): Each step gives what its naive definition gives: stars and components of
# any graph, also of a chain of 10⁴ documents; all similar sets are candidates, or behind a cut;
# near fingerprints share a key in collections of any size; all pairs of documents that share a key
# with few; the first refused pairs
# Promise (On a cluster): Pages of a template are no candidates, and a group of 10⁵ equal sets costs
# a pair for each
# Promise (On a cluster): 192 MB of records are sorted by a process that may get 80 MB of memory
# Promise (On a cluster): Rows that an engine gives out of order are an error

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import need
from simtool_dedup import Error
from simtool_dedup._simtool import SparkTask

LONGS = ("key", "rank", "element", "tile", "size", "place", "label", "frontier", "member", "earlier")


def run(
    name: str, rows: list[dict[str, Any]], batch: int = 1000, extra: bytes = b"", **options: Any
) -> list[dict[str, Any]]:
    """The result of a step on rows in batches of some size."""
    arrow = need("pyarrow")
    task = SparkTask(name, json.dumps(options), extra)
    made: list[dict[str, Any]] = []

    def take() -> None:
        while (table := task.take()) is not None:
            made.extend(arrow.table(table).to_pylist())

    kinds = {name: arrow.int64() for name in LONGS}
    kinds |= {"cut": arrow.bool_(), "part": arrow.int32()}
    kinds |= {name: arrow.binary() for name in ("sketch", "set", "records", "others")}
    for start in range(0, len(rows), batch):
        part = rows[start : start + batch]
        columns = {name: arrow.array([row[name] for row in part], kinds[name]) for name in part[0]}
        task.push(arrow.table(columns))
        take()
    task.end()
    take()
    return made


def as_bytes(elements: set[int]) -> bytes:
    """A set as steps store it."""
    return struct.pack(f"<{len(elements)}Q", *sorted(elements))


GRAPHS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=80)


def edges_of(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Each pair once, the later document first, in order."""
    return sorted({(max(pair), min(pair)) for pair in pairs if pair[0] != pair[1]})


@settings(deadline=None)
@given(pairs=GRAPHS, cuts=st.dictionaries(st.integers(0, 30), st.integers(0, 30)), batch=st.integers(1, 9))
def test_stars_are_those_of_one_document_after_another(
    pairs: list[tuple[int, int]], cuts: dict[int, int], batch: int
) -> None:
    """A document is decided only if no cut hides what decides it."""
    edges = edges_of(pairs)
    frontiers = {member: max([at, *(b for a, b in edges if a == member)]) for member, at in cuts.items()}
    rows = [{"member": a, "earlier": b, "cut": False} for a, b in edges]
    rows += [{"member": a, "earlier": b, "cut": True} for a, b in frontiers.items()]
    rows.sort(key=lambda row: (row["member"], row["earlier"]))
    found = {row["member"]: row["frontier"] for row in run("settle", rows, batch)}
    removed: set[int] = set()
    unknown: set[int] = set()
    expected: dict[int, int | None] = {}
    for document in range(31):
        earlier = [b for a, b in edges if a == document and b not in removed]
        if earlier and earlier[0] not in unknown:
            removed.add(document)
            expected[document] = None
        elif earlier:
            unknown.add(document)
        elif document in frontiers:
            unknown.add(document)
            expected[document] = frontiers[document]
    assert found == expected


@settings(deadline=None)
@given(pairs=GRAPHS, batch=st.integers(1, 9))
def test_components_are_those_of_a_search(pairs: list[tuple[int, int]], batch: int) -> None:
    """Each document has the first one of its component."""
    edges = edges_of(pairs)
    rows = [{"member": a, "earlier": b} for a, b in edges]
    found = {row["rank"]: row["first"] for row in run("union", rows, batch)}
    first = {document: document for edge in edges for document in edge}
    for _ in first:
        for a, b in edges:
            first[a] = first[b] = min(first[a], first[b])
    assert found == first


def test_a_chain_is_settled_and_connected() -> None:
    """Of a chain of documents, every second one stays; all of them are one component."""
    length = 10_000
    rows = [{"member": n + 1, "earlier": n, "cut": False} for n in range(length)]
    removed = run("settle", rows)
    assert [row["member"] for row in removed] == list(range(1, length + 1, 2))
    random.Random(1).shuffle(rows)
    firsts = run("union", [{"member": row["member"], "earlier": row["earlier"]} for row in rows])
    assert len(firsts) == length + 1
    assert {row["first"] for row in firsts} == {0}


SETS = st.lists(
    st.tuples(st.integers(0, 40), st.sets(st.integers(0, 60), max_size=30)).map(
        lambda it: set(range(100, 100 + it[0])) | it[1]
    ),
    min_size=2,
    max_size=12,
)


@settings(max_examples=200, deadline=None)
@given(
    sets=SETS,
    similarity=st.sampled_from([0.3, 0.5, 0.8, 0.95, 1.0]),
    frequent=st.lists(st.integers(100, 140), unique=True, max_size=30),
    most=st.integers(1, 4),
    labels=st.none() | st.lists(st.none() | st.integers(0, 2), min_size=12, max_size=12),
    parts=st.integers(1, 5),
)
def test_similar_sets_are_proposed_until_a_cut(
    sets: list[set[int]],
    similarity: float,
    frequent: list[int],
    most: int,
    labels: list[int | None] | None,
    parts: int,
) -> None:
    """All pairs of the least similarity are proposed, or behind the first cut of their member.

    Of components, only pairs of different ones are. The documents of some frequent elements are
    divided.
    """
    label = labels or [None] * len(sets)
    options = {"similarity": similarity, "most": most, "components": labels is not None}
    rows = [
        {"rank": n, "set": as_bytes(elements), "label": label[n], "frontier": -1}
        for n, elements in enumerate(sets)
        if elements
    ]
    extra = struct.pack(f"<{len(frequent)}Q", *frequent)
    options |= {"parts": parts, "hot": [[element, 1 + element % 3] for element in frequent[::2]]}
    records = run("prefix", rows, extra=extra, **options) if rows else []
    assert {record["part"] for record in records} <= set(range(parts))
    random.Random(parts).shuffle(records)
    pairs = run("pairs", records, 7, **options) if records else []
    pairs.sort(key=lambda row: (row["member"], row["earlier"]))
    first = run("first", pairs, 5) if pairs else []
    proposed = {(row["member"], row["earlier"]) for row in first}
    cuts = {row["member"]: row["earlier"] for row in first if row["cut"]}
    for a, b in combinations(range(len(sets)), 2):
        whole = len(sets[a] | sets[b])
        is_joined = label[a] is not None and label[a] == label[b]
        assert not (is_joined and (b, a) in proposed)
        if not is_joined and whole and len(sets[a] & sets[b]) >= similarity * whole - 1e-9:
            assert (b, a) in proposed or cuts.get(b, b) < a
    for member, at in cuts.items():
        assert max(b for a, b in proposed if a == member) == at


def test_pages_of_a_template_are_not_candidates() -> None:
    """Pages with a fifth of text of their own share no shingle by which they are found."""
    pages = 2000
    rows = [
        {"rank": n, "set": as_bytes(set(range(1000, 1300)) | {10_000 + 80 * n + own for own in range(80)})}
        for n in range(pages)
    ]
    extra = struct.pack("<300Q", *range(1000, 1300))
    records = run("prefix", rows, extra=extra, similarity=0.8, parts=4)
    assert run("pairs", records, similarity=0.8, most=2) == []


def test_a_large_group_of_equal_sets_costs_a_pair_for_each() -> None:
    """The first candidate decides each of 10⁵ documents, and a cut says that there are more."""
    pages = 100_000

    def records(place: int) -> list[dict[str, Any]]:
        """The element, its tile, rank, label (none), frontier, size of the set and place of it."""
        entries = [struct.pack("<qqqqqII", 5, 0, n, -(2**63), -1, 50, place) for n in range(pages)]
        return [{"part": 0, "records": b"".join(entries)}]

    pairs = run("pairs", records(0), most=1)
    assert [row["earlier"] for row in pairs] == [0] * (pages - 1)
    assert [row["cut"] for row in pairs] == [False] + [True] * (pages - 2)
    # By a shingle that is too late in each of them, none is found, and none is compared.
    assert run("pairs", records(9), most=1) == []


@settings(max_examples=50, deadline=None)
@given(
    prints=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=4),
    flips=st.lists(st.lists(st.integers(0, 63), max_size=6), max_size=12),
    leaders=st.sampled_from([1, 10**4, 10**6, 10**9]),
)
def test_near_fingerprints_share_a_key(prints: list[int], flips: list[list[int]], leaders: int) -> None:
    """For collections of any size; near ones are marked, and no others."""
    for places in flips:
        changed = prints[0]
        for place in places:
            changed ^= 1 << place
        prints.append(changed)
    rows = [{"rank": n, "sketch": struct.pack("<Q", value)} for n, value in enumerate(prints)]
    options = {"method": "simhash:distance=6", "leaders": leaders, "parts": 3}
    keys = run("keys", rows, **options)
    marked = run("near", keys[::-1], 5, **options)
    near = {
        (b, a)
        for a, b in combinations(range(len(prints)), 2)
        if (prints[a] ^ prints[b]).bit_count() <= 6
    }
    assert {row["rank"] for row in marked} == {rank for pair in near for rank in pair}
    crowded = {row["rank"] for row in marked if row["others"] is None}
    assert all(pair in listed(marked) for pair in near if not crowded.issuperset(pair))


def listed(rows: list[dict[str, Any]], **options: Any) -> set[tuple[int, int]]:
    """The pairs of documents that share a key with few."""
    few = [row for row in rows if row["others"] is not None]
    return {(row["member"], row["earlier"]) for row in run("listed", few, 3, **options)} if few else set()


@settings(max_examples=100, deadline=None)
@given(
    keys=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 40)), max_size=60, unique=True),
    references=st.integers(0, 20),
    only=st.booleans(),
    frontier=st.integers(-1, 40),
)
def test_pairs_of_documents_that_share_a_key_with_few(
    keys: list[tuple[int, int]], references: int, only: bool, frontier: int
) -> None:
    """All of them; documents of a key that more than four share are listed by no pair of it."""
    records = [{"part": 0, "records": struct.pack("<qq", *pair)} for pair in keys]
    rows = run("near", records, 7, method="minhash") if records else []
    members = {key: sorted(rank for at, rank in keys if at == key) for key, _ in keys}
    shared = {key: ranks for key, ranks in members.items() if len(ranks) > 1}
    assert sorted((row["key"], row["rank"]) for row in rows) == sorted(
        (key, rank) for key, ranks in shared.items() for rank in ranks
    )
    assert all((row["others"] is None) == (len(shared[row["key"]]) > 4) for row in rows)
    expected = {
        (b, a)
        for ranks in shared.values()
        for a, b in combinations(ranks, 2)
        if len(ranks) <= 4 and b >= references and a > frontier and (not only or a < references)
    }
    for row in rows:
        row["frontier"] = frontier
    assert listed(rows, references=references, against_only=only) == expected


@settings(max_examples=100, deadline=None)
@given(
    members=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=70),
    components=st.booleans(),
    references=st.integers(0, 5),
)
def test_refusals_are_the_first_of_each_document(
    members: list[tuple[int, int]], components: bool, references: int
) -> None:
    """In one bucket, all are near: those of stars before the kept one, or of other components."""
    rows = []
    for rank, (label, kind) in enumerate(members):
        known = kind > 0 and label < rank
        if components:
            rows.append({"key": 1, "rank": rank, "label": min(label, rank) if known else None})
        else:
            stays = not known or rows[label]["label"] is not None or rank < references
            rows.append({"key": 1, "rank": rank, "label": None if stays else label})
    found = run("refusals", rows, 9, components=components, references=references)
    expected = []
    for row in rows:
        rank, label = row["rank"], row["label"]
        if components:
            own = rank if label is None else label
            earlier = [
                other["rank"]
                for other in rows[:rank]
                if (other["rank"] if other["label"] is None else other["label"]) != own
            ]
        elif rank < references:
            earlier = []
        else:
            end = rank if label is None else label
            earlier = [other["rank"] for other in rows[:end] if other["label"] is None]
        expected += [(rank, other) for other in earlier[:20]]
    assert [(row["member"], row["earlier"]) for row in found] == expected


@settings(max_examples=100, deadline=None)
@given(
    sets=st.lists(st.sets(st.integers(0, 20), min_size=1), min_size=1, max_size=30),
    parts=st.integers(1, 40),
    least=st.integers(1, 9),
)
def test_frequent_elements_are_counted(sets: list[set[int]], parts: int, least: int) -> None:
    """In however many parts."""
    records = run("elements", [{"set": as_bytes(elements)} for elements in sets], 4, parts=parts)
    found = {row["element"]: row["count"] for row in run("frequent", records, 3, least=least)}
    counts = Counter(element for elements in sets for element in elements)
    assert found == {element: count for element, count in counts.items() if count >= least}


LIMITED = """
import json, resource, struct, sys
import pyarrow
from simtool_dedup._simtool import SparkTask

numbers, most = 6_000_000, 80 << 20
values = [struct.pack("<20000q", *((n * 7919) % 1000 for n in range(start, start + 20000)))
          for start in range(0, numbers, 20000)]
pyarrow.array([values[0]])
task = SparkTask("frequent", json.dumps({"least": 1}), b"")
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + most
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for value in values * 4:
    task.push(pyarrow.table({"part": pyarrow.array([0], "int32"), "records": [value]}))
task.end()
found = pyarrow.table(task.take()).to_pylist()
assert task.take() is None
assert found == [{"element": n, "count": 4 * numbers // 1000} for n in range(1000)]
"""


def test_records_are_sorted_in_bounded_memory() -> None:
    """192 MB of records, in a process that may get 80 MB more than it had before."""
    need("pyarrow")
    code = [sys.executable, "-c", LIMITED]
    done = subprocess.run(code, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_records_that_are_cut_off_are_an_error() -> None:
    """Whole records only."""
    with pytest.raises(Error, match="cut off"):
        run("near", [{"part": 0, "records": b"123456789"}])


def test_rows_out_of_order_are_an_error() -> None:
    """An engine that loses the order of a sort is noticed, with advice."""
    for name, row in [
        ("first", {"member": 1, "earlier": 0, "cut": False}),
        ("settle", {"member": 1, "earlier": 0, "cut": False}),
    ]:
        second = {key: value - 1 if key != "cut" else value for key, value in row.items()}
        with pytest.raises(Error, match="sort=\"task\""):
            run(name, [row, second])
    with pytest.raises(ValueError, match="there is no step"):
        SparkTask("nothing", "{}")
    with pytest.raises(ValueError, match="unknown field"):
        SparkTask("first", '{"nothing": 1}')
