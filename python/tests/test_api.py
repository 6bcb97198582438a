"""The arguments of the functions: their names, the types of them, and names of before."""

# Promise (The Python package): No argument shadows a builtin; the arguments of functions are those of
# their types; old names are refused with the new ones

from __future__ import annotations

import builtins
import dataclasses
import importlib.metadata
import importlib.util
import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import simtool_dedup as simtool
from conftest import need
from conftest import simtool as command
from simtool_dedup import _index, _options

TEXT = "A cat sat on the mat while a dog slept in the sun behind the house"
TYPED = {
    simtool.dedup: _options.DedupOptions,
    simtool.lines: _options.LinesOptions,
    simtool.spans: _options.SpansOptions,
    simtool.decontaminate: _options.DecontaminateOptions,
    simtool.Index.query: _index.QueryOptions,
    simtool.Index.add: _index.AddOptions,
}


def parameters(function: Any) -> list[str]:
    """The names of the parameters, without those that are refused."""
    found = inspect.signature(function).parameters.values()
    return [one.name for one in found if one.kind is not inspect.Parameter.VAR_KEYWORD]


@pytest.mark.parametrize("function", TYPED, ids=lambda function: function.__qualname__)
def test_the_types_have_the_arguments(function: Any) -> None:
    own = [name for name in parameters(function) if name not in ("self", "data", "reference", "files")]
    assert sorted(own) == sorted(TYPED[function].__annotations__ | inherited(TYPED[function]))


def inherited(kind: Any) -> dict[str, Any]:
    """The annotations of the types that a ``TypedDict`` extends."""
    found: dict[str, Any] = {}
    for base in getattr(kind, "__orig_bases__", ()):
        found |= getattr(base, "__annotations__", {})
    return found


def public() -> list[Any]:
    """All functions, and methods of classes."""
    found: list[Any] = []
    for name in simtool.__all__:
        value = getattr(simtool, name)
        if inspect.isclass(value):
            own = [vars(base) for base in value.__mro__ if base.__module__.startswith("simtool_dedup")]
            found += [member for members in own for member in members.values() if callable(member)]
        elif callable(value):
            found.append(value)
    return found


def test_no_parameter_shadows_a_builtin() -> None:
    count = 0
    for function in public():
        try:
            names = parameters(function)
        except (TypeError, ValueError):
            continue
        assert not set(names) & set(dir(builtins)), function
        count += len(names)
    assert count > 150
    assert len(parameters(simtool.dedup)) <= 26
    assert not {field.name for field in dataclasses.fields(simtool.FileOptions)} & set(dir(builtins))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: simtool.dedup([TEXT], id="key"), r"dedup: the argument id is ids= now"),
        (lambda: simtool.dedup("x", output="out"), r"output is files=FileOptions\(output=...\) now"),
        (lambda: simtool.dedup("x", format="jsonl"), r"format is files=FileOptions\(input_format=...\) now"),
        (lambda: simtool.dedup([TEXT], distance=3), 'distance is method="simhash:distance=..." now'),
        (lambda: simtool.dedup([TEXT], keep_stop_words=True), 'method="simhash:stop-words=keep" now'),
        (lambda: simtool.dedup([TEXT], recall=0.9), 'recall is method="minhash:recall=..." now'),
        (lambda: simtool.dedup([TEXT], similarty=0.9), "unexpected keyword argument 'similarty'"),
        (lambda: simtool.lines([TEXT], list=3), "lines: the argument list is max_listed= now"),
        (lambda: simtool.spans([TEXT], min=3), "spans: the argument min is min_length= now"),
        (lambda: simtool.decontaminate([TEXT], [TEXT], answer_field="a"), "answer_field is answer= now"),
        (lambda: simtool.evaluate([TEXT], id="key"), "evaluate: the argument id is ids= now"),
        (lambda: simtool.tune([TEXT], id="key"), "tune: the argument id is ids= now"),
        (lambda: simtool.Index.build("x", [TEXT], id="key"), "Index.build: the argument id is ids= now"),
        (lambda: simtool.FileOptions(writes="kept"), "unexpected keyword argument 'writes'"),
        (lambda: simtool.dedup("x", files={"output": "out"}), "files: expected FileOptions, found dict"),
    ],
)
def test_old_names_are_refused_with_the_new_ones(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_new_names_of_methods_are_taken() -> None:
    for method in ("simhash:distance=3,bits=128,stop-words=keep", "minhash:recall=0.9"):
        assert len(simtool.dedup([TEXT, TEXT], method=method).kept) == 1


def test_settings_of_files_are_those_of_the_command(tmp_path: Path) -> None:
    """Each is refused where it has no effect, or reaches the command."""
    hints = get_type_hints(simtool.FileOptions)
    assert set(hints) == {field.name for field in dataclasses.fields(simtool.FileOptions)}
    for name in ("write", "pairs", "min_sources"):
        with pytest.raises(ValueError, match=f"files: {name} has an effect on dedup only"):
            simtool.lines(tmp_path, files=simtool.FileOptions(**{name: 2}))
    flags = command("help", "dedup").stdout
    options = simtool.FileOptions().options("dedup")
    from simtool_dedup._flags import NAMES

    for name in options:
        assert f"--{NAMES.get(name, name.replace('_', '-'))}" in flags, name


def test_the_wheel_has_its_licences() -> None:
    metadata = importlib.metadata.metadata("simtool-dedup")
    assert sorted(metadata.get_all("License-File") or ()) == ["LICENSE-APACHE", "LICENSE-MIT"]
    files = [file for file in importlib.metadata.files("simtool-dedup") or () if "LICENSE-" in file.name]
    assert len(files) == 2 and all(len(file.read_text()) > 1000 for file in files)


def test_the_package_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "simtool_dedup", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == command("--version").stdout


@pytest.mark.parametrize(
    "checker", [["mypy", "--strict", "--cache-dir=/dev/null"], ["pyright"]], ids=["mypy", "pyright"]
)
def test_type_checkers_know_the_results(checker: list[str]) -> None:
    """Also what they refuse: an ignored error that is none is an error."""
    for name in ("pandas", "polars", "numpy", checker[0]):
        need(name)
    if importlib.util.find_spec("pandas-stubs") is None:
        pytest.skip("pandas-stubs is not installed")
    directory = Path(__file__).parent / "types"
    done = subprocess.run([*checker, "examples.py"], cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
