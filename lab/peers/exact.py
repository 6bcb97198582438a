"""The exact similarity of pairs: |A ∩ B| / |A ∪ B| of word 5-shingles, counted plainly."""

from functools import lru_cache

from documents import SIMILARITY, shingles

KEPT_DOCUMENTS = 4096


class Exact:
    """Similarities of documents by id."""

    def __init__(self, texts):
        self.texts = texts
        self.shingles = lru_cache(KEPT_DOCUMENTS)(lambda name: shingles(texts[name]))
        self.fractions = {}

    def fraction(self, pair):
        """(shingles in both, shingles in either)."""
        if pair not in self.fractions:
            a, b = map(self.shingles, pair)
            both = len(a & b)
            self.fractions[pair] = both, len(a) + len(b) - both
        return self.fractions[pair]

    def is_similar(self, pair):
        both, either = self.fraction(pair)
        return both * 1000 >= either * round(SIMILARITY * 1000)


def groups(pairs):
    """Document -> a member that stands for all it is connected with."""
    parent = {}

    def root(name):
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for a, b in pairs:
        parent[root(a)] = root(b)
    return {name: root(name) for name in parent}


def count(pairs, true_pairs, exact):
    """(wrong, missed): pairs less similar than they should be; similar ones left unconnected.

    Of a tool that names removed documents without another one, as pairs (a, a): those that are similar
    to none; similar ones of which both are kept.
    """
    alone = {a for a, b in pairs if a == b}
    if alone:
        similar = {name for pair in true_pairs for name in pair}
        return len(alone - similar), sum(not alone & set(pair) for pair in true_pairs)
    group_of = groups(pairs)
    wrong = sum(not exact.is_similar(pair) for pair in pairs)
    missed = sum(a not in group_of or group_of[a] != group_of.get(b) for a, b in true_pairs)
    return wrong, missed
