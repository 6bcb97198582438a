"""Progress bars."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Watch = Callable[[str, int, int], None]


@contextmanager
def watching(progress: bool | None) -> Iterator[Watch | None]:
    """A function that shows progress with tqdm, or ``None``.

    ``None`` as ``progress`` means: in a notebook, or if standard error is a terminal, and tqdm is
    installed.
    """
    is_installed = importlib.util.find_spec("tqdm") is not None
    if progress is None:
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        progress = is_installed and (is_terminal or is_notebook())
    if not progress:
        yield None
        return
    if not is_installed:
        raise ImportError("progress=True needs tqdm (pip install tqdm)")
    with warnings.catch_warnings():
        # It warns if a notebook has no widgets, and shows text.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm

    bar: Any = None

    def show(stage: str, done: int, total: int) -> None:
        nonlocal bar
        if bar is None or bar.desc != stage:
            if bar is not None:
                bar.close()
            bar = tqdm(desc=stage, total=total or None, unit_scale=True, leave=False)
            bar.desc = stage
        bar.n = min(done, total) if total else done
        bar.refresh()

    try:
        yield show
    finally:
        if bar is not None:
            bar.close()


def is_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")
