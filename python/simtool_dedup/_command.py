"""The command ``simtool``, as an entry point of the wheel."""

from __future__ import annotations

import sys

from simtool_dedup import _simtool


def main() -> int:
    """Run the command line of this process and return its exit code."""
    return _simtool.main(["simtool", *sys.argv[1:]])
