"""rensa on the words that lie between blanks, as its README shows it: another similarity."""

from documents import work
from with_rensa import find_pairs

if __name__ == "__main__":
    work(lambda corpus: find_pairs(corpus, features=str.split))
