"""Runs the examples of a page in this interpreter: ``run_page.py PAGE [ADDRESS OF A SERVICE]``.

All share one namespace. What an example prints must be the block ``text`` after it, if there is one,
where ``...`` stands for anything. The last line of the output counts the examples that ran, and has the
missing libraries.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pages import SERVICE, fences

MATCH = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run(page: Path, replaced: Mapping[str, str]) -> dict[str, Any]:
    """Run the examples, with some texts replaced; an error is one of the page."""
    names: dict[str, Any] = {"__name__": "__main__"}
    done: dict[str, Any] = {"run": 0, "skipped": 0, "missing": []}
    blocks = fences(page)
    for place, fence in enumerate(blocks):
        if fence.language != "python":
            continue
        # The lines of a traceback are those of the page.
        code = "\n" * (fence.line - 1) + fence.text
        for old, new in replaced.items():
            code = code.replace(old, new)
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(code, str(page), "exec"), names)
        except ImportError as error:
            if (error.name or "").startswith("simtool_dedup"):
                raise
            done["missing"].append(error.name or str(error))
            done["skipped"] += 1
            continue
        except NameError:
            # It continues an example that was skipped.
            if not done["missing"]:
                raise
            done["skipped"] += 1
            continue
        done["run"] += 1
        following = blocks[place + 1] if place + 1 < len(blocks) else None
        if following and following.language == "text":
            if not doctest.OutputChecker().check_output(following.text, printed.getvalue(), MATCH):
                raise AssertionError(
                    f"{page}:{following.line}: the example prints\n{printed.getvalue()}\nand the page has\n{following.text}"
                )
    return done


if __name__ == "__main__":
    services = {SERVICE: sys.argv[2]} if len(sys.argv) > 2 else {}
    print(json.dumps(run(Path(sys.argv[1]), services)))
