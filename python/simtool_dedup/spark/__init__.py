"""Deduplication of files and data frames on a cluster, with the result of one machine.

>>> from simtool_dedup.spark import dedup                       # doctest: +SKIP
>>> out = dedup("crawl/*.warc.gz", spark=spark, work="/shared/run1")    # doctest: +SKIP
>>> out.kept.write.parquet("/shared/kept")                      # doctest: +SKIP
"""

from __future__ import annotations

from simtool_dedup.spark._dedup import dedup
from simtool_dedup.spark._read import read
from simtool_dedup.spark._result import SparkResult

__all__ = ["SparkResult", "dedup", "read"]
