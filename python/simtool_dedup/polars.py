"""The namespace ``simtool`` of polars expressions; importing this module registers it.

>>> import polars as pl
>>> import simtool_dedup.polars
>>> text = "A cat sat on the mat while a dog slept in the sun behind the house"
>>> df = pl.DataFrame({"body": [text, "Something else", text.upper()]})
>>> df.filter(pl.col("body").simtool.is_kept()).height
2
>>> df.select(pl.col("body").simtool.simhash()).dtypes
[UInt64]
"""

from __future__ import annotations

from typing import Any

import polars as pl

from simtool_dedup._dedup import dedup
from simtool_dedup._fingerprints import minhash, simhash

__all__ = ["SimtoolExpressions"]

# Polars imports NumPy with its first array; two expressions that do this at once can fail (polars 2.1).
pl.Series(simhash([]))


@pl.api.register_expr_namespace("simtool")  # type: ignore[untyped-decorator,unused-ignore]
class SimtoolExpressions:
    """Functions of an expression of texts: ``pl.col("body").simtool``.

    They work in eager and lazy frames. The streaming engine computes fingerprints in batches.
    """

    def __init__(self, texts: Any) -> None:
        self._texts = texts

    def simhash(self, *, bits: int = 64, **options: Any) -> Any:
        """Compute the SimHash of each text.

        Parameters
        ----------
        bits : int, default 64
            32 or 64.
        **options
            Other parameters of :func:`simtool_dedup.simhash`.

        Returns
        -------
        polars.Expr
            Of type ``UInt32`` or ``UInt64``; 0 for texts without features and for null.

        Raises
        ------
        ValueError
            For other ``bits``, which are not numbers of polars.
        """
        if bits not in (32, 64):
            raise ValueError(f"bits {bits}: expected 32 or 64 for a column of polars")
        data_type = pl.UInt64 if bits == 64 else pl.UInt32

        def of(texts: Any) -> Any:
            return pl.Series(texts.name, simhash(texts, bits=bits, **options), dtype=data_type)

        return self._texts.map_batches(of, return_dtype=data_type, is_elementwise=True)

    def minhash(self, *, hashes: int = 128, **options: Any) -> Any:
        """Compute the MinHash signature of each text.

        Parameters
        ----------
        hashes : int, default 128
            Numbers in a signature.
        **options
            Other parameters of :func:`simtool_dedup.minhash`.

        Returns
        -------
        polars.Expr
            Of type ``Array(UInt32, hashes)``.
        """
        data_type = pl.Array(pl.UInt32, hashes)

        def of(texts: Any) -> Any:
            return pl.Series(texts.name, minhash(texts, hashes=hashes, **options), dtype=data_type)

        return self._texts.map_batches(of, return_dtype=data_type, is_elementwise=True)

    def is_kept(self, **options: Any) -> Any:
        """Tell which texts stay when near-duplicates are removed, as :attr:`Result.mask`.

        Parameters
        ----------
        **options
            Parameters of :func:`simtool_dedup.dedup` for a single column.

        Returns
        -------
        polars.Expr
            Of type ``Boolean``, for ``filter`` and ``with_columns``. Texts that are null stay. All
            texts of the column, or of the group, are compared.
        """

        def of(texts: Any) -> Any:
            return pl.Series(texts.name, dedup(texts, **options).mask, dtype=pl.Boolean)

        return self._texts.map_batches(of, return_dtype=pl.Boolean)
