/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "bindings.h"

PYBIND11_MODULE(spead_python, m)
{
    // the docstrings begin with signatures of their own
    pybind11::options docstring_options;
    docstring_options.disable_function_signatures();
    // the base classes of the blocks
    pybind11::module::import("gnuradio.gr");
    m.attr("__version__") = SPEAD_VERSION;
    gr::spead::bind_heaps(m);
    gr::spead::bind_inspector(m);
    gr::spead::bind_items(m);
    gr::spead::bind_sink(m);
    gr::spead::bind_source(m);
}
