# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings of an EDD packetiser."""

from instruments import dada

# With comments, gaps and tabs, as the receivers of Effelsberg write it.
HEADER = """\
HEADER       DADA                # Distributed aquisition and data analysis
HDR_SIZE     4096                # Size of the header in bytes

# DADA parameters
OBS_ID       unset               # observation ID
OBS_OFFSET   0                   # bytes offset from the start MJD/UTC
TELESCOPE\tEffelsberg       # telescope name
DSB
NBIT         8                   # number of bits per sample
NDIM         1                   # 1=real, 2=complex
NPOL         2                   # number of polarizations observed
SYNC_TIME    1642399613.0
SAMPLE_CLOCK 800000000.0
MCAST_SOURCES 225.0.0.140+3,225.0.0.144+3   # 239.2.1.150 (+7)
PORT         7148
SAMPLE_CLOCK_START 526398652416  # This should be updated with the sync-time
HEAP_NBYTES  4096
IDX1_ITEM    0      # First item of a SPEAD heap
IDX1_STEP    4096   # The difference between successive timestamps
IDX2_ITEM    1
IDX2_LIST    0,1
IDX2_MASK    0x1
"""


def header(**changes):
    fields = dada.Header.parse(HEADER.encode()).fields
    return dada.Header({**fields, **{key: str(changes[key]) for key in changes}})


def record(path, samples, **changes):
    path.write_bytes(header(**changes).to_bytes() + samples.tobytes())
    return dada.Recording(path)
