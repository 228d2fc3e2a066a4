/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "bindings.h"
#include "block_binding.h"
#include "support/shortened.h"
#include <gnuradio/spead/source.h>

namespace gr::spead {

void bind_source(py::module& m)
{
    block_binding<source, source_options>(
        "source", "endpoints", &source_options::num_outputs)
        .bind(m)
        .def(
            "stats",
            [](const source& self, std::int64_t output) {
                return to_dict(self.stats(output));
            },
            py::arg("output") = -1,
            docstrings.at("source.stats"))
        .def("ports", &source::ports, docstrings.at("source.ports"))
        .def("endpoints", &source::endpoints, docstrings.at("source.endpoints"))
        .def("__repr__", [](const source& self) {
            return "<spead.source from " + shortened(self.endpoints()) + ">";
        });
}

} // namespace gr::spead
