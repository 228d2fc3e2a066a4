/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_STAGE_H
#define INCLUDED_SPEAD_CORE_HEAP_STAGE_H

#include "heap_axes.h"
#include "transposer.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::spead {

/*!
 * \brief Buffers received heaps, and copies their samples to the ports as vectors.
 *
 * Each substream has a buffer. The front separates complete heaps from the space into
 * which samples are placed. The vectors of the heap before the front are output; each is
 * an item of GNU Radio.
 */
class heap_stage
{
public:
    //! Two heaps may arrive at the same time. While a stream opens, they have only half
    //! of the buffer.
    static constexpr std::size_t min_heaps = 4;

    //! \p bytes: size of a buffer, rounded down to whole heaps, but at least four.
    heap_stage(const heap_axes& axes, std::size_t sample_bytes, std::size_t bytes);

    void start_run();

    //! \name The front of each substream
    //! \{

    //! Makes room: moves the front and the \p used samples after it to the start of the
    //! buffer, unless that costs too much now. All items must have been output.
    void make_room(std::int64_t used);
    const std::vector<std::byte*>& addresses() const { return d_addresses; }
    std::int64_t room() const; //!< after the front, in samples
    //! Moves the front past the next heap, whose items are output next.
    void advance_front();

    //! \}

    std::size_t items_left() const { return d_axes.times() - d_next_item; }
    //! Copies up to \p limit of the next items of the heap to the ports. Returns their
    //! number.
    std::size_t copy_items(const std::vector<std::byte*>& ports, std::size_t limit);

private:
    const heap_axes d_axes;
    const transposer d_transposer;
    const std::size_t d_heap_bytes;
    const std::size_t d_heaps;
    std::vector<std::vector<std::byte>> d_memory; // per substream
    std::vector<std::byte*> d_addresses;          // of the front
    std::size_t d_front = 0;                      // heaps before the front
    std::size_t d_next_item;                      // of the heap before the front
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_STAGE_H */
