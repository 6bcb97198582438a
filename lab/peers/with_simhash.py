"""simhash: 64 bits over counted words, all pairs within distance 3."""

from collections import Counter

from documents import read_documents, words, work
from simhash import Simhash, SimhashIndex

DISTANCE = 3


def find_pairs(corpus, features=lambda text: Counter(words(text))):
    index = SimhashIndex([], k=DISTANCE)
    for name, text in read_documents(corpus):
        sketch = Simhash(features(text))
        for other in index.get_near_dups(sketch):
            yield other, name
        index.add(name, sketch)


if __name__ == "__main__":
    work(find_pairs)
