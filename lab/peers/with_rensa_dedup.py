"""rensa's deduplicator of the words between blanks, as its README shows it, in batches.

Pairs of each removed document with the kept ones that it repeats by their estimated similarity.
"""

from itertools import islice

from documents import PERMUTATIONS, SIMILARITY, read_documents, work
from rensa import RMinHashDeduplicator
from with_rensa_words import features  # noqa: F401

BATCH = 1000


def find_pairs(corpus):
    index = RMinHashDeduplicator(threshold=SIMILARITY, num_perm=PERMUTATIONS, use_lsh=True)
    documents = ((name, text.split()) for name, text in read_documents(corpus))
    while batch := list(islice(documents, BATCH)):
        flags = index.add_pairs(batch)
        removed = [document for document, is_kept in zip(batch, flags) if not is_kept]
        found = index.get_duplicate_sets([words for _, words in removed])
        for (name, _), others in zip(removed, found):
            for other in others:
                yield other, name


if __name__ == "__main__":
    work(find_pairs)
