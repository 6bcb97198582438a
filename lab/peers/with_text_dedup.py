"""text-dedup: its own minhash program (5-shingles, 128 permutations), then the clusters it found.

With its verification: the exact similarity of all pairs of a cluster, by its own words. A cluster is
written as pairs of each document with the one that stays, as the program decides.
"""

import json
import pickle
import tempfile
from functools import cache
from pathlib import Path

from datasets.utils.logging import disable_progress_bar
from documents import PERMUTATIONS, SHINGLE_WORDS, SIMILARITY, work
from text_dedup.config.algorithms.minhash import MinHashAlgorithmConfig
from text_dedup.config.base import load_config_from_toml
from text_dedup.minhash import main

# Within a cluster, a document is compared with all others.
CLUSTERS = True
# A JSON string is also a string of TOML.
CONFIG = """
[input]
input_type = "local_files"
file_type = "json"
read_arguments = {{ path = "json", data_files = {corpus}, split = "train", cache_dir = {cache} }}
[algorithm]
algorithm_name = "minhash"
text_column = "text"
num_proc = 1
num_perm = {permutations}
ngram_size = {words}
threshold = {similarity}
check_false_positive = true
[output]
output_dir = {output}
save_clusters = true
[debug]
"""


@cache
def ngrams():
    config = MinHashAlgorithmConfig(
        algorithm_name="minhash", text_column="text", num_perm=PERMUTATIONS, ngram_size=SHINGLE_WORDS,
        threshold=SIMILARITY,
    )
    return config.get_ngrams_func()


def features(text):
    return ngrams()(text)


def find_pairs(corpus):
    with tempfile.TemporaryDirectory(dir=Path(corpus).parent) as directory:
        names = {"corpus": corpus, "cache": f"{directory}/cache", "output": f"{directory}/output"}
        config = Path(directory, "config.toml")
        config.write_text(CONFIG.format(
            **{name: json.dumps(str(path)) for name, path in names.items()},
            permutations=PERMUTATIONS, words=SHINGLE_WORDS, similarity=SIMILARITY,
        ))
        main(load_config_from_toml(config))
        with open(f"{directory}/output/clusters.pickle", "rb") as file:
            clusters = pickle.load(file)
    with open(corpus, encoding="utf-8") as file:
        ids = [json.loads(line)["id"] for line in file]
    for number, first in clusters.items():
        if number != first:
            yield ids[first], ids[number]


if __name__ == "__main__":
    disable_progress_bar()
    work(find_pairs)
