"""Every method of `dedup` and other tools on a set of labelled pairs: what each joins, and its cost."""

import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_process import ROOT, Peak, median, print_machine, print_table, run, say

PEERS = Path(__file__).resolve().parent / "peers"
sys.path.insert(0, str(PEERS))
from installed import ENVIRONMENT, NAMES_NO_PAIRS, RIVALS, install, works  # noqa: E402

# For ids with these endings, tools for source code are tried, too.
CODE = {".c", ".cc", ".cpp", ".cs", ".go", ".java", ".js", ".kt", ".py", ".rs", ".ts"}
# What the authors of a set or of another tool published about it.
PUBLISHED = {
    "irplag": "copydetect 0.5.0 has recall .392 at precision .95 (measured with its default settings)",
}


class Clusters:
    """Documents that are joined, directly or by others."""

    def __init__(self, pairs):
        self.above = {}
        for a, b in pairs:
            self.above[self.of(a)] = self.of(b)

    def of(self, document):
        path = []
        while document in self.above and self.above[document] != document:
            path.append(document)
            document = self.above[document]
        self.above.update(dict.fromkeys(path, document))
        return document


def methods(program):
    """The names of all methods."""
    listed = subprocess.run([program, "methods"], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in listed.stdout.splitlines() if line.strip()]


def by_simtool(program, flags, corpus, folder):
    """The pairs of `dedup` on one thread."""
    out = Path(folder) / "out"
    words = [program, "dedup", corpus, "-o", out, "--quiet", "--no-page", "--threads", "1", "--restart", *flags]

    def pairs():
        with open(out / "duplicates.jsonl") as file:
            return [(line["id"], line["kept"]) for line in map(json.loads, file)]

    return words, pairs


def by_peer(python, name, corpus, folder):
    found = Path(folder) / "pairs.tsv"

    def pairs():
        return [tuple(line.rstrip("\n").split("\t")) for line in open(found)]

    return [python, PEERS / f"with_{name}.py", corpus, found], pairs


def measured(tool, runs):
    """The pairs, the median of CPU seconds, and the peak resident bytes."""
    words, pairs = tool
    peak, seconds = Peak(), []
    for _ in range(runs):
        finished = run(["taskset", "-c", "0", *words], ENVIRONMENT, watch=peak.look)
        seconds.append(finished.user + finished.system)
    return pairs(), median(seconds), peak.resident


def table(name, texts, rows, program, python, options):
    """Prints the table of a set: `rows` are its labelled pairs."""
    of_all = collections.Counter(label for _, _, label, *_ in rows)
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "in.jsonl"
        with open(corpus, "w") as file:
            for document, text in texts.items():
                file.write(json.dumps({"id": document, "text": text}) + "\n")
        tools = {
            f"simtool {method}": by_simtool(program, ["--method", method], corpus, folder)
            for method in methods(program)
        }
        tools |= {
            f"simtool minhash, {least}": by_simtool(program, ["--similarity", least], corpus, folder)
            for least in options.similarity
        }
        tools |= {
            f"simtool {flags}": by_simtool(program, flags.split(), corpus, folder)
            for flags in options.setting
        }
        modules = {peer: module for peer, (module, *_) in RIVALS.items() if peer != NAMES_NO_PAIRS}
        if all(Path(document).suffix in CODE for document in texts):
            modules["copydetect"] = "copydetect"
        for peer, module in modules.items():
            if python and works(python, module):
                tools[peer] = by_peer(python, peer, corpus, folder)
        lines = []
        for tool, command in tools.items():
            try:
                pairs, seconds, peak = measured(command, options.runs)
            except SystemExit as error:
                say(f"{tool} is left out of {name}: {str(error).splitlines()[-1]}")
                continue
            clusters = Clusters(pairs)
            joined = [label for a, b, label, *_ in rows if clusters.of(a) == clusters.of(b)]
            joined = collections.Counter(joined)
            counts = [f"{joined[label]} / {count}" for label, count in sorted(of_all.items())]
            lines.append([tool, *counts, f"{seconds:.2f}", f"{peak >> 20}"])
            say(f"{name}: {' | '.join(lines[-1])}")
    print(f"### {name}: {len(texts)} documents\n")
    print_table(["", *sorted(of_all), "CPU seconds", "peak resident MiB"], lines)
    if name in PUBLISHED:
        print(f"Published: {PUBLISHED[name]}.\n")


def environment(options):
    """The Python program of the peers; `None` if they are left out."""
    if options.no_peers:
        return None
    directory = ROOT / "target" / "peers"
    if not options.no_install:
        install(directory)
    return directory / "bin" / "python"


def begin():
    print_machine()
