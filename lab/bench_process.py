"""Functions shared by the bench scripts: running programs, and their times and memory."""

import hashlib
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIMTOOL = ROOT / "target" / "release" / "simtool"
EXAMPLES = ROOT / "target" / "release" / "examples"
# The interval between two samples of a running process; short, but at little CPU cost.
LOOK_SECONDS = 0.001
UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}


@dataclass
class Run:
    """One finished process."""

    seconds: float
    user: float
    system: float
    output: str
    messages: str


class Peak:
    """The peak resident memory of a process, as recorded by the kernel."""

    def __init__(self):
        self.resident = 0

    def look(self, pid):
        status = Path(f"/proc/{pid}/status").read_text()
        self.resident = max(self.resident, status_bytes(status, "VmHWM"))


def build(examples=True):
    """Builds the program in release mode, with the examples if they are needed."""
    command = ["cargo", "build", "--release", "--quiet", "--bins"]
    command += ["--examples"] if examples else []
    subprocess.run(command, cwd=ROOT, check=True)


def generate(directory, *flags):
    """Generates a corpus in `directory` unless it has one with the same flags."""
    note = directory / "flags.txt"
    wanted = " ".join(flags)
    if not note.exists() or note.read_text() != wanted:
        say(f"generating {directory}: {wanted}")
        subprocess.run([SIMTOOL, "generate", "--dir", directory, *flags], check=True)
        note.write_text(wanted)
    return directory


def run(command, environment=None, watch=None):
    """Runs a program to its end and fails if it fails.

    `watch(pid)` is called repeatedly until it has ended.
    """
    command = [str(word) for word in command]
    environment = {**os.environ, **(environment or {})}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
        redirect = [
            (os.POSIX_SPAWN_DUP2, output.fileno(), 1),
            (os.POSIX_SPAWN_DUP2, messages.fileno(), 2),
        ]
        start = time.perf_counter()
        pid = os.posix_spawnp(command[0], command, environment, file_actions=redirect)
        ended = 0
        while watch and not ended:
            watch(pid)
            time.sleep(LOOK_SECONDS)
            ended, status, usage = os.wait4(pid, os.WNOHANG)
        if not ended:
            _, status, usage = os.wait4(pid, 0)
        seconds = time.perf_counter() - start
        texts = [read_all(file) for file in (output, messages)]
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        raise SystemExit(f"{' '.join(command)}\nended with {code}: {texts[1]}")
    return Run(seconds, usage.ru_utime, usage.ru_stime, *texts)


def read_all(file):
    file.seek(0)
    return file.read().decode(errors="replace")


def median(values):
    return statistics.median(values)


def digest(path):
    """A hash of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def parse_size(text):
    """A number of bytes such as 4096, 200M or 1G."""
    if text[-1:] in UNITS:
        return int(text[:-1]) << UNITS[text[-1]]
    return int(text)


def print_table(header, rows):
    """Prints a Markdown table; every column but the first is aligned right."""
    print("| " + " | ".join(header) + " |")
    print("|---" + "|--:" * (len(header) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def print_machine():
    """Prints the processor, the system, the commit and the load."""
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    describe = ["git", "describe", "--always", "--dirty"]
    version = subprocess.run(describe, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    load = os.getloadavg()[0]
    system = f"{platform.system()} {platform.release()}"
    print(f"{model}, {cores()} cores, {system}, commit {version}, load {load:.1f}\n", flush=True)


def status_bytes(status, name):
    """A row of /proc/PID/status in bytes; zero if the process has just ended."""
    row = re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)
    return int(row[1]) << 10 if row else 0


def cores():
    return len(os.sched_getaffinity(0))


def say(message):
    """Prints progress on standard error; the tables are on standard output."""
    print(message, file=sys.stderr, flush=True)
