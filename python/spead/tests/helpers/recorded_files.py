# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs spead-record, and reads its files with the programs of the manual."""

import contextlib
import re

from flow_graphs import running
from gnuradio.spead import record_program
from places import BUILD, ROOT

PROGRAM = BUILD / "spead-record"


def _program_of_the_manual(name):
    """The functions of a file in docs/record.md."""
    page = (ROOT / "docs" / "record.md").read_text()
    pattern = rf"^<!-- file: {name} -->\n\n```python\n(.*?)^```$"
    (text,) = re.findall(pattern, page, re.M | re.S)
    names = {}
    exec(text, names)
    return names


read_h5 = _program_of_the_manual("read_h5.py")["read"]
read_sigmf = _program_of_the_manual("read_sigmf.py")["read"]


def record(endpoint, path, *options):
    """Record a capture in this process; returns the exit status."""
    arguments = [endpoint, "-o", path, *options]
    return record_program.main([str(argument) for argument in arguments])


@contextlib.contextmanager
def recording(path, *options, status=0):
    """Run the program while a test sends to its `destination`."""
    arguments = "127.0.0.1:0", "-o", path, *options
    with running(PROGRAM, *arguments, status=status) as ended:
        line = ended.stdout.readline()
        ended.destination = line.removeprefix("listening on ").strip()
        yield ended
