# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""DADA recordings as an EDD packetiser writes them."""

from common import dada

# Effelsberg receivers write comments, blank lines, tabs and keys without a value.
HEADER = """\
HEADER       DADA                # Distributed aquisition and data analysis

OBS_ID       unset               # observation ID
TELESCOPE\tEffelsberg       # telescope name
DSB
NDIM         1                   # 1=real, 2=complex
NPOL         2                   # number of polarizations observed
SYNC_TIME    1642399613.0
SAMPLE_CLOCK 800000000.0
PORT         7148
SAMPLE_CLOCK_START 526398652416  # This should be updated with the sync-time
IDX1_STEP    4096   # The difference between successive timestamps
"""
DEFAULTS = {
    "HDR_SIZE": 4096,
    "OBS_OFFSET": 0,
    "NBIT": "008",
    "HEAP_NBYTES": 4096,
    "MCAST_SOURCES": "225.0.0.140+3,225.0.0.144+3   # 239.2.1.150 (+7)",
}


def record(path, samples, **changes):
    """Write a recording and open it. `changes` override fields of the header."""
    fields = DEFAULTS | changes
    lines = "".join(f"{key} {value}\n" for key, value in fields.items())
    size = int(fields["HDR_SIZE"])
    header = (HEADER + lines).encode().ljust(size if 0 < size < 10**5 else 4096, b"\0")
    path.write_bytes(header + samples.tobytes())
    return dada.Recording(path)
