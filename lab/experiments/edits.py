"""Edited copies of known strength. Each draws from its own seed: the same copies on any machine."""

import random
import re

SENTENCE = re.compile(r"[^。！？；!?;.\n]*(?:[。！？；!?;\n]|\.(?=\s)|\.|$)\n*")
HANZI = re.compile("[\u4e00-\u9fff]")
WORD = re.compile(r"[A-Za-z]+")


def sentences(text):
    """Cut behind full stops, question and exclamation marks, semicolons and line ends; joined
    again they are the text."""
    return [piece for piece in SENTENCE.findall(text) if piece]


def move_sentences(text, share, draw):
    """Takes a share of the sentences, rounded up, and puts each to a random place."""
    pieces = sentences(text)
    for _ in range(count(len(pieces), share)):
        piece = pieces.pop(draw.randrange(len(pieces)))
        pieces.insert(draw.randrange(len(pieces) + 1), piece)
    return "".join(pieces)


def insert_sentence(text, other, draw):
    """Puts one sentence of another text, of ten characters and more, between two sentences."""
    pieces = sentences(text)
    choice = [piece for piece in sentences(other) if len(piece) >= 10] or [other[:40]]
    pieces.insert(draw.randrange(len(pieces) + 1), draw.choice(choice))
    return "".join(pieces)


def replace(text, pattern, pool, share, draw):
    """Puts random members of the pool in the place of a share of what matches."""
    spans = [match.span() for match in pattern.finditer(text)]
    chosen = sorted(draw.sample(spans, count(len(spans), share)))
    result, end = [], 0
    for start, stop in chosen:
        result += [text[end:start], draw.choice(pool)]
        end = stop
    return "".join([*result, text[end:]])


def count(total, share):
    """A share of a number, rounded up."""
    return min(total, -int(-total * share // 1))


def chinese(text, other, share, seed):
    """One published kind of edit each: sentences moved, characters replaced, one inserted."""
    draw = random.Random(seed)
    text = move_sentences(text, share, draw)
    text = replace(text, HANZI, HANZI.findall(other) or ["的"], share, draw)
    return insert_sentence(text, other, draw)


def english(text, pool, share, moved, seed):
    """Words replaced by words of the collection, as frequent as they are there; sentences moved."""
    draw = random.Random(seed)
    return replace(move_sentences(text, moved, draw), WORD, pool, share, draw)


def framed(text, frame, share):
    """The text in a frame that makes up a share of the words: before it and, a half, behind it."""
    body = text.split(" ")
    words = frame.split(" ")[: max(2, int(len(body) * share / (1 - share)))]
    half = len(words) // 2
    return " ".join([*words[:half], *body, *words[half:]])
