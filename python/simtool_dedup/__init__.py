"""Find near-duplicate texts in frames, lists and files of any size.

>>> import simtool_dedup as simtool
>>> text = "A cat sat on the mat while a dog slept in the sun behind the house"
>>> simtool.dedup([text, "Something else", text + "!"]).kept[1:]
['Something else']

:func:`dedup` removes near-duplicates, :func:`lines` and :func:`spans` find what documents repeat
that otherwise differ, :func:`decontaminate` finds parts of evaluation sets, :func:`explain` shows why two texts are near,
:func:`simhash`, :func:`minhash`, :func:`shingles` and :func:`fingerprint` compute what they are
found by, :func:`neighbours` finds all pairs of near fingerprints, :class:`Index` remembers texts on
disk, :class:`SeenClient` asks a service ``simtool serve`` that does, and :func:`evaluate` and
:func:`tune` measure which method suits your texts. The command ``simtool`` comes with the package.
"""

from simtool_dedup._decontaminate import decontaminate
from simtool_dedup._dedup import dedup
from simtool_dedup._evaluate import evaluate, tune
from simtool_dedup._explain import Explanation, Similarity, explain, similarity
from simtool_dedup._file_result import FileResult
from simtool_dedup._fingerprints import (
    fingerprint,
    methods,
    minhash,
    neighbours,
    shingles,
    simhash,
)
from simtool_dedup._index import Index
from simtool_dedup._lines import lines
from simtool_dedup._options import Choice, FileOptions
from simtool_dedup._passage_files import PassageFiles
from simtool_dedup._passage_result import Passage, PassageResult
from simtool_dedup._result import Explanations, Result
from simtool_dedup._rows_result import RowsResult
from simtool_dedup._simtool import Error, Table, __version__
from simtool_dedup._spans import spans
from simtool_dedup.client import SeenClient, SeenError

__all__ = [
    "Choice",
    "Error",
    "Explanation",
    "Explanations",
    "FileOptions",
    "FileResult",
    "Index",
    "Passage",
    "PassageFiles",
    "PassageResult",
    "Result",
    "RowsResult",
    "SeenClient",
    "SeenError",
    "Similarity",
    "Table",
    "__version__",
    "decontaminate",
    "dedup",
    "evaluate",
    "explain",
    "fingerprint",
    "lines",
    "methods",
    "minhash",
    "neighbours",
    "shingles",
    "similarity",
    "simhash",
    "spans",
    "tune",
]
