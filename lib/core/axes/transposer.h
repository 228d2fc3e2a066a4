/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TRANSPOSER_H
#define INCLUDED_SPEAD_CORE_TRANSPOSER_H

#include "heap_axes.h"

#include <cstddef>
#include <vector>

namespace gr::spead {

/*!
 * \brief Copies samples between heaps and the vectors of the ports.
 *
 * Copies in blocks that stay in the L1 cache in both layouts. Does not change after
 * construction, so any number of threads may use it.
 */
class transposer
{
public:
    //! \p sample_bytes is 1, 2, 4 or 8.
    transposer(const heap_axes& axes, std::size_t sample_bytes);

    //! Copies the times [\p begin, \p end) of a heap to each port. \p ports: for each
    //! port, the address of the vector of time \p begin. Writes the slice of the vectors
    //! that belongs to \p substream.
    void to_ports(const std::vector<std::byte*>& ports,
                  const std::byte* heap,
                  std::size_t substream,
                  std::size_t begin,
                  std::size_t end) const;

    //! The reverse of to_ports().
    void to_heap(std::byte* heap,
                 const std::vector<const std::byte*>& ports,
                 std::size_t substream,
                 std::size_t begin,
                 std::size_t end) const;

private:
    // An axis, or adjacent axes merged into one. Strides are in samples.
    struct dimension {
        std::size_t size;
        std::size_t heap_stride;
        std::size_t port_stride;
    };

    template <typename sample,
              bool is_to_heap,
              typename port_sample,
              typename heap_sample>
    void copy(const std::vector<port_sample*>& ports,
              heap_sample* heap,
              std::size_t times) const;
    template <bool is_to_heap, typename port_sample, typename heap_sample>
    void copy_slice(const std::vector<port_sample*>& ports,
                    heap_sample* heap,
                    std::size_t substream,
                    std::size_t begin,
                    std::size_t end) const;

    std::size_t d_sample_bytes;
    std::size_t d_port_step = 0;      // distance between ports in a heap, in samples
    std::size_t d_substream_step = 0; // distance between substreams in a vector
    std::size_t d_time_step = 0;      // distance between times in a heap
    // by decreasing heap_stride, then the one that is contiguous in a vector; the last
    // two are copied in blocks
    std::vector<dimension> d_dimensions;
    std::size_t d_time_dimension = 0; // index in d_dimensions
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TRANSPOSER_H */
