"""The corpus of bench-peers: generated pages as JSON Lines and as form-feed text, and its truth."""

import csv
import json
import subprocess
from pathlib import Path

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
    """The generated pages in a directory, whose first line is their id."""

    def __init__(self, directory):
        self.directory = directory
        self.pages = []
        for page in (directory / "article.txt").read_text(encoding="utf-8").split("\f"):
            page_id, text = page.lstrip("\n").split("\n", 1)
            self.pages.append((page_id, text))
        self.texts = dict(self.pages)

    def part(self, name, size):
        """As many of the first pages as have `size` bytes."""
        pages, total = [], 0
        for page in self.pages:
            if total >= size:
                break
            pages.append(page)
            total += len(page[1].encode())
        return Part(pages, self.directory, name)

    def planted(self):
        """The pairs of articles that truth.tsv lists, whatever their label."""
        with open(self.directory / "truth.tsv", newline="") as file:
            rows = csv.DictReader(file, delimiter="\t")
            pairs = {tuple(sorted((row["a"], row["b"]))) for row in rows}
        return {pair for pair in pairs if set(pair) <= self.texts.keys()}


def generate(simtool, directory, size):
    """The corpus of that size: the same documents on any machine."""
    command = [simtool, "generate", "--dir", directory, "--size", size, *GENERATE_FLAGS]
    subprocess.run(command, check=True)
    return Corpus(directory)


def read_pairs(path):
    """The pairs that a peer wrote."""
    return {tuple(line.split("\t")) for line in Path(path).read_text().splitlines()}
