"""simhash on text as it comes: its own features, runs of four characters."""

from documents import work
from with_simhash import find_pairs

if __name__ == "__main__":
    work(lambda corpus: find_pairs(corpus, features=lambda text: text))
