"""The published experiment with five methods: 500 originals, 500 copies among 500 unrelated."""

import random

from bench_process import print_table, say
from experiments import documents, edits
from experiments.evaluation import by_class, check

METHODS = ["exact:digest=md5", "characters", "character-codes", "structure-tree", "feature-code"]
# Verbatim, edited, wrong; correctness and recall as printed, in percent.
PUBLISHED = {
    "exact:digest=md5": ("250", "0", "0", "", "50"),
    "characters": ("250", "249", "≤ 1", "99.9", "99.8"),
    "character-codes": ("250", "249", "≤ 1", "99.9", "99.8"),
    "structure-tree": ("250", "213", "0", "", "92.6"),
    "feature-code": ("250", "232", "3", "99.4", "96.4"),
}
STRENGTHS = [0.01, 0.02, 0.05, 0.1, 0.2]
SIZES = [50, 100, 200, 500, 1000]


def run(runner):
    print("## Five methods on Chinese documents\n")
    for name, footers, title in [("real", False, "without the translators' footer"),
                                 ("footers", True, "with it, as fetched")]:
        try:
            real = documents.distinct(documents.chinese(runner.directory, footers), 0.5)
        except documents.Unavailable as error:
            say(error)
            continue
        experiment(runner, name, f"Debian's Chinese documentation, {title}", real)
    made = documents.made(runner.directory, "chinese", 1100, 700)
    experiment(runner, "made", "Generated Chinese", made)


def experiment(runner, name, title, available):
    directory = runner.directory / f"five-{name}"
    originals, others = divide(available, 2)
    count = min(len(originals), len(others), 500)
    originals, others = (dict(list(some.items())[:count]) for some in (originals, others))
    copies, pairs = make_copies(originals, others)
    articles = documents.write(directory / "articles.jsonl", originals)
    samples = documents.write(directory / "samples.jsonl", {**copies, **others})
    both = documents.write(directory / "all.jsonl", {**originals, **copies, **others})
    unrelated = [(b, a, "unrelated") for a, b in zip(originals, others)]
    truth = documents.write_pairs(directory / "pairs.tsv", [*pairs, *unrelated])

    labels = [label_of(share) for share in STRENGTHS]
    costs = runner.costs(both, METHODS)
    rows, by_strength = [], []
    for found in runner.evaluate(both, truth, METHODS, "--closed-world"):
        method = METHODS[len(rows)]
        near, _ = runner.match(articles, samples, method)
        hits = {label: 0 for label in ["verbatim", *labels]}
        for original, copy, label in pairs:
            hits[label] += original in near[copy]
        counted = by_class(found)
        for label, number in hits.items():
            check(counted[label][0] == number, f"{method}: match and evaluate differ in {label}")
        wrong = {sample for sample in others if near[sample]}
        edited = sum(hits[label] for label in labels)
        verbatim = hits["verbatim"]
        half = sum(label == "verbatim" for _, _, label in pairs)
        check(verbatim == half, f"{method}: a verbatim copy was missed")
        if method.startswith("exact"):
            check(not wrong and not edited, "exact: found what is not equal")
        rows.append([
            f"`{method}`", str(verbatim), str(edited), str(len(wrong)),
            f"{100 * (1 - len(wrong) / count):.1f}",
            f"{100 * (verbatim + edited) / count:.1f}",
            share(verbatim + edited, verbatim + edited + len(wrong)),
            share(found["precision"]["part"], found["precision"]["whole"]),
            f"{costs[method]:.1f}",
            " / ".join(PUBLISHED[method][:3]), " / ".join(PUBLISHED[method][3:]),
        ])
        by_strength.append([f"`{method}`", *(f"{hits[x]} / {counted[x][1]}" for x in labels)])
    print(f"### {title}: {count} originals, {count} copies, {count} unrelated\n")
    print_table(["", "verbatim", "edited", "wrong", "correctness, %", "recall, %",
                 "precision, %", "of all pairs, %", "µs a document",
                 "published: verbatim / edited / wrong", "correctness / recall, %"], rows)
    print("Edited copies found, by strength (shares of sentences moved, characters replaced):\n")
    print_table(["", *labels], by_strength)
    times(runner, directory, {**originals, **copies, **others})


def times(runner, directory, available):
    """CPU milliseconds of a whole process that compares documents with each other."""
    rows = {method: [] for method in METHODS}
    for size in SIZES:
        some = documents.sample(available, size, 3)
        path = documents.write(directory / f"some-{size}.jsonl", some)
        for method in METHODS:
            near, seconds = runner.match(path, path, method, runner.runs)
            if method.startswith("exact"):
                check(all(name in near[name] for name in some), "exact: not equal to itself")
            rows[method].append(f"{1000 * seconds:.0f}")
    print("CPU milliseconds of `simtool match` of so many documents with themselves:\n")
    print_table(["", *map(str, SIZES)], [[f"`{method}`", *row] for method, row in rows.items()])


def divide(available, seed):
    """Two halves such that no page has parts in both."""
    pages = sorted({name.split("#")[0] for name in available})
    random.Random(seed).shuffle(pages)
    order = {page: place for place, page in enumerate(pages)}
    names = sorted(available, key=lambda name: (order[name.split("#")[0]], name))
    page = [name.split("#")[0] for name in names]
    cut = len(names) // 2
    while page[cut] == page[cut - 1]:
        cut += 1
    return tuple({name: available[name] for name in part} for part in (names[:cut], names[cut:]))


def make_copies(originals, others):
    """The first half of the originals is copied verbatim, the others are edited, in turn."""
    names, foreign = list(originals), list(others.values())
    copies, pairs = {}, []
    half = len(names) // 2
    for place, name in enumerate(names):
        copy, label, text = f"copy-{place}", "verbatim", originals[name]
        if place >= half:
            strength = STRENGTHS[place % len(STRENGTHS)]
            label = label_of(strength)
            text = edits.chinese(text, foreign[place % len(foreign)], strength, place)
        copies[copy] = text
        pairs.append((name, copy, label))
    return copies, pairs


def label_of(strength):
    return f"{100 * strength:g} %"


def share(part, whole):
    return f"{100 * part / whole:.1f}" if whole else "–"
