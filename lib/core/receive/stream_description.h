/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_STREAM_DESCRIPTION_H
#define INCLUDED_SPEAD_CORE_STREAM_DESCRIPTION_H

#include "axes/heap_axes.h"
#include "stream_format.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief The descriptors of a stream, merged by item ID, and the format that they give.
 */
class stream_description
{
public:
    //! \p items_format: the format of items; nullptr: from descriptors.
    stream_description(std::shared_ptr<const stream_format> items_format,
                       sample_type type,
                       const heap_axes& axes,
                       std::size_t outputs);

    //! Forgets all descriptions.
    void clear();
    //! Adds descriptions. Returns whether any has changed.
    bool add(const std::vector<item_description>& descriptions);
    //! The format that they give or, if items are set, do not contradict; nullptr with a
    //! refusal() if there is none. Keeps the samples of \p current, if any.
    std::shared_ptr<const stream_format> format(const stream_format* current);
    //! Why the last format() was nullptr; else empty.
    const std::string& refusal() const { return d_refusal; }
    //! Whether it is because the samples do not suit, not because descriptions lack.
    bool has_unsuitable_samples() const { return d_has_unsuitable_samples; }
    //! Whether \p descriptions leave the samples and the timestamp of \p format as they
    //! are known or, if items are set, suit them.
    bool confirm(const std::vector<item_description>& descriptions,
                 const stream_format& format) const;

    //! Whether a sender that has described its items like this sends other samples or
    //! timestamps than \p format.
    bool contradict(const std::vector<item_description>& descriptions,
                    const stream_format& format) const;

private:
    const std::shared_ptr<const stream_format> d_items_format;
    const sample_type d_type;
    const heap_axes d_axes;
    const std::size_t d_outputs;
    std::vector<item_description> d_items; // one per ID
    std::string d_refusal;
    bool d_has_unsuitable_samples = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_STREAM_DESCRIPTION_H */
