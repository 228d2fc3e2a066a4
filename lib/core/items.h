/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_ITEMS_H
#define INCLUDED_SPEAD_CORE_ITEMS_H

#include "pack/item_updates.h"
#include "sink_config.h"
#include <gnuradio/spead/item.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace gr::spead {

//! \name Checks of items, which throw parameter_error
//! \{

//! Checks the rules common to the items of sinks and sources. \p reason: the reason why
//! there may be at most \p max_items items.
void check_items(const std::vector<item>& items,
                 std::size_t max_items,
                 const std::string& reason);

//! Checks whether heaps can hold the items of a sink.
void check_items(const sink_config& config);

//! \}

bool has_timestamp(const std::vector<item>& items);

/*!
 * \brief Looks up the immediate items of a sink and checks updates of their values.
 *
 * All members throw parameter_error for an invalid update. The object never changes, so
 * any number of threads may use it.
 */
class immediate_items
{
public:
    explicit immediate_items(const sink_config& config);

    //! The index, in the list of items, of the immediate item with this ID or name.
    std::size_t find(const std::variant<std::int64_t, std::string>& key) const;

    //! The updates that set a value for one input, or with -1 for all inputs.
    std::vector<item_update>
    make_updates(std::size_t index, std::int64_t value, std::int64_t input) const;

    //! The updates that set one value for all inputs, or one per input.
    std::vector<item_update> make_updates(std::size_t index,
                                          const std::vector<std::int64_t>& values) const;

    //! The updates that set the values of all immediate items. \p items must have the
    //! kinds, IDs and names of the items of the sink, in the same order. That of the
    //! divided axis may have no values: the first index of each slice.
    std::vector<item_update> make_updates(const std::vector<item>& items) const;

private:
    const std::vector<item> d_items;
    const heap_axes d_axes;
    const std::int64_t d_max_value;
    const std::size_t d_inputs;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ITEMS_H */
