"""Running `simtool evaluate` and `simtool match`, and reading what they answer."""

import gzip
import json
import os
import shutil

from bench_process import median, run, say

# The fastest method, xxh3 over the text: a run that does little but read.
NOTHING = "exact"
REPEATED = 30_000_000


class Runner:
    """A built program, a directory for what it writes, and how often times are measured."""

    def __init__(self, simtool, directory, runs):
        self.simtool, self.directory, self.runs = simtool, directory, runs

    def methods(self):
        """The names of all methods."""
        lines = run([self.simtool, "methods"]).output.splitlines()
        return [line.split()[0] for line in lines if line.strip()]

    def evaluate(self, documents, pairs, methods, *flags):
        """The parsed evaluation.json: a list of methods in the order asked for, or swept."""
        out = self.directory / f"report-{os.getpid()}"
        truth = ["--pairs", pairs] if pairs else []
        asked = [word for method in methods for word in ("--method", method)]
        say(f"evaluate {documents.name}: {len(methods)} methods {' '.join(map(str, flags))}")
        run([self.simtool, "evaluate", documents, *truth, *asked, *flags, "--draws", 0,
             "--threads", 1, "--mistakes", 0, "--quiet", "-o", out])
        found = json.loads((out / "evaluation.json").read_text())["methods"]
        shutil.rmtree(out)
        for method in found:
            check_counts(method)
        return found

    def match(self, articles, samples, method, runs=1):
        """sample -> ids of the articles near it, and the CPU seconds of the process."""
        out = self.directory / f"matches-{os.getpid()}.jsonl"
        times = []
        for _ in range(runs):
            out.unlink(missing_ok=True)
            times.append(run([self.simtool, "match", "--articles", articles, "--samples", samples,
                              "--method", method, "-o", out]))
        with open(out) as file:
            lines = map(json.loads, file)
            near = {line["id"]: {match["id"] for match in line["matches"]} for line in lines}
        out.unlink()
        return near, median(time.user + time.system for time in times)

    def costs(self, documents, methods):
        """method -> CPU microseconds a document, what reading takes (and `exact`) not included.

        The documents are read so often that it can be measured, and the least of the runs counts:
        neighbours only ever make a run slower.
        """
        path, pairs, count = self.repeated(documents)
        seconds = {}
        for method in [NOTHING, *methods]:
            flags = ["--pairs", pairs, "--listed-only", "--draws", 0, "--threads", 1, "--quiet"]
            times = [run([self.simtool, "evaluate", path, "--method", method, *flags])
                     for _ in range(max(3, self.runs) if method == NOTHING else self.runs)]
            seconds[method] = min(time.user + time.system for time in times)
        path.unlink()
        pairs.unlink()
        return {
            method: 1e6 * max(0, seconds[method] - seconds[NOTHING]) / count for method in methods
        }

    def repeated(self, documents):
        """A file of about REPEATED bytes, two pairs of it, and how many documents it has."""
        opened = gzip.open if documents.suffix == ".gz" else open
        with opened(documents, "rt") as file:
            rows = [json.loads(line) for line in file]
        times = max(1, round(REPEATED / sum(len(row["text"].encode()) for row in rows)))
        path = self.directory / f"repeated-{os.getpid()}.jsonl"
        with open(path, "w") as file:
            for number in range(times):
                for row in rows:
                    again = {"id": f"{number}-{row['id']}", "text": row["text"]}
                    file.write(json.dumps(again, ensure_ascii=False) + "\n")
        first, second = (f"0-{row['id']}" for row in rows[:2])
        pairs = self.directory / f"repeated-{os.getpid()}.tsv"
        pairs.write_text(f"a\tb\tlabel\n{first}\t{second}\tunrelated\n"
                         f"{first}\t{'1' if times > 1 else '0'}-{rows[0]['id']}\tcopy\n")
        return path, pairs, times * len(rows)


def check_counts(method):
    """Every pair is counted once, in one class and as right or wrong."""
    near = sum(part["whole"] for part in method["classes"] if part["near"])
    found = sum(part["part"] for part in method["classes"] if part["near"])
    check(method["hits"] + method["misses"] == near, f"{method['name']}: pairs of the truth")
    check(method["hits"] == found, f"{method['name']}: hits by class")
    check(method["precision"]["whole"] in (0, method["hits"] + method["false_hits"]),
          f"{method['name']}: precision")


def check(holds, what):
    if not holds:
        raise SystemExit(f"wrong answer: {what}")


def by_class(method):
    """label -> (found, all)."""
    return {part["label"]: (part["part"], part["whole"]) for part in method["classes"]}


def pairs_within(near):
    """The pairs of different documents that a collection matched with itself has."""
    return {frozenset((a, b)) for a, others in near.items() for b in others if a != b}


def best(method):
    """The largest F1 over all thresholds and the threshold, as text.

    A similarity of zero, at which everything is near, is no threshold.
    """
    near, result = method["hits"] + method["misses"], (0.0, "–")
    for point in method["curve"]:
        threshold, hits = point["threshold"], point["hits"]
        score = 2 * hits / (hits + point["false_hits"] + near)
        if "distance" in threshold:
            text = f"≤ {threshold['distance']}"
        else:
            part, whole = threshold["similarity"]
            score, text = score if part else 0.0, f"≥ {part / whole:.2f}"
        if score > result[0]:
            result = (score, text)
    return result
