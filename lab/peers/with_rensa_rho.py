"""rensa's batch of "rho" sketches, the fastest that it has, of the words between blanks.

With the eight bands and four probes of its own benchmark, which compares runs of three words. It says
of each document whether another one is near it, and not which one: both documents of a pair are named.
"""

from documents import PERMUTATIONS, SIMILARITY, read_documents, work
from rensa import RMinHash, RMinHashLSH

BANDS = 8


def find_pairs(corpus):
    documents = list(read_documents(corpus))
    words = [text.split() for _, text in documents]
    sketches = RMinHash.digest_matrix_from_token_sets_rho(words, num_perm=PERMUTATIONS, seed=42, probes=4)
    index = RMinHashLSH(threshold=SIMILARITY, num_perm=PERMUTATIONS, num_bands=BANDS)
    flags = index.query_duplicate_flags_matrix_one_shot(sketches)
    return [(name, name) for (name, _), is_near in zip(documents, flags) if is_near]


if __name__ == "__main__":
    work(find_pairs)
