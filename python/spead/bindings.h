/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_PYTHON_BINDINGS_H
#define INCLUDED_SPEAD_PYTHON_BINDINGS_H

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace gr::spead {

void bind_heaps(pybind11::module& m);
void bind_inspector(pybind11::module& m);
void bind_items(pybind11::module& m);
void bind_sink(pybind11::module& m);
void bind_source(pybind11::module& m);

//! Returns the statistics of a block, by name.
template <typename figures>
pybind11::dict to_dict(const figures& stats)
{
    pybind11::dict named;
    figures::for_each(
        [&](const char* name, auto figure) { named[name] = stats.*figure; });
    return named;
}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_PYTHON_BINDINGS_H */
