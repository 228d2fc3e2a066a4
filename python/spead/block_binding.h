/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_PYTHON_BLOCK_BINDING_H
#define INCLUDED_SPEAD_PYTHON_BLOCK_BINDING_H

#include "arguments.h"
#include "axes/heap_axes.h"
#include "shared_options.h"
#include <gnuradio/block.h>

#include <pybind11/eval.h>
#include <boost/algorithm/string/erase.hpp>
#include <boost/algorithm/string/replace.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "docstrings.h" // generated from the C++ headers

namespace gr::spead {

/*!
 * \brief Binds \p block as a Python class, whose constructor takes the endpoints, and
 * \p options as keyword arguments.
 */
template <typename block, typename options>
class block_binding
{
public:
    using python_class =
        py::class_<block, gr::block, gr::basic_block, std::shared_ptr<block>>;

    //! \p streams: the number of inputs or outputs. \p positional: an option that may
    //! also be passed by position; "": none.
    block_binding(std::string name,
                  std::string endpoints,
                  std::int64_t options::*streams,
                  std::string positional = "")
        : d_name(std::move(name)),
          d_endpoints(std::move(endpoints)),
          d_streams(streams),
          d_positional(std::move(positional))
    {
    }

    //! Adds the class to \p m, with its constructor and a method for each counter.
    python_class bind(py::module& m) const
    {
        python_class bound(m, d_name.c_str(), docstrings.at(d_name));
        bound.attr("__module__") = "gnuradio.spead";
        const auto make = [binding = *this](const py::object& endpoints,
                                            const py::args& positional,
                                            const py::kwargs& named) {
            // first, since it reports a misspelled name of the endpoints
            const auto values = binding.read_options(positional, named);
            const auto endpoint_texts = binding.read_endpoints(endpoints);
            // resolving a host name may take long
            const py::gil_scoped_release release;
            return block::make(endpoint_texts, values);
        };
        bound.def(py::init(make),
                  py::arg(d_endpoints.c_str()) =
                      py::none()); // rejected by read_endpoints()
        bound.attr("__signature__") = signature(m);
        bound.def_static("_check",
                         [binding = *this](const py::object& endpoints,
                                           const py::args& positional,
                                           const py::kwargs& named) {
                             const auto values = binding.read_options(positional, named);
                             block::check(binding.read_endpoints(endpoints), values);
                         });
        bound.def_static("_error_in_grc", [binding = *this](const py::dict& fields) {
            return binding.error_in_grc(fields);
        });
        // GRC draws the ports while the fields may still be wrong
        bound.def_static("_vector_length_in_grc", [](const std::string& axes) {
            return axes_in_grc(axes).vector_length();
        });
        bound.def_static(
            "_ports_in_grc", [](const std::string& axes, std::int64_t streams) {
                const auto ports =
                    axes.empty() ? streams
                                 : static_cast<std::int64_t>(axes_in_grc(axes).ports());
                return std::clamp(ports, stream_counts.min, stream_counts.max);
            });
        using figures = decltype(std::declval<block>().stats());
        figures::for_each([&](const char* name, auto figure) {
            if constexpr (!std::is_class_v<std::decay_t<decltype(figures().*figure)>>)
                bound.def(
                    name,
                    [figure](const block& self) { return self.stats().*figure; },
                    docstrings.at(d_name + "." + name));
        });
        return bound;
    }

private:
    // No axes if the text is wrong.
    static heap_axes axes_in_grc(const std::string& text)
    {
        try {
            return { "axes", text };
        } catch (const parameter_error&) {
            return {};
        }
    }

    // One string for all streams, or one for each.
    std::vector<std::string> read_endpoints(const py::object& given) const
    {
        if (py::isinstance<py::str>(given))
            return { read<std::string>(d_endpoints, given, d_name) };
        return read<std::vector<std::string>>(d_endpoints, given, d_name);
    }

    options read_options(const py::args& positional, py::kwargs named) const
    {
        if (positional.size() > (d_positional.empty() ? 0 : 1) ||
            (!positional.empty() && named.contains(d_positional)))
            throw py::type_error("spead." + d_name + ": only " + d_endpoints +
                                 (d_positional.empty()
                                      ? " may be positional"
                                      : " and " + d_positional +
                                            " may be positional, and " + d_positional +
                                            " must not be given twice"));
        if (!positional.empty())
            named[d_positional.c_str()] = positional[0];
        options value;
        options::for_each([&](const char* name, auto member) {
            if (!named.contains(name))
                return;
            read_option(name, named[name], value.*member);
            PyDict_DelItemString(named.ptr(), name);
        });
        for (const auto& unknown : named) {
            const auto name = py::cast<std::string>(unknown.first);
            throw py::type_error("spead." + d_name + ": unknown parameter " + name +
                                 "; did you mean " + nearest(name) + "?");
        }
        return value;
    }

    template <typename type>
    void read_option(const char* name, const py::object& given, type& value) const
    {
        value = read<type>(name, given, d_name);
    }

    // Returns the parameter name closest to a misspelled one, according to difflib.
    std::string nearest(const std::string& misspelled) const
    {
        py::list names;
        names.append(d_endpoints);
        options::for_each([&](const char* name, auto) { names.append(name); });
        const py::list matches = py::module::import("difflib").attr("get_close_matches")(
            misspelled, names, 1, 0.0);
        return py::cast<std::string>(matches[0]);
    }

    // The inspect.Signature of the class, from the same table as its constructor.
    py::object signature(const py::module& m) const
    {
        const auto inspect = py::module::import("inspect");
        const auto parameter = inspect.attr("Parameter");
        using namespace py::literals;
        const py::dict names(
            "Sequence"_a = py::module::import("collections.abc").attr("Sequence"),
            "Fraction"_a = py::module::import("fractions").attr("Fraction"),
            "item"_a = m.attr("item"));
        const auto type_of = [&](const std::string& name) {
            return py::eval(docstrings.at(d_name + "." + name + ".type"), names);
        };
        const options defaults;
        py::list parameters;
        parameters.append(parameter(d_endpoints,
                                    parameter.attr("POSITIONAL_OR_KEYWORD"),
                                    "annotation"_a = type_of(d_endpoints)));
        options::for_each([&](const char* name, auto member) {
            parameters.append(
                parameter(name,
                          parameter.attr(name == d_positional ? "POSITIONAL_OR_KEYWORD"
                                                              : "KEYWORD_ONLY"),
                          "default"_a = defaults.*member,
                          "annotation"_a = type_of(name)));
        });
        return inspect.attr("Signature")(parameters);
    }

    // Returns the error in the fields of the GRC block, with their labels; "" if there is
    // none, or if GRC cannot evaluate one of them.
    std::string error_in_grc(const py::dict& fields) const
    {
        try {
            bool is_complete = true;
            options value;
            options::for_each([&](const char* name, auto member) {
                const py::object field = fields[name];
                if (field.is_none() && !py::cast(value.*member).is_none())
                    is_complete = false;
                else
                    read_option(name, field, value.*member);
            });
            if (is_complete)
                block::check(
                    endpoints_in_grc(fields[d_endpoints.c_str()], value.*d_streams),
                    value);
            return "";
        } catch (const std::exception& error) {
            return error_with_labels(error.what());
        }
    }

    // Turns "spead.BLOCK: FIELD = VALUE is invalid; allowed: ..." into "LABEL = VALUE
    // (tab NAME); allowed: ...", which GRC quotes as "Value '...' not in allowed values".
    std::string error_with_labels(std::string error) const
    {
        const auto text_of = [this](const std::string& name, const char* field) {
            const auto entry = docstrings.find(d_name + "." + name + "." + field);
            return entry == docstrings.end() ? "" : entry->second;
        };
        boost::algorithm::erase_first(error, "spead." + d_name + ": ");
        const auto name = error.substr(0, error.find_first_of(" :"));
        const std::string invalid = " is invalid; allowed: ";
        const auto end = error.find(invalid);
        if (end == error.npos || !*text_of(name, "label"))
            return error;
        auto allowed = error.substr(end + invalid.size());
        boost::algorithm::replace_all(
            allowed, d_endpoints, text_of(d_endpoints, "label"));
        options::for_each([&](const std::string& option, auto) {
            // others, such as "rate", are also words
            if (option.find('_') != option.npos)
                boost::algorithm::replace_all(allowed, option, text_of(option, "label"));
        });
        return text_of(name, "label") + error.substr(name.size(), end - name.size()) +
               " (tab " + text_of(name, "group") + "); allowed: " + allowed;
    }

    // Parses a text, or a list in the syntax of Python. If the list has variables, whose
    // values are unknown here, returns a placeholder for each stream.
    std::vector<std::string> endpoints_in_grc(const py::object& field,
                                              std::int64_t streams) const
    {
        py::object given = field.attr("strip")();
        if (py::cast<bool>(given.attr("endswith")(py::make_tuple("]", ")"))))
            try {
                given = py::module::import("ast").attr("literal_eval")(given);
            } catch (const py::error_already_set& error) {
                // not a list: check() reads it as a text
                if (!error.matches(PyExc_SyntaxError))
                    return std::vector<std::string>(
                        std::clamp<std::size_t>(streams, 1, 64), "localhost:1");
            }
        return read_endpoints(given);
    }

    const std::string d_name;
    const std::string d_endpoints;
    std::int64_t options::*const d_streams;
    const std::string d_positional;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_PYTHON_BLOCK_BINDING_H */
