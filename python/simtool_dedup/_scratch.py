"""Temporary directories."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


def new_directory(parent: str | os.PathLike[str] | None = None) -> TemporaryDirectory[str]:
    """A new directory in ``parent``, which is removed with the object."""
    return TemporaryDirectory(prefix="simtool-", dir=parent, ignore_cleanup_errors=True)


@contextmanager
def temporary_directory(parent: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """A new directory in ``parent``, which is removed at the end."""
    with removed_on_error(new_directory(parent)) as directory:
        yield Path(directory.name)
    directory.cleanup()


@contextmanager
def removed_on_error(directory: TemporaryDirectory[str]) -> Iterator[TemporaryDirectory[str]]:
    """Remove a directory after an exception.

    After Ctrl-C, a thread does it, for which the end of the process waits: a file system takes a
    second for some gigabytes.
    """
    try:
        yield directory
    except KeyboardInterrupt:
        threading.Thread(target=directory.cleanup).start()
        raise
    except BaseException:
        directory.cleanup()
        raise


class Temporary:
    """A directory that is removed with the last object that holds this one, also after copies of it."""

    def __init__(self, directory: TemporaryDirectory[str]) -> None:
        weakref.finalize(self, directory.cleanup)

    def __deepcopy__(self, memo: object) -> Temporary:
        """The same: copies share the directory."""
        return self

    def __reduce__(self) -> str:
        """Refuse to be pickled.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError(
            "a result with a temporary output cannot be pickled: name a directory, as "
            "files=FileOptions(output=...)"
        )
