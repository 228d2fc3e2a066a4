#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the code blocks of README.md and docs/. Needs a build and .venv.

It runs each ```python and ```sh block, in order. Each page has its own directory in
build/documentation, with links to the source tree. "export" also applies to the next
```sh blocks. Instead of GRC, "gnuradio-companion FILE" runs the flow graph in its
folder, as the button Run does, and ends it once it runs. A mark, a comment above a
block, changes what happens:

<!-- not run: REASON -->  skips a fragment, or a block that needs hardware or root
<!-- background -->       runs the block in parallel with the next one
<!-- continued -->        Python: runs the previous blocks and this one as one program
<!-- file: NAME -->       writes the block, of any language, to a file
<!-- output -->           compares the block with the output of the previous block;
                          "..." matches any text

A Python block without a mark that only receives is run with a stream to receive.
UDP ports 7140 to 7199 are replaced by free ones. Blocks may send to this host only.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("GR_SPEAD_BUILD", TOP / "build"))
PAGES = [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]
TIMEOUT = 120  # seconds per block; compiling C++ takes longest
BOUND = 30  # seconds for a receiver to start, and to end after its stream

FENCE = re.compile(
    r"(?:^<!-- (?P<mark>[a-z ]+)(?:: (?P<argument>[^>]*?))? -->\n\n?)?"
    r"^```(?P<language>[^`\n]*)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
LANGUAGES = ("python", "sh")
MARKS = ("not run", "background", "continued", "file", "output")
RUN_MARKS = ("", "background", "continued")
ADDRESS = re.compile(r"\b(\d+)\.\d+\.\d+\.\d+\b")

COMPANION = """#!/bin/bash
set -eu
folder=$(dirname "$1")
grcc -o "$folder" "$1"
cd "$folder"
export QT_QPA_PLATFORM=offscreen
/usr/bin/python3 -u "$(basename "$1" .grc).py" </dev/null &
# It catches SIGTERM (15) once it runs.
caught() { awk '/^SigCgt/ { print "0x" $2 }' /proc/$!/status; }
while kill -0 $! && ! (($(caught) >> 14 & 1)); do
    sleep 0.1
done
kill $! || true
wait $!
"""

SENDER = """
from gnuradio import blocks, gr, spead
graph = gr.top_block()
sink = spead.sink("127.0.0.1:7148", heap_samples=1024)
graph.connect(blocks.vector_source_b(list(range(100)) * 100), sink)
graph.run()
"""


def display_path(page):
    """The path of a page relative to the source tree, or its name if outside."""
    return page.relative_to(TOP) if page.is_relative_to(TOP) else Path(page.name)


@dataclass
class Block:
    page: Path
    line: int
    language: str
    text: str
    mark: str
    argument: str

    def __str__(self):
        return f"{display_path(self.page)}:{self.line} {self.language}"

    @property
    def is_run(self):
        return self.language in LANGUAGES and self.mark in RUN_MARKS

    @property
    def only_receives(self):
        return not self.mark and "spead2.recv" in self.text and "sink" not in self.text


class Failure(Exception):
    pass


def blocks_of(page):
    text = page.read_text()
    for match in FENCE.finditer(text):
        start = match.start("language")
        block = Block(
            page,
            text.count("\n", 0, start) + 1,
            match["language"],
            match["text"],
            match["mark"] or "",
            " ".join((match["argument"] or "").split()),
        )
        if block.mark and block.mark not in MARKS:
            raise Failure(f"{block}: unknown mark {block.mark!r}")
        if block.mark in ("not run", "file") and not block.argument:
            raise Failure(f"{block}: {block.mark!r} without a reason or a name")
        yield block


def check_addresses(block):
    """Allow 127.0.0.0/8, and multicast groups on the loopback interface, only."""
    for match in ADDRESS.finditer(re.sub(r"\.pcap\?\S*", "", block.text)):
        first = int(match[1])
        on_loopback = re.search(
            r"interface(_address)?(=\"127\.|=\"lo\b| lo\b)", block.text
        )
        multicast = 224 <= first < 240 and on_loopback
        if first not in (0, 127) and not multicast:
            raise Failure(f"{block}: sends to {match[0]}, which may be another host")


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("", 0))
        return sock.getsockname()[1]


def bound_ports():
    """The UDP ports bound on this host."""
    ports = set()
    for table in ("/proc/net/udp", "/proc/net/udp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            ports.add(int(line.split()[1].rpartition(":")[2], 16))
    return ports


@dataclass
class Page:
    """Runs the blocks of a page in a directory."""

    directory: Path
    ports: dict = field(default_factory=dict)
    programs: list = field(default_factory=list)  # Python blocks so far
    exports: list = field(default_factory=list)  # lines of shell blocks so far
    files: dict = field(default_factory=dict)  # name: text as in the page
    background: tuple = ()  # a block and its process
    output: str | None = None  # of the previous block; None if it was skipped in part
    skipped: bool = False  # a block in another language was skipped
    processes: list = field(default_factory=list)

    def __post_init__(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        (self.directory / ".venv").symlink_to(TOP / ".venv")
        (self.directory / "build").symlink_to(BUILD)
        companion = self.directory / "bin" / "gnuradio-companion"
        companion.parent.mkdir()
        companion.write_text(COMPANION)
        companion.chmod(0o755)
        (self.directory / "examples").mkdir()
        for file in (TOP / "examples").iterdir():
            if file.suffix != ".grc":
                (self.directory / "examples" / file.name).symlink_to(file)
        for graph in [*TOP.glob("docs/**/*.grc"), *TOP.glob("examples/*.grc")]:
            copy = self.directory / graph.relative_to(TOP)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(self.with_free_ports(graph.read_text()))

    def with_free_ports(self, text):
        """Replace the ports in a text, with the same one wherever a port recurs."""

        def port(match):
            return str(self.ports.setdefault(match[0], free_port()))

        return re.sub(r"\b71[4-9]\d\b", port, text)

    def process_block(self, block, languages):
        """Run, write, compare or skip a block according to its mark."""
        if block.mark == "file":
            check_addresses(block)
            self.files[block.argument] = block.text
            path = self.directory / block.argument
            path.parent.mkdir(exist_ok=True)
            path.write_text(self.with_free_ports(block.text))
        elif block.mark == "output":
            compare(block, self.output)
        elif block.is_run and block.language in languages:
            check_addresses(block)
            self.run(block)
        elif block.is_run:
            self.output, self.skipped = None, True

    def run(self, block):
        started = time.monotonic()
        process = self.start(block)
        if block.mark == "background" or block.only_receives:
            self.wait_until_bound(block, process)
        if block.mark == "background":
            self.background = block, process
            return
        if block.only_receives:
            sender = self.start_python(self.with_free_ports(SENDER))
            self.finish(block, sender, TIMEOUT)
        self.output = self.finish(block, process, TIMEOUT)
        if self.background:
            earlier, process = self.background
            self.output += self.finish(earlier, process, BOUND)
            self.background = ()
        if self.skipped:  # possibly a background block, whose output is then missing
            self.output = None
            self.skipped = False
        print(f"{block}: {time.monotonic() - started:.1f} s", flush=True)

    def start(self, block):
        text = self.with_free_ports(block.text)
        if block.language == "python":
            if block.mark == "continued":
                text = "\n".join([*self.programs, text])
            else:
                self.programs = []
            self.programs.append(self.with_free_ports(block.text))
            return self.start_python(text)
        exports = self.exports.copy()
        self.exports += re.findall(r"^export .*", text, re.M)
        text = "\n".join([*exports, text])
        return self.start_process(["bash", "-euo", "pipefail", "-c", text])

    def start_python(self, text):
        return self.start_process(
            [sys.executable, "-c", text], PYTHONPATH=str(BUILD / "python")
        )

    def start_process(self, command, **environment):
        inherited = os.environ.copy()
        for name in ("PYTHONPATH", "GRC_BLOCKS_PATH"):
            inherited.pop(name, None)
        process = subprocess.Popen(
            command,
            cwd=self.directory,
            env=inherited
            | environment
            | {
                "PATH": f"{self.directory / 'bin'}:{os.environ['PATH']}",
                "HOME": str(self.directory),
                "MPLBACKEND": "agg",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        with contextlib.suppress(BrokenPipeError):  # the process may have ended
            process.stdin.write("\n")  # some programs end at Enter
            process.stdin.close()
        process.stdin = None
        self.processes.append(process)
        return process

    def wait_until_bound(self, block, process):
        """Wait until a receiver has bound the ports that its block mentions."""
        text = block.text + "".join(
            written for name, written in self.files.items() if name in block.text
        )
        ports = {self.ports[name] for name in self.ports if name in text}
        end = time.monotonic() + BOUND
        while not ports <= bound_ports():
            if process.poll() is not None or time.monotonic() > end:
                self.finish(block, process, 0)
                raise Failure(f"{block}: does not receive from port {ports}")
            time.sleep(0.05)

    def finish(self, block, process, timeout):
        """Wait until a process ends; return its output."""
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            stop(process)
            output, _ = process.communicate()
            raise Failure(f"{block}: timeout after {timeout} s\n{output}") from None
        if process.returncode:
            raise Failure(f"{block}: exit status {process.returncode}\n{output}")
        return output


def stop(process):
    """Kill a process and its children."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def compare(block, output):
    if output is None:
        return
    lines = output.splitlines(keepends=True)
    output = "".join(line for line in lines if "built without libmnl" not in line)
    pattern = ".*".join(map(re.escape, block.text.strip().split("...")))
    if not re.search(pattern, output, re.S):
        raise Failure(f"{block}: the output was\n{output}")


def run_page(path, languages):
    """Run the blocks of a page, if any is in these languages."""
    blocks = list(blocks_of(path))
    if not any(block.is_run and block.language in languages for block in blocks):
        return
    page = Page(BUILD / "documentation" / display_path(path).with_suffix(""))
    try:
        for block in blocks:
            page.process_block(block, languages)
        if page.background:
            raise Failure(f"{page.background[0]}: no block follows a background block")
    finally:
        for process in page.processes:
            stop(process)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", type=Path, help="pages (default: all)")
    parser.add_argument("--python", action="store_true", help="run Python blocks only")
    parser.add_argument("--list", action="store_true", help="list blocks, run none")
    args = parser.parse_args()
    failures = 0
    for page in [page.resolve() for page in args.pages] or PAGES:
        try:
            if args.list:
                for block in blocks_of(page):
                    print(block, "run" if block.is_run else block.mark, block.argument)
            else:
                run_page(page, ("python",) if args.python else LANGUAGES)
        except Failure as failure:
            failures += 1
            print(f"FAILED: {failure}", flush=True)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
