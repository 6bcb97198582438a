"""Deduplication of data frames on a cluster, with the result of one machine.

>>> from simtool_dedup.spark import dedup                       # doctest: +SKIP
>>> out = dedup(frame, text="text", id="url", work="s3://bucket/run1")  # doctest: +SKIP
>>> out.kept.write.parquet("s3://bucket/kept")                  # doctest: +SKIP
"""

from __future__ import annotations

from simtool_dedup.spark._dedup import Result, dedup
from simtool_dedup.spark._read import read

__all__ = ["Result", "dedup", "read"]
