/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "arguments.h"
#include "bindings.h"
#include <gnuradio/spead/source.h>

#include <map>

#include "docstrings.h" // made from the C++ headers

namespace gr::spead {

namespace {

block_arguments<source_options> arguments() { return { "source", "endpoints" }; }

source::sptr
make(const py::object& endpoints, const py::args& positional, const py::kwargs& named)
{
    // first: with a mistyped name there may be no endpoints
    const auto options = arguments().read_options(positional, named);
    const auto at = arguments().read_endpoints(endpoints);
    // looking up a host can take its time
    const py::gil_scoped_release release;
    return std::visit([&](const auto& each) { return source::make(each, options); }, at);
}

} // namespace

void bind_source(py::module& m)
{
    py::class_<source, gr::block, gr::basic_block, std::shared_ptr<source>> block(
        m, "source", docstrings.at("source"));
    {
        // of them it would know (endpoints: object, *args, **kwargs)
        py::options texts;
        texts.disable_function_signatures();
        block.def(py::init(&make),
                  py::arg("endpoints") = py::none(), // which is refused by name
                  arguments().signature().c_str());
    }
    block.def_static("_error_in_grc", [](const py::dict& fields) {
        return arguments().error_in_grc(
            fields, "affinity", &source_options::num_outputs, &source::check);
    });
    source_stats::for_each([&](const char* name, auto figure) {
        if constexpr (!std::is_class_v<std::decay_t<decltype(source_stats().*figure)>>)
            block.def(
                name,
                [figure](const source& self) { return self.stats().*figure; },
                docstrings.at(std::string("source.") + name));
    });
    block
        .def(
            "stats",
            [](const source& self, std::int64_t output) {
                return to_dict(self.stats(output));
            },
            py::arg("output") = -1,
            docstrings.at("source.stats"))
        .def("ports", &source::ports, docstrings.at("source.ports"));
}

} // namespace gr::spead
