"""rensa: MinHash of 5-shingles, 16 bands of 8; candidates whose *estimated* similarity is enough.

As in its README, but for the shingles (the README has words, see with_rensa_words.py).
"""

from documents import PERMUTATIONS, SIMILARITY, read_documents, shingles, work
from rensa import RMinHash, RMinHashLSH

BANDS = 16
features = shingles


def find_pairs(corpus, features=shingles):
    ids, sketches = [], []
    index = RMinHashLSH(threshold=SIMILARITY, num_perm=PERMUTATIONS, num_bands=BANDS)
    for number, (name, text) in enumerate(read_documents(corpus)):
        sketch = RMinHash(num_perm=PERMUTATIONS, seed=42)
        sketch.update(list(features(text)))
        for other in index.query(sketch):
            if sketch.jaccard(sketches[other]) >= SIMILARITY:
                yield ids[other], name
        index.insert(number, sketch)
        ids.append(name)
        sketches.append(sketch)


if __name__ == "__main__":
    work(find_pairs)
