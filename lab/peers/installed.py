"""Which peers there are, and their Python environment."""

import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parent
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "HF_HUB_OFFLINE": "1",
    "LOGURU_LEVEL": "ERROR",
}
# program -> (the module that it needs, the size of its input, what it does)
RIVALS = {
    "rensa": ("rensa", "fast", "candidates kept by *estimated* similarity, none verified"),
    "rensa_words": ("rensa", "fast", "the same of words between blanks, not of shingles"),
    "rensa_dedup": ("rensa", "fast", "its deduplicator of these words, in batches"),
    "rensa_rho": ("rensa", "fast", "its rho sketches of these words, in one batch; names no pairs"),
    "datasketch": ("datasketch", "slow", "LSH candidates, none verified"),
    "simhash": ("simhash", "slow", "counted words, distance 3, none verified"),
    "simhash_default": ("simhash", "slowest", "4-character features, distance 3, none verified"),
    "text_dedup": ("text_dedup", "slow", "LSH candidates joined to components, verified within them"),
    "datatrove": ("datatrove", "slow", "neighbours in 14 buckets of 8, none verified"),
}
NAMES_NO_PAIRS = "rensa_rho"


def install(directory):
    """Installs the peers into a Python environment, as far as possible."""
    python = directory / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", directory], check=True)
    for name, flags in (("requirements.txt", []), ("requirements-no-deps.txt", ["--no-deps"])):
        command = [python, "-m", "pip", "install", "--quiet", *flags, "-r", PEERS / name]
        if subprocess.run(command).returncode != 0:
            print(f"not all of {name} could be installed", file=sys.stderr)


def works(python, module):
    """Whether a peer's module can be imported."""
    command = [python, "-c", f"import {module}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{module} is left out: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    return done.returncode == 0
