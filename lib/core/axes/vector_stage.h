/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_VECTOR_STAGE_H
#define INCLUDED_SPEAD_CORE_VECTOR_STAGE_H

#include "heap_axes.h"
#include "transposer.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace gr::spead {

/*!
 * \brief Makes heaps from the vectors of the ports: one heap per substream at a time.
 */
class vector_stage
{
public:
    //! Writes \p n samples of a substream, or zeros if \p samples is nullptr.
    //! Returns the number of samples for which there was room.
    using writer = std::function<std::size_t(
        std::size_t substream, const std::byte* samples, std::size_t n)>;

    vector_stage(const heap_axes& axes, std::size_t sample_bytes, writer write);

    void start_run();

    //! Takes items of the ports, at most \p n of each. Returns their number. Takes none
    //! until the heaps of the previous items have been written.
    std::size_t take_items(const std::vector<const std::byte*>& ports, std::size_t n);

    //! Writes the samples of complete heaps. False if there is no room for all.
    bool write_heaps();

    //! Fills unfinished heaps with zeros, so that write_heaps() writes them.
    void pad();

    //! Samples of a substream that were taken but not written.
    std::size_t samples_left(std::size_t substream) const;

private:
    bool write_heap(std::size_t substream);

    const heap_axes d_axes;
    const transposer d_transposer;
    const writer d_write;
    const std::size_t d_sample_bytes;
    const std::size_t d_time_samples;            // of a time, contiguous in a heap
    std::vector<std::vector<std::byte>> d_heaps; // per substream
    std::vector<std::size_t> d_written;          // samples, per substream
    std::size_t d_items = 0;                     // in each heap, padding included
    std::size_t d_padded = 0;                    // of d_items, padding
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_VECTOR_STAGE_H */
