"""The corpus of bench-peers: generated pages as JSON Lines and as form-feed text, and its truth."""

import csv
import json
import subprocess
from pathlib import Path

from exact import groups

# A share of words edited, to the similarity of word 5-shingles: 0.005 .95, 0.01 .91, 0.02 .82,
# 0.025 .79, 0.04 .69, 0.1 .42: close to the threshold 0.8 on both sides.
STRENGTHS = "0,0.005,0.01,0.02,0.025,0.04,0.1"
GENERATE_FLAGS = ["--seed", "1", "--samples", "1", "--duplicates", "0.2", "--strength", STRENGTHS]


class Part:
    """The first documents of a corpus, as files that a tool reads."""

    def __init__(self, pages, directory, name):
        self.ids = {page_id for page_id, _ in pages}
        self.text_bytes = sum(len(text.encode()) for _, text in pages)
        self.jsonl = directory / f"{name}.jsonl"
        self.form_feed = directory / f"{name}.txt"
        with open(self.jsonl, "w", encoding="utf-8") as file:
            for page_id, text in pages:
                line = json.dumps({"id": page_id, "text": text}, ensure_ascii=False)
                file.write(line + "\n")
        separated = "\f".join(f"{page_id}\n{text}" for page_id, text in pages)
        self.form_feed.write_text(separated, encoding="utf-8")


class Corpus:
    """The generated pages in a directory, whose first line is their id.

    Pages that were planted as alike stand together, so that any beginning has its share of pairs.
    """

    def __init__(self, directory):
        self.directory = directory
        pages = []
        for page in (directory / "article.txt").read_text(encoding="utf-8").split("\f"):
            page_id, text = page.lstrip("\n").split("\n", 1)
            pages.append((page_id, text))
        self.texts = dict(pages)
        self.planted = self.read_truth()
        group_of = groups(pair for pair, label in self.planted.items() if label != "unrelated")
        first = {}
        for number, (page_id, _) in enumerate(pages):
            first.setdefault(group_of.get(page_id, page_id), number)
        self.pages = sorted(pages, key=lambda page: first[group_of.get(page[0], page[0])])

    def part(self, name, size):
        """As many of the first pages as have `size` bytes."""
        pages, total = [], 0
        for page in self.pages:
            if total >= size:
                break
            pages.append(page)
            total += len(page[1].encode())
        return Part(pages, self.directory, name)

    def read_truth(self):
        """The pairs of articles in truth.tsv, and their labels."""
        with open(self.directory / "truth.tsv", newline="") as file:
            rows = csv.DictReader(file, delimiter="\t")
            labels = {tuple(sorted((row["a"], row["b"]))): row["label"] for row in rows}
        return {pair: label for pair, label in labels.items() if set(pair) <= self.texts.keys()}


def generate(simtool, directory, size, words):
    """The corpus of that size and of documents of so many words: the same on any machine."""
    directory.mkdir(parents=True, exist_ok=True)
    command = [simtool, "generate", "--dir", directory, "--size", size, *GENERATE_FLAGS]
    command += ["--words-per-document", str(words)]
    subprocess.run(command, check=True)
    return Corpus(directory)


def read_pairs(path):
    """The pairs that a peer wrote."""
    return {tuple(line.split("\t")) for line in Path(path).read_text().splitlines()}
