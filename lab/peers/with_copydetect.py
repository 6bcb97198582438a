"""copydetect: fingerprints of source code; pairs of which one file has at least 80 % of the other.

Documents whose ids have no extension of source code are taken as text.
"""

import tempfile
from pathlib import Path

from copydetect import CopyDetector
from documents import SIMILARITY, read_documents, work


def find_pairs(corpus):
    with tempfile.TemporaryDirectory() as folder:
        names = {}
        for number, (name, text) in enumerate(read_documents(corpus)):
            path = Path(folder) / f"{number}{Path(name).suffix or '.txt'}"
            path.write_text(text)
            names[str(path)] = name
        detector = CopyDetector(
            test_dirs=[folder], display_t=SIMILARITY, autoopen=False, silent=True, disable_filtering=False
        )
        detector.run()
        for found in detector.get_copied_code_list():
            yield tuple(names[str(path)] for path in found[2:4])


if __name__ == "__main__":
    work(find_pairs)
