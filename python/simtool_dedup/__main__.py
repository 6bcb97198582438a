"""``python -m simtool_dedup``: the command ``simtool``."""

from __future__ import annotations

import sys

from simtool_dedup._command import main

if __name__ == "__main__":
    sys.exit(main())
