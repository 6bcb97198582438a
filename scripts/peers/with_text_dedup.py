"""text-dedup: its own minhash program (5-shingles, 128 permutations), then the clusters it found.

A cluster is written as pairs of each document with the one that stays, as the program decides.
"""

import pickle
import tempfile
from pathlib import Path

from datasets.utils.logging import disable_progress_bar
from documents import PERMUTATIONS, SHINGLE_WORDS, SIMILARITY, work
from text_dedup.minhash import main


def find_pairs(corpus):
    with tempfile.TemporaryDirectory(dir=Path(corpus).parent) as directory:
        flags = {
            "--path": "json", "--data_files": corpus, "--split": "train",
            "--cache_dir": f"{directory}/cache", "--output": f"{directory}/output",
            "--column": "text", "--idx_column": "id", "--num_proc": "1",
            "--ngram": str(SHINGLE_WORDS), "--num_perm": str(PERMUTATIONS),
            "--threshold": str(SIMILARITY),
        }
        words = [word for pair in flags.items() for word in pair]
        main([*words, "--debug"], standalone_mode=False)
        with open(f"{directory}/output/uf.pkl", "rb") as file:
            clusters = pickle.load(file)
        for name in list(clusters.parent):
            if (root := clusters.find(name)) != name:
                yield root, name


if __name__ == "__main__":
    disable_progress_bar()
    work(find_pairs)
