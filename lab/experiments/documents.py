"""Documents that anyone can fetch or make: Debian's documentation, and generated text."""

import gzip
import json
import random
import re
import subprocess
import zlib
from collections import defaultdict
from pathlib import Path

from bench_process import generate, say
from experiments import text

CHINESE = ["manpages-zh", "debian-reference-zh-cn"]
ENGLISH = ["manpages", "manpages-dev", "perl-doc", "git-doc"]
TEMPLATES = [
    "manpages", "manpages-dev", "git-doc", "python3.11-doc", "sqlite3-doc",
    "debian-reference-en", "manpages-zh", "debian-reference-zh-cn",
]
FOOTER = re.compile(
    r"\n(?=\[?中文版(?:维护人|最新更新)|跋\n|.{0,3}中国 ?Linux ?论坛)", re.I
)
SHINGLE = 9  # characters
LONGEST = 200_000


class Unavailable(Exception):
    """Documents that could not be fetched."""


def package(directory, name):
    """The unpacked Debian package, fetched unless it is there."""
    unpacked = directory / name
    if unpacked.exists():
        return unpacked
    say(f"fetching {name}")
    fetched = directory / "debs"
    fetched.mkdir(parents=True, exist_ok=True)
    half = directory / f"{name}.part"
    try:
        subprocess.run(["apt-get", "download", "-q", name], cwd=fetched, check=True)
        archive = max(fetched.glob(f"{name}_*.deb"), key=lambda path: path.stat().st_mtime)
        subprocess.run(["dpkg-deb", "-x", archive, half], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(f"the package {name} cannot be fetched: {error}") from error
    return half.rename(unpacked)


def pages(directory, name):
    """id -> text of each page of a package, in the order of their paths.

    Left out: the traditional Chinese manual pages (made of the simplified ones by a program), the
    examples and sources beside the HTML, and pages of which little or more than a book is left.
    """
    root = package(directory, name)
    found = {}
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root).as_posix()
        if path.is_symlink() or not path.is_file() or "/zh_TW/" in inside:
            continue
        content = read(path, inside)
        if content and 200 <= len(content) <= LONGEST:
            found[f"{name}/{inside.removeprefix('usr/share/')}"] = content
    return found


def read(path, inside):
    if "/man/" in inside and inside.endswith(".gz"):
        return text.roff(gzip.decompress(path.read_bytes()).decode(errors="replace"))
    if inside.endswith(".html"):
        return text.html(path.read_text(errors="replace"))
    if inside.endswith(".pod"):
        return text.pod(path.read_text(errors="replace"))
    return None


def hanzi(content):
    return len(re.findall("[\u4e00-\u9fff]", content))


def chinese(directory, footers):
    """id -> text: parts of 200 to 1250 characters, 30 % of them hanzi and more, six of a page.

    Parts without a Chinese full stop are lists and examples, no prose, and are left out. Most
    manual pages end with the same lines about their translation: the footer.
    """
    found = {}
    for name in CHINESE:
        for page, content in pages(directory, name).items():
            content = content if footers else FOOTER.split(content)[0]
            kept = [part for part in parts(content, 1000) if prose(part)]
            for number, part in enumerate(kept[:6]):
                found[f"{page}#{number}"] = part
    return found


def prose(part):
    return hanzi(part) >= 0.3 * len(part) and "。" in part


def parts(content, size):
    """A text cut at line ends into parts of about `size` characters; none below a fifth of it."""
    part, length = [], 0
    for line in content.split("\n"):
        part.append(line)
        length += len(line)
        if length >= size:
            yield "\n".join(part)[: size + size // 4]
            part, length = [], 0
    if length >= size // 5:
        yield "\n".join(part)


def english(directory):
    """id -> text: manual pages, Perl's and Git's documentation of 150 to 4000 words."""
    found = {}
    for name in ENGLISH:
        for page, content in pages(directory, name).items():
            if 150 <= len(content.split()) <= 4000:
                found[page] = content
    return found


def templates(directory):
    """id -> text: thousands of pages of up to 20000 characters, hundreds of one template each."""
    return {
        page: content
        for name in TEMPLATES
        for page, content in pages(directory, name).items()
        if len(content) <= 20_000
    }


def made(directory, language, documents, words):
    """id -> text: generated documents, none of which repeats another."""
    flags = ["--language", language, "--documents", documents, "--duplicates", "0",
             "--words-per-document", words, "--samples", "1"]
    into = generate(directory / f"made-{language}-{documents}", *map(str, flags))
    chunks = (into / "article.txt").read_text().split("\f")
    return dict(chunk.strip().split("\n", 1) for chunk in chunks if chunk.strip())


def shingles(content):
    """Hashes of the runs of nine characters, white space apart."""
    letters = "".join(content.split()).encode("utf-32-le")
    width = 4 * SHINGLE
    return {zlib.crc32(letters[i : i + width]) for i in range(0, len(letters) - width + 1, 4)}


def resemblance(one, other):
    return len(one & other) / (len(one | other) or 1)


def distinct(documents, most):
    """Documents of which no two have more than the share `most` of their shingles in common.

    Collections have copies of their own, which would be taken for false hits. Of two alike, the
    later goes. Every eighth shingle is looked at, by its hash, which estimates the share well.
    """
    kept, sets, having = {}, {}, defaultdict(list)
    for name, content in documents.items():
        mine, shared = {s for s in shingles(content) if s % 8 == 0}, defaultdict(int)
        for shingle in mine:
            for other in having.get(shingle, ()):
                shared[other] += 1
        limit = most / (1 + most)
        if any(count > limit * (len(mine) + len(sets[other])) for other, count in shared.items()):
            continue
        kept[name], sets[name] = content, mine
        for shingle in mine:
            having[shingle].append(name)
    say(f"{len(kept)} of {len(documents)} documents share at most {most} with another")
    return kept


def sample(documents, count, seed):
    """So many of the documents, drawn by a seed, in a random order."""
    names = sorted(documents)
    random.Random(seed).shuffle(names)
    return {name: documents[name] for name in names[:count]}


def write(path, documents):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        for name, content in documents.items():
            file.write(json.dumps({"id": name, "text": content}, ensure_ascii=False) + "\n")
    return path


def write_pairs(path, pairs):
    """Rows of a, b, label."""
    Path(path).write_text("a\tb\tlabel\n" + "".join("\t".join(pair) + "\n" for pair in pairs))
    return path
