/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_ITEMS_H
#define INCLUDED_SPEAD_CORE_ITEMS_H

#include "pack/item_updates.h"
#include <gnuradio/spead/sink_options.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace gr::spead {

//! \name Checks of items, which throw parameter_error
//! \{

//! The rules for the items of sinks and sources. \p limit says why there are not more
//! than \p most.
void check_items(const std::vector<item>& items,
                 std::size_t most,
                 const std::string& limit);

//! Whether heaps can hold the items of a sink.
void check_items(const sink_options& options);

//! \}

bool has_timestamp(const std::vector<item>& items);

/*!
 * \brief Knows the items of a sink, and checks updates of them.
 *
 * All members throw parameter_error for an invalid update. Does not change after its
 * construction: any number of threads.
 */
class immediate_items
{
public:
    explicit immediate_items(const sink_options& options);

    //! The index of the immediate item of this ID or name in the list of items.
    std::size_t find(const std::variant<std::int64_t, std::string>& key) const;

    //! \p value for one input, or with -1 for all of them.
    std::vector<item_update>
    update(std::size_t index, std::int64_t value, std::int64_t input) const;

    //! One value for all inputs, or one for each.
    std::vector<item_update> update(std::size_t index,
                                    const std::vector<std::int64_t>& values) const;

    //! The values of all immediate items in \p items, which must otherwise be the same
    //! list.
    std::vector<item_update> update(const std::vector<item>& items) const;

private:
    const std::vector<item> d_items;
    const std::int64_t d_largest; // value
    const std::size_t d_inputs;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ITEMS_H */
