"""SimHash of words, of shingles, over random lexicons, and of both: the largest F over a sweep."""

import random

from bench_process import print_table
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


def run(runner):
    print("## SimHash, shingles, lexicons, fusion: best F\n")
    path, truth = hard_set(runner.directory / "hard", documents.english(runner.directory))
    one_set(runner, "The hard set", path, truth)
    for name, directory in runner.revisions():
        one_set(runner, name, directory / "docs.jsonl.gz", directory / "pairs.tsv")


def hard_set(directory, available):
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
    rows, classes = [], None
    for method, sweep, published in SWEEPS:
        tried = runner.evaluate(path, truth, [method], *sweep, "--listed-only")
        classes = by_class(tried[0])
        for found in tried:
            check(abs(best_within(found, None)[0] - found["best"]["f1"]) < 1e-9,
                  f"{method}: the best F is not that of the curve")
        for widest in (WIDEST, None):
            winner = max(tried, key=lambda found: best_within(found, widest)[0])
            score, distance, right = best_within(winner, widest)
            settings = ", ".join(
                f"{SHOWN[name]} = {value}" for name, value in winner["parameters"].items()
                if any(word.startswith(f"{name}=") for word in sweep)
            )
            within = f"0 to {WIDEST}" if widest else "all"
            rows.append([f"`{method}`", within, f"{score:.4f}", settings or "–", f"≤ {distance}",
                         f"{right[0]:.3f}", f"{right[1]:.3f}", str(len(tried)),
                         published if widest else ""])
    sizes = ", ".join(f"{label}: {whole}" for label, (_, whole) in classes.items())
    print(f"### {title}\n\nPairs: {sizes}.\n")
    print_table(["", "thresholds", "best F", "at", "threshold", "precision", "recall",
                 "settings tried", "published best F"], rows)


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
