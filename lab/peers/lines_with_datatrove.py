"""datatrove's sentence deduplication, of lines: PROGRAM CORPUS.jsonl DIRECTORY.

All three steps in one process, with none of its changes to lines but that of white space. Writes the removed lines to
DIRECTORY/removed.tsv, as numbers of documents and of lines, and the cut documents to DIRECTORY/cut.
"""

import sys
from pathlib import Path

import numpy
from datatrove.pipeline.dedup.sentence_dedup import (
    SentDedupConfig, SentenceDedupFilter, SentenceDedupSignature, SentenceFindDedups,
)
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
from datatrove.utils.hashing import HashConfig
from datatrove.utils.text import TextNormConfig


def main():
    corpus, directory = Path(sys.argv[1]), Path(sys.argv[2])
    same = TextNormConfig(
        lowercase=False, norm_whitespace=True, remove_punctuation=False, norm_unicode_diacritics=False,
        norm_numbers=False, norm_weekdays=False, norm_monthnames=False,
    )
    config = SentDedupConfig(
        n_sentences=1, split_sentences=False, only_dedup_in_index=False, min_doc_words=0,
        min_num_sentences=0, norm_config=same, hash_config=HashConfig(precision=64),
    )
    signatures, found = str(directory / "signatures"), str(directory / "found")
    documents = lambda: JsonlReader(str(corpus.parent), glob_pattern=corpus.name).run()
    SentenceDedupSignature(signatures, config=config).run(documents())
    SentenceFindDedups(signatures, found, config=config).run()
    kept = SentenceDedupFilter(found, config).run(documents())
    for _ in JsonlWriter(str(directory / "cut"), compression=None).run(kept):
        pass
    places = numpy.dtype([("document", "<u4"), ("line", "<u2")])
    with open(directory / "removed.tsv", "w") as removed:
        for path in sorted(Path(found).rglob("*.c4_dup")):
            for document, line in numpy.fromfile(path, places):
                removed.write(f"{document}\t{line}\n")


if __name__ == "__main__":
    main()
