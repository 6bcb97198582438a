"""rensa on the words that lie between blanks, as its README shows it: another similarity."""

from documents import work
from with_rensa import find_pairs


def features(text):
    return set(text.split())


if __name__ == "__main__":
    work(lambda corpus: find_pairs(corpus, features))
