"""datasketch: MinHash of 5-shingles; what its LSH, tuned for the similarity, proposes."""

from datasketch import MinHash, MinHashLSH
from documents import PERMUTATIONS, SIMILARITY, read_documents, shingles, work

features = shingles


def find_pairs(corpus):
    index = MinHashLSH(threshold=SIMILARITY, num_perm=PERMUTATIONS)
    for name, text in read_documents(corpus):
        sketch = MinHash(num_perm=PERMUTATIONS)
        sketch.update_batch([shingle.encode() for shingle in shingles(text)])
        for other in index.query(sketch):
            yield other, name
        index.insert(name, sketch, check_duplication=False)


if __name__ == "__main__":
    work(find_pairs)
