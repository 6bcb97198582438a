"""The pages of the documentation that have examples of Python, and the files that these read."""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).resolve().parents[2] / "docs"
SERVICE = "http://127.0.0.1:8750"
"""The address of the service in examples."""


class Fence(NamedTuple):
    """A fenced block: its language, its text, and the line of the page on which the text begins."""

    language: str
    text: str
    line: int


def fences(page: Path) -> list[Fence]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```([^\n`]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [Fence(one[1], one[2], text.count("\n", 0, one.start(2)) + 1) for one in found]


def examples(page: Path) -> list[Fence]:
    """The blocks of a page that tests run."""
    return [fence for fence in fences(page) if fence.language == "python"]


def pages() -> dict[str, Path]:
    """The pages for users that have such blocks, by their names."""
    folders = ("tutorial", "how-to", "choosing", "reference")
    found = [path for folder in folders for path in sorted((DOCS / folder).rglob("*.md"))]
    return {str(path.relative_to(DOCS)): path for path in found if examples(path)}


SUBJECTS = [
    ("a bakery", "The first loaves leave the oven at five, long before the market opens."),
    ("a lighthouse", "Its lamp was visible from ships at a distance of twenty miles."),
    ("a railway bridge", "Trains cross it slowly, because the iron has become weak."),
    ("a botanical garden", "The palm house keeps plants from four continents under one roof."),
    ("a school library", "Pupils may borrow three books and keep them for a month."),
    ("a paper mill", "It made newsprint until the river was cleaned and the owners moved."),
    ("a harbour ferry", "In winter it runs only when the ice is thin enough."),
    ("a stone quarry", "Most houses of the old town were built of its grey limestone."),
]
TOWNS = ["Alford", "Berwick", "Corley", "Dunmore", "Esk", "Farley", "Glenby", "Harwell", "Inver", "Kelso"]
SENTENCES = [
    "The council decided in {month} to pay for the repairs over {number} years.",
    "A local historian counted {number} photographs of it in the archive of {town}.",
    "Visitors from {town} usually arrive by bus and stay for about {number} minutes.",
    "During the flood of {year}, water stood {number} centimetres above the floor.",
    "The present owner bought it in {year} from a family who had run it for {number} years.",
    "According to the newspaper of {town}, {number} people signed a letter to keep it open.",
    "Work on the roof began in {month} {year} and took {number} weeks longer than planned.",
    "Its opening hours change in {month}, when fewer than {number} guests come in a week.",
    "An engineer from {town} measured the walls and found {number} cracks that need attention.",
    "In {year} the building won a prize of {number} thousand pounds for careful restoration.",
]
MONTHS = ["January", "March", "April", "June", "August", "October"]
FOOTER = (
    "Read more about towns of the region in our weekly letter, which is free of charge. "
    "All photographs belong to the county archive and may be printed with its permission. "
    "Please report mistakes on this page to the editors, who read every message within two days."
)


def documents(count: int, seed: int) -> list[dict[str, Any]]:
    """Pages about places, of which a quarter repeats another one, edited or not."""
    source = random.Random(seed)
    made: list[dict[str, Any]] = []
    for number in range(count):
        town = source.choice(TOWNS)
        if made and source.random() < 0.25:
            origin = source.choice(made)
            text, url = origin["text"], origin["url"] + "?print=1"
            if source.random() < 0.7:
                text = text.replace(" and ", " & ", 1) + f" Updated in {source.choice(MONTHS)}."
        else:
            subject, fact = source.choice(SUBJECTS)
            filled = [
                sentence.format(
                    month=source.choice(MONTHS), year=source.randrange(1890, 2020),
                    number=source.randrange(2, 90), town=source.choice(TOWNS),
                )
                for sentence in source.sample(SENTENCES, 5)
            ]
            text = " ".join([f"{town} has {subject}.", fact, *filled])
            if source.random() < 0.3:
                text = f"{text}\n{FOOTER}"
            url = f"https://{town.lower()}.example/{seed}/{number}"
        made.append(
            {
                "id": f"{seed}-{number:03}",
                "url": url,
                "date": f"2024-{source.randrange(1, 13):02}-{source.randrange(1, 29):02}",
                "dump": f"2024-{seed * 10:02}",
                "score": source.randrange(100) / 100,
                "text": text,
            }
        )
    return made


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    """JSON Lines, compressed if the name says so."""
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def wet(rows: list[dict[str, Any]]) -> bytes:
    """A file of WET records, each in a member of its own."""
    members = []
    for number, row in enumerate(rows):
        text = row["text"].encode()
        head = (
            f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: {row['url']}\r\n"
            f"WARC-Record-ID: <urn:uuid:{number:032}>\r\nWARC-Date: {row['date']}T00:00:00Z\r\n"
            f"Content-Type: text/plain\r\nContent-Length: {len(text)}\r\n\r\n"
        )
        members.append(gzip.compress(head.encode() + text + b"\r\n\r\n", mtime=0))
    return b"".join(members)


def prepare(directory: Path, polars: Any) -> None:
    """The files that the examples of a page read."""
    (directory / "crawl").mkdir()
    first, second = documents(60, 1), documents(60, 2)
    repeated = [{**row, "id": f"2-r{number}", "dump": "2024-20"} for number, row in enumerate(first[:12])]
    second = [*second[:40], *repeated, *second[40:]]
    write_lines(directory / "crawl" / "part-0.jsonl.gz", first)
    write_lines(directory / "crawl" / "part-1.jsonl.gz", second)
    (directory / "crawl" / "part-0.warc.wet.gz").write_bytes(wet(first))
    new = [*documents(20, 3), *second[:10]]
    write_lines(directory / "new.jsonl", new)
    write_lines(directory / "held-out.jsonl", [*documents(15, 4), *first[20:25]])
    items = [{"id": f"q{number}", "text": " ".join(row["text"].split()[10:40])} for number, row in enumerate(first[::6])]
    write_lines(directory / "benchmark.jsonl", items)
    polars.DataFrame(first).write_parquet(directory / "crawl" / "part-0.parquet")
    polars.DataFrame(second).write_parquet(directory / "crawl" / "part-1.parquet")
