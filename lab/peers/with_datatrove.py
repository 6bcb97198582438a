"""datatrove: MinHash of 5-shingles of its own words, 14 buckets of 8; what its buckets propose.

Its own readers and steps in one process; the pairs are those that its cluster step joins.
"""

import struct
import tempfile
from functools import cache
from pathlib import Path

from datatrove.pipeline.dedup.minhash import (
    MinhashConfig, MinhashDedupBuckets, MinhashDedupSignature,
)
from datatrove.pipeline.readers import JsonlReader
from datatrove.utils.hashing import HashConfig
from documents import SHINGLE_WORDS, read_documents, work

PAIR = struct.Struct("<4I")
CONFIG = MinhashConfig(n_grams=SHINGLE_WORDS, hash_config=HashConfig(precision=64))


@cache
def signature():
    return MinhashDedupSignature(tempfile.gettempdir(), CONFIG)


def features(text):
    return set(signature().get_shingles(text).flat)


def find_pairs(corpus):
    corpus = Path(corpus)
    with tempfile.TemporaryDirectory(dir=corpus.parent) as directory:
        signatures, buckets = Path(directory, "signatures"), Path(directory, "buckets")
        documents = JsonlReader(str(corpus.parent), glob_pattern=corpus.name).run()
        MinhashDedupSignature(str(signatures), CONFIG).run(documents)
        for rank in range(CONFIG.num_buckets):
            step = MinhashDedupBuckets(str(signatures), str(buckets), config=CONFIG)
            step.run(rank=rank, world_size=CONFIG.num_buckets)
        ids = [name for name, _ in read_documents(corpus)]
        for path in sorted(buckets.glob("*.dups")):
            for _, first, _, second in PAIR.iter_unpack(path.read_bytes()):
                yield ids[first], ids[second]


if __name__ == "__main__":
    work(find_pairs)
