/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_AXES_H
#define INCLUDED_SPEAD_CORE_HEAP_AXES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief The axes of the array in a heap, and where its samples belong in the flow graph.
 *
 * The axis "time" runs along the stream: each of its indexes is one vector. Each index of
 * the axis "pol" is one port. All other axes form the vector, in the order in which they
 * are in the heap. One of them may be divided between heaps: each substream has one slice
 * of it, which begins at its own first index.
 */
class heap_axes
{
public:
    struct named_axis {
        std::string name;
        std::size_t size;  //!< in a heap
        std::size_t total; //!< of the whole axis; a multiple of size
    };

    //! No axes: a heap is a sequence of samples.
    heap_axes() = default;
    //! Parses a list such as "channel=64/1024, time=256, pol=2". An empty one means no
    //! axes. Throws parameter_error for \p parameter.
    heap_axes(const std::string& parameter, const std::string& text);

    const std::vector<named_axis>& axes() const { return d_axes; }
    bool empty() const { return d_axes.empty(); }
    std::size_t times() const { return size_of("time"); } //!< vectors per heap and port
    std::size_t ports() const { return size_of("pol"); }
    std::size_t vector_length() const;
    std::size_t substreams() const;
    //! Number of samples of the same time that are next to each other in a heap.
    std::size_t contiguous_samples_per_time() const;
    //! Samples in a heap: the product of the sizes.
    std::size_t samples() const;
    std::vector<std::uint64_t> shape() const; //!< sizes in a heap
    //! The axis of which a heap holds a slice, or nullptr.
    const named_axis* divided() const;
    //! The first index of each slice of the divided axis, which must exist.
    std::vector<std::int64_t> first_indexes() const;

    //! Maximum samples in a heap, and in a vector.
    static constexpr std::size_t max_samples = std::size_t{ 1 } << 27;

private:
    std::size_t size_of(const std::string& name) const;

    std::vector<named_axis> d_axes; // the slowest one first
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_AXES_H */
