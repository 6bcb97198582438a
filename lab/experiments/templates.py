"""Pages of one template: what every method finds of planted copies, and what it finds besides."""

import random

from bench_process import print_table, say
from experiments import documents
from experiments.evaluation import by_class, check, pairs_within

PLANTED = 200
# Pairs whose shingles are compared; of more, so many are drawn.
COMPARED = 3000


def run(runner):
    directory = runner.directory / "templates"
    available = documents.templates(runner.directory)
    path = documents.write(directory / "docs.jsonl", available)
    size = sum(len(text.encode()) for text in available.values())
    print(f"## Pages of one template: {len(available)} documents, {size / 1e6:.1f} MB\n")
    methods = runner.methods()
    evaluated = runner.evaluate(path, None, methods, "--planted", "--copied", PLANTED)
    labels = [part["label"] for part in evaluated[0]["classes"]]
    planted_table(evaluated, labels)
    false_hits(runner, path, available, methods)


def planted_table(evaluated, labels):
    """A column a kind of edit; in it, how many are found of each strength."""
    kinds = {}
    for label in labels:
        kind, dash, strength = label.partition("-")
        kinds.setdefault(kind, []).append((label, strength))
    rows = []
    for found in evaluated:
        counts = by_class(found)
        check(list(counts) == labels, f"{found['name']}: other classes")
        check(all(whole == PLANTED for _, whole in counts.values()), f"{found['name']}: copies")
        cells = (" ".join(str(counts[label][0]) for label, _ in group) for group in kinds.values())
        rows.append([f"`{found['name']}`", *cells, f"{found['bytes_per_document']:.0f}"])
    strengths = " ".join(strength for _, strength in next(iter(kinds.values())))
    print(f"Found of {PLANTED} planted copies of each kind and strength ({strengths} percent of "
          f"the words), and of {PLANTED} unrelated pairs:\n")
    print_table(["", *kinds, "bytes a document"], rows)


def false_hits(runner, path, available, methods):
    """All pairs that a method finds, by the share of shingles that they have in common."""
    sets, rows = {}, []
    for method in methods:
        say(f"all pairs: {method}")
        near, seconds = runner.match(path, path, method)
        pairs = sorted(tuple(sorted(pair)) for pair in pairs_within(near))
        check(all(a in near[b] and b in near[a] for a, b in pairs), f"{method}: not symmetric")
        if method == "exact":
            check(all(available[a] == available[b] for a, b in pairs), "exact: not equal")
        some = pairs
        if len(pairs) > COMPARED:
            some = random.Random(17).sample(pairs, COMPARED)
        counts = [0, 0, 0, 0]
        for pair in some:
            for name in pair:
                if name not in sets:
                    sets[name] = documents.shingles(available[name])
            share = documents.resemblance(*(sets[name] for name in pair))
            counts[(share < 0.8) + (share < 0.5) + (share < 0.2)] += 1
        check(sum(counts) == len(some), f"{method}: counts do not add up")
        scale = len(pairs) / (len(some) or 1)
        about = "about " if scale > 1 else ""
        rows.append([f"`{method}`", str(len(pairs)),
                     *(f"{about if count else ''}{count * scale:.0f}" for count in counts),
                     f"{seconds:.1f}"])
    print(f"Pairs found among the {len(available)} documents without the planted ones, by the "
          "share of runs of nine characters that they have in common:\n")
    shares = ["≥ 0.8", "0.5 to 0.8", "0.2 to 0.5", "below 0.2"]
    print_table(["", "pairs", *shares, "CPU seconds"], rows)
