"""What every peer is given: the documents, their words and shingles, and where its pairs go."""

import json
import os
import re
import resource
import sys
import time

SHINGLE_WORDS = 5
SIMILARITY = 0.8
PERMUTATIONS = 128
WORD = re.compile("[a-z0-9]+")


def read_documents(path):
    """(id, text) of each line."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            document = json.loads(line)
            yield document["id"], document["text"]


def words(text):
    """Runs of ASCII letters and digits in lower case."""
    return WORD.findall(text.lower())


def shingles(text):
    """The different runs of five words; of a shorter document, all its words as one."""
    found = words(text)
    last = max(1, len(found) - SHINGLE_WORDS + 1)
    return {" ".join(found[start : start + SHINGLE_WORDS]) for start in range(last)}


def work(find_pairs):
    """Runs a peer: PROGRAM CORPUS.jsonl PAIRS.tsv.

    Writes the pairs that `find_pairs(path)` yields and prints the seconds and CPU seconds of that,
    without the start of Python and the imports, and the peak KiB of the largest child process.
    """
    corpus, output = sys.argv[1:]
    start, start_cpu = time.perf_counter(), cpu_seconds()
    pairs = {tuple(sorted(pair)) for pair in find_pairs(corpus)}
    write_pairs(output, pairs)
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(time.perf_counter() - start, cpu_seconds() - start_cpu, children)


def write_pairs(path, pairs):
    """Writes pairs of ids."""
    with open(path, "w") as file:
        file.writelines(f"{a}\t{b}\n" for a, b in sorted(pairs))


def cpu_seconds():
    """Of this process and of those it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
