/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_ITEM_UPDATES_H
#define INCLUDED_SPEAD_CORE_ITEM_UPDATES_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace gr::spead {

//! A new value of an immediate item, for the heaps of one input.
struct item_update {
    std::size_t item; //!< index in the list of items
    std::uint64_t value;
    std::size_t input = 0;
};

/*!
 * \brief New item values that the packer of an input has not applied yet.
 *
 * While there are none, the packer only reads an atomic flag.
 */
class item_updates
{
public:
    explicit item_updates(std::size_t items) : d_values(items) {}

    //! Sets values for the next apply_pending(), which applies all of \p updates or none.
    //! A later value of an item replaces an earlier one. Any thread.
    void set(const std::vector<item_update>& updates)
    {
        const std::lock_guard<std::mutex> lock(d_mutex);
        for (const auto& update : updates)
            d_values.at(update.item) = update.value;
        d_has_updates.store(true, std::memory_order_release);
    }

    //! Calls \p apply(item, value) for each item with a new value. Returns whether there
    //! was one.
    template <typename function>
    bool apply_pending(function&& apply)
    {
        if (!d_has_updates.load(std::memory_order_acquire))
            return false;
        const std::lock_guard<std::mutex> lock(d_mutex);
        d_has_updates.store(false, std::memory_order_relaxed);
        for (std::size_t item = 0; item < d_values.size(); ++item) {
            if (d_values[item])
                apply(item, *d_values[item]);
            d_values[item].reset();
        }
        return true;
    }

private:
    std::atomic<bool> d_has_updates{ false };
    std::mutex d_mutex;
    std::vector<std::optional<std::uint64_t>> d_values;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ITEM_UPDATES_H */
