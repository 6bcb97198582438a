"""How many removals of a peer are wrong by its own features: PROGRAM NAME CORPUS.jsonl PAIRS.tsv.

By the exact Jaccard similarity of the sets that the peer itself makes of texts, instead of the word
5-shingles of documents.py. A peer that compares within clusters (`CLUSTERS`) is wrong about a document
that is near no other one of its cluster.
"""

import importlib
import sys
from collections import defaultdict

from corpus import read_pairs
from documents import SIMILARITY, read_documents


def is_near(a, b):
    both = len(a & b)
    return both >= SIMILARITY * (len(a) + len(b) - both)


def wrong(peer, sets, pairs):
    """The number of wrong pairs."""
    if not getattr(peer, "CLUSTERS", False):
        return sum(not is_near(sets[a], sets[b]) for a, b in pairs)
    place = {name: number for number, name in enumerate(sets)}
    removed = [sorted(pair, key=place.get) for pair in pairs]
    clusters = defaultdict(set)
    for first, name in removed:
        clusters[first] |= {first, name}
    return sum(
        not any(is_near(sets[name], sets[other]) for other in clusters[first] - {name})
        for first, name in removed
    )


def main():
    name, corpus, path = sys.argv[1:]
    peer = importlib.import_module(f"with_{name}")
    pairs = read_pairs(path)
    named = {document for pair in pairs for document in pair}
    sets = {
        document: set(peer.features(text))
        for document, text in read_documents(corpus)
        if document in named
    }
    print(wrong(peer, sets, pairs))


if __name__ == "__main__":
    main()
