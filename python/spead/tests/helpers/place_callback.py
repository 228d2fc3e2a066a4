# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Chunk placement callbacks for spead2, written in Python."""

import ctypes


class PlaceData(ctypes.Structure):
    """chunk_place_data of spead2's recv_chunk_stream.h"""

    _fields_ = (
        ("packet", ctypes.c_void_p),
        ("packet_size", ctypes.c_size_t),
        ("items", ctypes.POINTER(ctypes.c_int64)),
        ("chunk_id", ctypes.c_int64),
        ("heap_index", ctypes.c_size_t),
        ("heap_offset", ctypes.c_size_t),
        ("batch_stats", ctypes.c_void_p),
        ("extra", ctypes.c_void_p),
        ("extra_offset", ctypes.c_size_t),
        ("extra_size", ctypes.c_size_t),
    )


CALLBACK = ctypes.CFUNCTYPE(None, ctypes.POINTER(PlaceData), ctypes.c_size_t)
SIGNATURE = b"void (void *, size_t)"


def low_level_callable(function):
    """Equivalent to scipy.LowLevelCallable(function), without scipy.

    Keep a reference to the function for as long as spead2 may call it.
    """
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype = ctypes.py_object
    new_capsule.argtypes = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
    return (new_capsule(ctypes.cast(function, ctypes.c_void_p), SIGNATURE, None),)
