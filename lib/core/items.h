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
#include <vector>

namespace gr::spead {

//! Throws parameter_error unless heaps can hold the items, given all other options.
void check_items(const sink_options& options);

/*!
 * \brief Knows the items of a sink, and so which updates of them are possible.
 *
 * All members throw parameter_error for one that is not. Does not change after its
 * construction: any number of threads.
 */
class immediate_items
{
public:
    explicit immediate_items(const sink_options& options);

    //! Where the immediate item of this ID or name is in the list of items.
    std::size_t find(std::int64_t id) const;
    std::size_t find(const std::string& name) const;

    //! \p value for one input, or with -1 for all of them.
    std::vector<item_update>
    update(std::size_t index, std::int64_t value, std::int64_t input) const;

    //! One value for all inputs, or one for each.
    std::vector<item_update> update(std::size_t index,
                                    const std::vector<std::int64_t>& values) const;

    //! The values of all immediate items in \p items, which has to be the same list but
    //! for them.
    std::vector<item_update> update(const std::vector<item>& items) const;

private:
    template <typename key>
    std::size_t
    find(const key& wanted, key item::*member, const std::string& shown) const;
    std::string immediates() const;

    const std::vector<item> d_items;
    const std::int64_t d_largest; // value
    const std::size_t d_inputs;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ITEMS_H */
