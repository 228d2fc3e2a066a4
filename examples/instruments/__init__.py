# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receivers that stand in for those of instruments, and their recordings."""
