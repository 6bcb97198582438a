"""SimHash of words, of shingles, over random lexicons, and of both: the largest F over a sweep."""

import random
import re

from bench_process import print_table, say
from experiments import documents, edits
from experiments.evaluation import by_class, check

# Method, what is swept, published best F.
SWEEPS = [
    ("simhash", [], "0.6117"),
    ("shingle-simhash", ["--sweep", "features=1..7"], "0.7469"),
    ("lexicon-simhash", ["--sweep", "lexicons=1..16"], "–"),
    ("fusion", ["--sweep", "shingle=1..7", "--sweep", "lexicons=1..16"], "0.8805"),
]
SHOWN = {"features": "k", "shingle": "k", "lexicons": "K"}
WIDEST = 16
STRENGTHS = [0.1, 0.2, 0.3, 0.4]
FRAMES = [0.3, 0.4, 0.5, 0.6]
COUNT = 300
PASSAGE = 300  # words


def run(runner):
    print("## SimHash, shingles, lexicons, fusion: best F\n")
    try:
        hard_sets(runner, documents.english(runner.directory))
    except documents.Unavailable as error:
        say(error)
    for name, directory in runner.revisions():
        one_set(runner, name, directory / "docs.jsonl.gz", directory / "pairs.tsv")


def hard_sets(runner, english):
    path, truth = frames(runner.directory / "frames", english)
    one_set(runner, "Frames: heavy edits; neighbours and framed texts are unlike", path, truth)
    path, truth = chapters(runner.directory / "chapters", english)
    one_set(runner, "Chapters: heavy edits; two passages of one text are unlike", path, truth)


def chapters(directory, available):
    """Heavily edited copies of passages; unlike them, what follows them in the same text.

    As in a book, two passages have their words in common and not the order of them.
    """
    pool = [word for text in available.values() for word in edits.WORD.findall(text)]
    texts, pairs = {}, []
    for name, text in documents.sample(available, len(available), 19).items():
        words = re.findall(r"\S+\s*", text)
        if len(words) < 2 * PASSAGE or len(pairs) == 2 * COUNT:
            continue
        turn = len(pairs) // 2
        strength = STRENGTHS[turn % len(STRENGTHS)]
        passage = "".join(words[:PASSAGE])
        texts[name], texts[f"next-{turn}"] = passage, "".join(words[PASSAGE : 2 * PASSAGE])
        texts[f"copy-{turn}"] = edits.english(passage, pool, strength, 0.2, turn)
        pairs.append((name, f"copy-{turn}", f"words {100 * strength:g} %"))
        pairs.append((name, f"next-{turn}", "unrelated"))
    path = documents.write(directory / "docs.jsonl", texts)
    return path, documents.write_pairs(directory / "pairs.tsv", pairs)


def frames(directory, available):
    """Heavily edited copies; unlike them, neighbours in a directory and texts in one frame."""
    available = documents.distinct(available, 0.3)
    names = sorted(available)
    pool = [word for text in available.values() for word in edits.WORD.findall(text)]
    draw = random.Random(7)
    chosen = draw.sample(range(len(names) - 1), COUNT)
    texts, pairs = {}, []
    for turn, place in enumerate(chosen):
        name, next_name = names[place], names[place + 1]
        text, strength = available[name], STRENGTHS[turn % len(STRENGTHS)]
        texts[name], texts[next_name] = text, available[next_name]
        texts[f"copy-{turn}"] = edits.english(text, pool, strength, 0.2, turn)
        pairs.append((name, f"copy-{turn}", f"words {100 * strength:g} %"))
        pairs.append((name, next_name, "unrelated"))
        frame, share = available[draw.choice(names)], FRAMES[turn % len(FRAMES)]
        for side, inside in (("a", text), ("b", available[draw.choice(names)])):
            texts[f"framed-{turn}{side}"] = edits.framed(inside, frame, share)
        pairs.append((f"framed-{turn}a", f"framed-{turn}b", "0"))
    path = documents.write(directory / "docs.jsonl", texts)
    return path, documents.write_pairs(directory / "pairs.tsv", pairs)


def one_set(runner, title, path, truth):
    rows, by_size, by_count = [], {}, []
    for method, sweep, published in SWEEPS:
        tried = runner.evaluate(path, truth, [method], *sweep, "--listed-only")
        for found in tried:
            check(abs(best_within(found, None)[0] - found["best"]["f1"]) < 1e-9,
                  f"{method}: the best F is not that of the curve")
        winner = max(tried, key=lambda found: best_within(found, WIDEST)[0])
        score, distance, right = best_within(winner, WIDEST)
        settings = ", ".join(
            f"{SHOWN[name]} = {value}" for name, value in winner["parameters"].items()
            if any(word.startswith(f"{name}=") for word in sweep)
        )
        usual = runner.evaluate(path, truth, [method], "--listed-only")[0]["f1"]["value"]
        rows.append([f"`{method}`", f"{score:.4f}", settings or "–", f"≤ {distance}",
                     f"{right[0]:.3f}", f"{right[1]:.3f}", str(len(tried)),
                     f"{usual or 0:.4f}", published])
        for found in tried:
            size = found["parameters"].get("features") or found["parameters"].get("shingle")
            scores = by_size.setdefault((method, size), [])
            scores.append((best_within(found, WIDEST)[0], best_within(found, None)[0]))
            if method == "lexicon-simhash":
                by_count.append(f"{best_within(found, WIDEST)[0]:.3f}")
    check(by_size["simhash", "1"] == by_size["shingle-simhash", "1"],
          "shingles of one word are not words")
    sizes = ", ".join(f"{label}: {whole}" for label, (_, whole) in by_class(tried[0]).items())
    print(f"### {title}\n\nPairs: {sizes}.\n")
    print_table(["", "best F", "at", "threshold", "precision", "recall", "settings tried",
                 "F as preset", "published best F"], rows)
    print(f"Best F by k (fusion: over all K), thresholds 0 to {WIDEST} / all:\n")
    print_table(["", *map(str, range(1, 8))], [
        [f"`{method}`", *(
            " / ".join(f"{max(column):.3f}" for column in zip(*by_size[method, str(size)]))
            for size in range(1, 8)
        )]
        for method in ("shingle-simhash", "fusion")
    ])
    print(f"`lexicon-simhash` by K = 1 to {len(by_count)}: {' '.join(by_count)}.\n")


def best_within(found, widest):
    """The largest F of the curve up to a distance, that distance, precision and recall there."""
    near = found["hits"] + found["misses"]
    best = (0.0, 0, (0.0, 0.0))
    for point in found["curve"]:
        distance, hits, wrong = point["threshold"]["distance"], point["hits"], point["false_hits"]
        if (widest is None or distance <= widest) and hits:
            score = 2 * hits / (hits + wrong + near)
            best = max(best, (score, -distance, (hits / (hits + wrong), hits / near)))
    return best[0], -best[1], best[2]
