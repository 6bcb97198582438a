"""Fingerprints, signatures, shingles, neighbours, similarity and explanations."""

# Promise (The Python package): `neighbours` finds all pairs, also of equal fingerprints, and
# refuses more than fit into memory; fingerprints are those of the library and do not change

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simtool_dedup as simtool
from conftest import documents, need, rows
from frames import KINDS, frame

TEXT = "A cat sat on the mat while a dog slept in the sun behind the house"


def test_fingerprints_of_columns_are_those_of_texts(docs: list[dict[str, Any]]) -> None:
    arrow, polars = need("pyarrow"), need("polars")
    texts = [document["text"] for document in docs] + ["", "日本語のテキスト", "\0"]
    expected = [simtool.simhash(text) for text in texts]
    assert len(set(expected)) > 100
    kinds = [arrow.string(), arrow.large_string(), arrow.string_view(), arrow.binary()]
    columns = [arrow.array(texts, arrow.string()).cast(kind) for kind in kinds]
    columns.append(polars.Series(texts))
    columns.append(arrow.chunked_array([columns[0][:3], columns[0][3:3], columns[0][3:]]))
    columns.append(texts)
    for column in columns:
        found = simtool.simhash(column)
        assert found.tolist() == expected and found.dtype == "uint64"
    assert simtool.simhash([None, TEXT]).tolist() == [0, simtool.simhash(TEXT)]
    assert simtool.simhash(TEXT.encode()) == simtool.simhash(TEXT)
    assert simtool.simhash("") == 0


def test_stored_fingerprints_do_not_change() -> None:
    """The values that the Rust tests store; another value needs a new version."""
    text = "the cat sat on the mat, and so on"
    assert f"{simtool.simhash(text):016x}" == "c2d42a80139c062a"


def test_many_threads_give_the_same_numbers() -> None:
    texts = [document["text"] for document in documents(20_000, 2)]
    one, many = (simtool.simhash(texts, threads=threads) for threads in (1, 3))
    assert (one == many).all()
    assert (simtool.minhash(texts, threads=1) == simtool.minhash(texts, threads=3)).all()


def test_every_method_makes_sketches() -> None:
    for entry in simtool.methods():
        name = entry["name"]
        try:
            found = simtool.fingerprint([TEXT, None, ""], method=name)
        except ValueError as error:
            assert "needs statistics of the whole collection" in str(error), name
            continue
        assert len(found) == 3, name
        single = simtool.fingerprint(TEXT, method=name)
        first = found[0]
        if isinstance(single, bytes) and not isinstance(first, bytes):
            first = first.tobytes()
        assert single == first, name
    for bits, shape in [(32, (1,)), (64, (1,)), (128, (1, 16)), (256, (1, 32))]:
        found = simtool.simhash([TEXT], bits=bits)
        assert found.shape == shape
    parameters = {parameter["name"] for parameter in simtool.methods()[0]["parameters"]}
    assert {"bits", "distance"} <= parameters


def test_settings_out_of_range_are_refused() -> None:
    for wrong in (
        lambda: simtool.simhash(TEXT, bits=63),
        lambda: simtool.fingerprint(TEXT, method="nope"),
        lambda: simtool.minhash(TEXT, hashes=0),
        lambda: simtool.minhash(TEXT, hashes=257),
        lambda: simtool.shingles(TEXT, words=0),
        lambda: simtool.simhash([TEXT], threads=0),
        lambda: simtool.simhash(TEXT, tokenizer="nope"),
        lambda: simtool.similarity(TEXT, TEXT, shingle=101),
        lambda: simtool.explain(TEXT, TEXT, similarity=0),
        lambda: simtool.explain(TEXT, TEXT, width=5000),
        lambda: simtool.neighbours([1], 1, width=65),
        lambda: simtool.neighbours([-1], 1),
        lambda: simtool.neighbours([2**64], 1),
    ):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError):
        simtool.simhash([1])
    with pytest.raises(TypeError):
        simtool.simhash([{"text": TEXT}])


def test_minhash_estimates_the_similarity() -> None:
    numpy = need("numpy")
    source = random.Random(1)
    for edits in (0, 1, 3, 6):
        words = [f"w{source.randrange(999)}" for _ in range(200)]
        edited = list(words)
        for _ in range(edits):
            edited[source.randrange(200)] = "edited"
        texts = [" ".join(words), " ".join(edited)]
        signatures = simtool.minhash(texts, hashes=256)
        estimate = numpy.mean(signatures[0] == signatures[1])
        assert abs(estimate - simtool.similarity(*texts)) < 0.15
    assert simtool.minhash(TEXT, hashes=64).shape == (64,)
    # As a test of the Rust library has them.
    known = "A cat sat on the mat while a dog slept in the sun behind the house; Überraschung!"
    assert list(simtool.minhash(known)[:2]) == [934884646, 876965889]
    assert (simtool.minhash("") == 2**32 - 1).all()


def test_shingles_give_the_similarity() -> None:
    a, b = TEXT, TEXT + " and it rained"
    for width in (1, 2, 5, 30):
        sets = [set(found.tolist()) for found in simtool.shingles([a, b], words=width)]
        found = simtool.similarity(a, b, shingle=width)
        assert (found.shared, found.shingles) == (len(sets[0] & sets[1]), len(sets[0] | sets[1]))
        assert float(found) == found.shared / found.shingles
    assert simtool.similarity("", "") == 0.0
    assert len(simtool.shingles("")) == 0


@settings(deadline=None, max_examples=80)
@given(
    values=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 40), max_size=60),
    distance=st.integers(0, 66),
    width=st.sampled_from([1, 7, 64]),
)
def test_neighbours_are_all_pairs(values: list[int], distance: int, width: int) -> None:
    mask = 2**width - 1
    pairs = [
        (a, b, ((values[a] ^ values[b]) & mask).bit_count())
        for a in range(len(values))
        for b in range(a + 1, len(values))
    ]
    expected = sorted(
        (pair for pair in pairs if pair[2] <= distance), key=lambda pair: (pair[0], pair[2], pair[1])
    )
    columns = simtool.neighbours(values, distance, width=width)
    assert list(zip(*(column.tolist() for column in columns))) == expected


def test_neighbours_of_many_fingerprints() -> None:
    """Large enough for tables; planted neighbours and the first naive row are compared."""
    numpy = need("numpy")
    source = numpy.random.default_rng(1)
    values = source.integers(0, 2**64, 100_000, dtype="uint64")
    values[50_000:51_000] = values[:1000] ^ numpy.uint64(0b10001)
    a, b, distances = simtool.neighbours(values, 3, threads=2)
    assert len(a) >= 1000 and (a < b).all()
    exact = numpy.bitwise_count(values[a] ^ values[b])
    assert (exact == distances).all() and distances.max() <= 3
    assert {(row, row + 50_000) for row in range(1000)} <= set(zip(a.tolist(), b.tolist()))
    assert simtool.neighbours(need("polars").Series(values[:9]), 64)[0].shape == (36,)
    with pytest.raises(ValueError):
        simtool.neighbours(values.astype("float64"))


def test_neighbours_of_equal_fingerprints() -> None:
    """Groups of equal fingerprints that are near each other, against all comparisons."""
    numpy = need("numpy")
    source = numpy.random.default_rng(3)
    for distance, width in [(0, 64), (2, 64), (3, 40), (9, 64)]:
        centres = source.integers(0, 2**64, 60, dtype="uint64")
        flips = numpy.uint64(1) << source.integers(0, 64, (3000, 2), dtype="uint64")
        values = source.choice(centres, 3000) ^ numpy.where(source.random(3000) < 0.7, 0, flips[:, 0])
        values ^= numpy.where(source.random(3000) < 0.9, 0, flips[:, 1]).astype("uint64")
        mask = numpy.uint64(2**width - 1)
        apart = numpy.bitwise_count((values[:, None] ^ values[None, :]) & mask)
        a, b = numpy.nonzero(numpy.triu(apart <= distance, 1))
        order = numpy.lexsort((b, apart[a, b], a))
        expected = [a[order].tolist(), b[order].tolist(), apart[a, b][order].tolist()]
        for threads in (1, 3):
            found = simtool.neighbours(values, distance, width=width, threads=threads)
            assert [column.tolist() for column in found] == expected


def test_neighbours_of_signed_fingerprints() -> None:
    """Negative numbers stand for their bits, of narrow types for no more than those."""
    numpy = need("numpy")
    source = numpy.random.default_rng(4)
    for unsigned, signed in (("uint64", "int64"), ("uint32", "int32")):
        top = numpy.iinfo(unsigned).max
        values = source.integers(0, top, 500, dtype=unsigned, endpoint=True)
        values[250:] = values[:250] ^ numpy.asarray(top // 2 + 1, unsigned)
        expected = [column.tolist() for column in simtool.neighbours(values, 1)]
        found = simtool.neighbours(values.view(signed), 1)
        assert [column.tolist() for column in found] == expected and len(expected[0]) >= 250
    with pytest.raises(ValueError, match="fingerprints"):
        simtool.neighbours([1, -1])


def test_too_many_neighbours_are_refused() -> None:
    numpy = need("numpy")
    with pytest.raises(simtool.Error, match="texts without words, whose fingerprints are all 0"):
        simtool.neighbours(numpy.zeros(2_000_000, "uint64"), 3)


def test_an_explanation_is_escaped() -> None:
    a = " ".join(f"{TEXT} {number}" for number in range(5)) + " <script>alert(1)</script>"
    b = a + " & <b>more</b>"
    found = simtool.explain(a, b)
    html = found._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html and "<ins>" in html
    assert "A ∩ B of A ∪ B" in repr(found) and found.is_near
    assert found.similarity == simtool.similarity(a, b)
    everything = simtool.explain(a, b, method="all")
    assert len(everything.verdicts) > 20
    result = simtool.dedup([{"id": "<i>x</i>", "text": a}, {"id": "<u>", "text": b}])
    for html in (result._repr_html_(), result.explain(0)._repr_html_()):
        # Long texts are scrolled.
        assert "overflow:auto" in html
        assert "<i>x" not in html and "<u>" not in html and "<script>" not in html


def test_explanations_of_pages_are_about_their_text() -> None:
    page = "<html><head><style>p {{ a: b }}</style></head><body><p>{}</p></body></html>"
    texts = [page.format(TEXT), page.format(TEXT + " by the sea"), TEXT]
    for html in ("visible", "markup"):
        found = simtool.dedup(texts, html=html, similarity=0.5)
        row = found.duplicates[0]
        assert found.explain(0).similarity == row["similarity"] < 1, (html, row)
    assert len(simtool.dedup(texts, html="visible", similarity=0.5).duplicates) == 2


def test_a_stricter_threshold_keeps_what_it_refuses() -> None:
    polars = need("polars")
    data = polars.DataFrame(documents(300, 9))
    found = simtool.dedup(data, similarity=0.5, method="minhash")
    least = found.duplicates["similarity"].min()
    assert least < 0.8
    for threshold in (0.5, 0.7, 0.9, 1.0):
        strict = found.at(threshold)
        expected = found.duplicates.filter(polars.col("similarity") >= threshold)
        counts = ("cluster_size", "cluster_sites")
        columns = [name for name in expected.columns if name not in counts]
        assert strict.duplicates.select(columns).equals(expected.select(columns))
        sizes = strict.clusters.group_by("cluster").len()
        assert dict(sizes.iter_rows()) == dict(
            strict.duplicates.select("cluster", "cluster_size").unique().iter_rows()
        )
        assert len(strict.kept) == len(data) - len(expected)
        assert strict.clusters["kept"].sum() == len(sizes)
    assert [pair.similarity for pair in found.least_similar(3)] == sorted(
        pair.similarity for pair in found.least_similar(3)
    )
    assert found.least_similar(1)[0].similarity == least
    with pytest.raises(ValueError, match="similarity 0.4: expected 0.5"):
        found.at(0.4)
    for words in ({"cluster": "components"}, {"keep_copies": 2}, {"method": "url"}):
        with pytest.raises(ValueError, match="call dedup again with similarity=0.9"):
            simtool.dedup(data, **words).at(0.9)
    with pytest.raises(IndexError):
        found.explain(10_000)


@pytest.mark.parametrize("kind", KINDS)
def test_clusters_have_the_sites_of_their_rows(kind: str) -> None:
    """Compared with a dictionary, also after a stricter threshold; only rows with URLs have them."""
    data = documents(300, 9)
    for document in data[::4]:
        document["url"] = None
    for keep in ("first", "none"):
        found = simtool.dedup(frame(kind, data, 70, "string"), similarity=0.5, keep=keep)
        for result in (found, found.at(0.5), found.at(0.9)):
            hosts: dict[int, set[str]] = {}
            members = rows(result.clusters)
            for member in members:
                url = data[member["row"]]["url"]
                own = hosts.setdefault(member["cluster"], set())
                own.update([url.split("/")[2]] if url else [])
            expected = {cluster: len(own) for cluster, own in hosts.items()}
            assert {member["cluster"]: member["sites"] for member in members} == expected
            assert len(set(expected.values())) > 2
            for pair in rows(result.duplicates):
                assert pair["cluster_sites"] == expected[pair["cluster"]]
    plain = [{name: row[name] for name in row if name != "url"} for row in data]
    found = simtool.dedup(frame(kind, plain, 70, "string"), similarity=0.5)
    named = simtool.dedup(frame(kind, plain, 70, "string"), similarity=0.5, url="group")
    for result, has in ((found, False), (found.at(0.9), False), (named, True)):
        assert ("cluster_sites" in rows(result.duplicates)[0]) == has
        assert ("sites" in rows(result.clusters)[0]) == has
        assert "cluster_sources" not in rows(result.duplicates)[0]


def test_a_stricter_threshold_of_dropped_clusters() -> None:
    """With ``keep="none"``, the members of the stricter clusters go, and no others."""
    polars = need("polars")
    data = polars.DataFrame(documents(300, 9))
    found = simtool.dedup(data, similarity=0.5)
    without = simtool.dedup(data, similarity=0.5, keep="none")
    for threshold in (0.5, 0.7, 0.9, 1.0):
        expected, strict = found.at(threshold), without.at(threshold)
        members = expected.clusters["row"].sort()
        assert len(members) > 10 and strict.duplicates["row"].equals(members)
        kept = data.with_row_index("row").filter(~polars.col("row").is_in(members.implode()))
        assert strict.kept.equals(kept.drop("row"))
        assert strict.clusters.drop("kept").equals(expected.clusters.drop("kept"))
        assert not strict.clusters["kept"].any()
        sizes = dict(strict.duplicates.select("cluster", "cluster_size").unique().iter_rows())
        assert sizes == dict(expected.clusters.group_by("cluster").len().iter_rows())


def test_copies_of_a_url_are_explained() -> None:
    rows = [{"url": "http://a.example/", "date": f"2024-01-0{day}", "text": TEXT} for day in (1, 2)]
    found = simtool.dedup(rows, method="url")
    assert len(found.kept) == 1 and found.explain(0).similarity == 1
    for method in ("url", "url then minhash"):
        with pytest.raises(ValueError, match="at: with the method url.*dedup again"):
            simtool.dedup(rows, method=method).at(0.9)


def test_a_view_says_which_text_was_kept_and_why() -> None:
    pandas = need("pandas")
    frame = pandas.DataFrame({"text": [TEXT, TEXT + " today"]}, index=["short & <b>", "long"])
    found = simtool.dedup(frame, keep="longest")
    for shown in (found._repr_html_(), found.explain(0)._repr_html_()):
        kept, removed = shown.index("<b>long</b> kept: the longest"), shown.index("removed: at least 0.8 similar")
        assert kept < removed and "keep=&#x27;longest&#x27;" in shown
        assert "<b>short &amp; &lt;b&gt;</b> removed" in shown and "similarity 0.9" in shown
        # Texts are beside each other, or on a narrow screen one below the other.
        assert "flex-wrap:wrap" in shown and "overflow-wrap:anywhere" in shown and "<table" not in shown
    assert "B  short & <b>  removed: at least 0.8 similar" in repr(found.explain(0))
    several = simtool.dedup(frame, keep=["longest", "first"])
    assert "kept: the best of the copies (keep='longest,first')" in repr(several.explain(0))
    dated = frame.assign(url="http://a.example/", date=["2024-01-02", "2024-01-01"])
    by_url = repr(simtool.dedup(dated, method="url").explain(0))
    assert "short & <b>  kept: the newest of its URL" in by_url and "removed: of the same URL" in by_url
    spans = simtool.spans(frame, min_length=8)
    assert "<b>long</b> occurs 2 times" in spans._repr_html_() and "kept: has the same" in repr(spans.explain(0))
    items = simtool.decontaminate(frame, [TEXT], min_length=8)._repr_html_()
    assert "runs of words of an item" in items and "<b>0</b> the item" in items
