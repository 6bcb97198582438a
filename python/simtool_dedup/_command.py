"""The command ``simtool``, as an entry point of the wheel."""

from __future__ import annotations

import signal
import sys

from simtool_dedup import _simtool


def main() -> int:
    """Run the command line of this process and return its exit code."""
    # The command handles Ctrl-C itself; the handler of Python would raise an exception besides.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _simtool.main(["simtool", *sys.argv[1:]])
