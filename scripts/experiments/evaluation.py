"""Running `simtool evaluate` and `simtool match`, and reading what they answer."""

import json
import os
import shutil

from bench_process import median, run, say


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

    def match(self, articles, samples, method):
        """sample -> ids of the articles near it, and the CPU seconds of the process."""
        out = self.directory / f"matches-{os.getpid()}.jsonl"
        times = []
        for _ in range(self.runs):
            out.unlink(missing_ok=True)
            times.append(run([self.simtool, "match", "--articles", articles, "--samples", samples,
                              "--method", method, "-o", out]))
        with open(out) as file:
            lines = map(json.loads, file)
            near = {line["id"]: {match["id"] for match in line["matches"]} for line in lines}
        out.unlink()
        return near, median(time.user + time.system for time in times)


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
    """The largest F1 over all thresholds and the threshold, as text."""
    at = method["best"]
    threshold = at["threshold"]
    if "distance" in threshold:
        return at["f1"], f"≤ {threshold['distance']}"
    part, whole = threshold["similarity"]
    return at["f1"], f"≥ {part / whole:.2f}"
