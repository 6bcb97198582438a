"""Every method with its defaults on revisions of real texts by their own authors."""

from bench_process import print_table
from experiments.evaluation import best, by_class, check

CLASSES = ["minor", "edited", "heavy", "unrelated"]


def run(runner):
    print("## Every method on revisions of real texts\n")
    for name, directory in runner.revisions():
        found = runner.evaluate(directory / "docs.jsonl.gz", directory / "pairs.tsv",
                                runner.methods())
        costs = runner.costs(directory / "docs.jsonl.gz", runner.methods())
        sizes = by_class(found[0])
        rows = []
        for method in found:
            counts = by_class(method)
            check({label: whole for label, (_, whole) in counts.items()}
                  == {label: whole for label, (_, whole) in sizes.items()},
                  f"{method['name']}: other pairs")
            score, threshold = best(method)
            rows.append([f"`{method['name']}`", *(str(counts[label][0]) for label in CLASSES),
                         f"{method['f1']['value'] or 0:.3f}", f"{score:.3f}", threshold,
                         str(method["without_score"]),
                         f"{costs[method['name']]:.0f}",
                         f"{method['bytes_per_document']:.0f}"])
        print(f"### {name}\n")
        print_table(["", *(f"{label} ({sizes[label][1]})" for label in CLASSES), "F1",
                     "best F1", "at", "not comparable", "µs a document", "bytes"], rows)
