"""Five methods for mirrored pages, over the number of keywords and epsilon."""

import random
from collections import Counter

from bench_process import print_table
from experiments import documents, edits
from experiments.evaluation import by_class, check, pairs_within

KEYWORDS = [5, 10, 20, 50]
EPSILONS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]
STRENGTHS = [0, 0.01, 0.02, 0.05, 0.1]
COUNT = 400
STOP_WORDS = 150


def run(runner):
    directory = runner.directory / "mirrors"
    available = documents.distinct(documents.english(runner.directory), 0.5)
    originals = documents.sample(available, COUNT, 11)
    pool = [word for text in available.values() for word in edits.WORD.findall(text)]
    labels = [f"words {100 * strength:g} %" for strength in STRENGTHS]
    texts, pairs = dict(originals), []
    for place, (name, text) in enumerate(originals.items()):
        for label, strength in zip(labels, STRENGTHS):
            copy = f"copy-{place}-{strength}"
            texts[copy] = edits.english(text, pool, strength, 0, f"{place} {strength}")
            pairs.append((name, copy, label))
    names, draw = list(originals), random.Random(13)
    unrelated = [(*draw.sample(names, 2), "unrelated") for _ in range(COUNT)]
    stop_words = most_common(available)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "stop-words.txt").write_text("\n".join(sorted(stop_words)))
    path = documents.write(directory / "docs.jsonl", texts)
    truth = documents.write_pairs(directory / "pairs.tsv", [*pairs, *unrelated])
    # Words of this kind can be counted in two lines of Python, to check the answers.
    flags = ["--tokenizer", "ascii", "--stop-words", directory / "stop-words.txt", "--listed-only"]

    ranked = {name: rank(text, stop_words) for name, text in texts.items()}
    print(f"## Mirrored pages: {COUNT} documents, {len(STRENGTHS)} copies each\n")
    keywords = "keywords=" + ",".join(map(str, KEYWORDS))
    found = runner.evaluate(path, truth, ["mirror-1", "mirror-2", "mirror-5"],
                            "--sweep", keywords, *flags)
    whole(found, labels)
    check_by_counting(found, pairs, ranked)
    weights = runner.evaluate(path, truth, ["mirror-3", "mirror-4"], "--sweep", keywords,
                              "--sweep", "epsilon=" + ",".join(map(str, EPSILONS)), *flags)
    check_strictness(found, weights)
    by_epsilon(weights)
    parted(pairs, ranked, labels)
    accidents(runner, documents.write(directory / "originals.jsonl", originals))


def most_common(texts):
    """The words that are in most documents."""
    counts = Counter(word for text in texts.values() for word in set(words(text)))
    return set(sorted(counts, key=lambda word: (-counts[word], word))[:STOP_WORDS])


def words(text):
    return [word.lower() for word in edits.WORD.findall(text)]


def rank(text, stop_words):
    """Words by count down, then by their bytes."""
    counts = Counter(word for word in words(text) if word not in stop_words)
    return sorted(counts, key=lambda word: (-counts[word], word))


def parameter(found, name):
    return found["parameters"].get(name, "–")


def whole(found, labels):
    """Recall by strength, without a look at weights."""
    rows = []
    for method in found:
        counts = by_class(method)
        check(counts[labels[0]][0] == COUNT, f"{method['name']}: a verbatim copy was missed")
        rows.append([f"`{method['name']}`", parameter(method, "keywords"),
                     *(f"{counts[label][0] / COUNT:.3f}" for label in labels),
                     str(counts["unrelated"][0])])
    print("Share of the copies found, by share of words replaced:\n")
    print_table(["", "N", *labels, f"of {COUNT} unrelated pairs"], rows)


def check_by_counting(found, pairs, ranked):
    """The same answers from word counts: equal keywords, in order or as a set."""
    for method in found:
        if method["name"] == "mirror-1":
            continue
        size = int(parameter(method, "keywords"))
        order = (lambda some: some) if method["name"] == "mirror-2" else sorted
        expected = Counter(
            label for a, b, label in pairs if order(ranked[a][:size]) == order(ranked[b][:size])
        )
        for label, (number, _) in by_class(method).items():
            check(label == "unrelated" or number == expected[label],
                  f"{method['name']} of {size}, {label}: {number}, by counting {expected[label]}")


def check_strictness(found, weights):
    """3 is part of 2 and of 4, which are parts of 5."""
    hits = {(m["name"], parameter(m, "keywords"), m["parameters"].get("epsilon")): m["hits"]
            for m in [*found, *weights]}
    for (name, size, epsilon), number in hits.items():
        if epsilon is None:
            continue
        looser = {"mirror-3": ["mirror-2", "mirror-4"], "mirror-4": ["mirror-5"]}[name]
        for other in looser:
            most = hits[other, size, epsilon if other == "mirror-4" else None]
            check(number <= most, f"{name} finds more than {other}")


def by_epsilon(weights):
    rows = {}
    for method in weights:
        near = method["hits"] + method["misses"]
        key = (method["name"], parameter(method, "keywords"))
        rows.setdefault(key, []).append(f"{method['hits'] / near:.3f}")
    print("Share of all copies found where weights count too, by epsilon:\n")
    print_table(["", "N", *map(str, EPSILONS)],
                [[f"`{name}`", size, *row] for (name, size), row in rows.items()])


def parted(pairs, ranked, labels):
    """Copies of which the sets of N keywords differ, though those of N + 1 are equal."""
    rows = []
    for size in KEYWORDS:
        row = [str(size)]
        for wanted in labels[1:]:
            some = [(ranked[a], ranked[b]) for a, b, label in pairs if label == wanted]
            apart = [(a, b) for a, b in some if set(a[:size]) != set(b[:size])]
            swapped = sum(set(a[: size + 1]) == set(b[: size + 1]) for a, b in apart)
            row.append(f"{100 * len(apart) / len(some):.1f} / {100 * swapped / len(some):.1f}")
        rows.append(row)
    print("Percent of the copies that are parted because their sets of N keywords differ / that "
          "are parted though the sets of N + 1 are equal, so that only the N-th and the next "
          "changed places:\n")
    print_table(["N", *labels[1:]], rows)


def accidents(runner, path):
    """Hits among the originals, no two of which are near."""
    rows = []
    for method in ("mirror-1", "mirror-2", "mirror-5"):
        sizes = [None] if method == "mirror-1" else KEYWORDS
        for size in sizes:
            name = f"{method}:keywords={size}" if size else method
            near, _ = runner.match(path, path, name)
            rows.append([f"`{name}`", str(len(pairs_within(near)))])
    every = COUNT * (COUNT - 1) // 2
    print(f"Pairs among the {every} of different originals that are called mirrors:\n")
    print_table(["", "pairs"], rows)
