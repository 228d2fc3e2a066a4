/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "transposer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace gr::spead {

namespace {

// Rows and columns of a block: its cache lines in both layouts fit into the L1 cache.
constexpr std::size_t block_size = 32;

} // namespace

transposer::transposer(const heap_axes& axes, std::size_t sample_bytes)
    : d_sample_bytes(sample_bytes)
{
    dimension time{ 1, 0, axes.vector_length() };
    std::vector<dimension> vector; // the fastest dimension first
    std::size_t heap_stride = 1;
    std::size_t port_stride = 1;
    for (auto axis = axes.axes().rbegin(); axis != axes.axes().rend(); ++axis) {
        if (axis->name == "time") {
            time = { axis->size, heap_stride, axes.vector_length() };
        } else if (axis->name == "pol") {
            d_port_step = heap_stride;
        } else {
            const dimension next{ axis->size, heap_stride, port_stride };
            if (axis->total != axis->size)
                d_substream_step = axis->size * port_stride;
            auto* last = vector.empty() ? nullptr : &vector.back();
            if (last && next.heap_stride == last->size * last->heap_stride &&
                next.port_stride == last->size * last->port_stride)
                last->size *= next.size; // neighbours in both layouts
            else
                vector.push_back(next);
            port_stride *= axis->total;
        }
        heap_stride *= axis->size;
    }
    d_time_step = time.heap_stride;
    const auto column = vector.empty() ? dimension{ 1, 1, 1 } : vector.front();
    if (!vector.empty())
        vector.erase(vector.begin());
    d_dimensions = std::move(vector);
    d_dimensions.push_back(time);
    // the row is the dimension that is fastest in a heap
    std::sort(d_dimensions.begin(),
              d_dimensions.end(),
              [](const dimension& a, const dimension& b) {
                  return std::pair{ a.heap_stride, a.port_stride } >
                         std::pair{ b.heap_stride, b.port_stride };
              });
    d_dimensions.push_back(column);
    const auto is_time = [&](const dimension& candidate) {
        return candidate.port_stride == time.port_stride &&
               candidate.heap_stride == time.heap_stride;
    };
    d_time_dimension = static_cast<std::size_t>(
        std::find_if(d_dimensions.begin(), d_dimensions.end(), is_time) -
        d_dimensions.begin());
}

// Copies from or to the samples of the first time.
template <typename sample, bool is_to_heap, typename port_sample, typename heap_sample>
void transposer::copy(const std::vector<port_sample*>& ports,
                      heap_sample* heap,
                      std::size_t times) const
{
    auto dimensions = d_dimensions;
    dimensions[d_time_dimension].size = times;
    const auto column = dimensions.back();
    const auto row = dimensions[dimensions.size() - 2];
    dimensions.resize(dimensions.size() - 2);
    std::vector<std::size_t> index(dimensions.size());

    const auto copy_block = [&](std::size_t heap_offset,
                                std::size_t port_offset,
                                std::size_t rows,
                                std::size_t columns) {
        for (std::size_t p = 0; p < ports.size(); ++p)
            for (std::size_t r = 0; r < rows; ++r) {
                auto* heap_row =
                    heap + heap_offset + p * d_port_step + r * row.heap_stride;
                auto* port_row = ports[p] + port_offset + r * row.port_stride;
                for (std::size_t c = 0; c < columns; ++c)
                    if constexpr (is_to_heap)
                        heap_row[c * column.heap_stride] =
                            port_row[c * column.port_stride];
                    else
                        port_row[c * column.port_stride] =
                            heap_row[c * column.heap_stride];
            }
    };
    while (true) {
        std::size_t heap_offset = 0, port_offset = 0;
        for (std::size_t i = 0; i < index.size(); ++i) {
            heap_offset += index[i] * dimensions[i].heap_stride;
            port_offset += index[i] * dimensions[i].port_stride;
        }
        for (std::size_t r = 0; r < row.size; r += block_size)
            for (std::size_t c = 0; c < column.size; c += block_size)
                copy_block(heap_offset + r * row.heap_stride + c * column.heap_stride,
                           port_offset + r * row.port_stride + c * column.port_stride,
                           std::min(block_size, row.size - r),
                           std::min(block_size, column.size - c));
        std::size_t i = index.size();
        while (i > 0 && ++index[i - 1] == dimensions[i - 1].size)
            index[--i] = 0;
        if (i == 0)
            return;
    }
}

template <bool is_to_heap, typename port_sample, typename heap_sample>
void transposer::copy_slice(const std::vector<port_sample*>& ports,
                            heap_sample* heap,
                            std::size_t substream,
                            std::size_t begin,
                            std::size_t end) const
{
    const auto copy_as = [&](auto sample) {
        using type = decltype(sample);
        using port_type =
            std::conditional_t<std::is_const_v<port_sample>, const type, type>;
        using heap_type =
            std::conditional_t<std::is_const_v<heap_sample>, const type, type>;
        std::vector<port_type*> typed_ports;
        typed_ports.reserve(ports.size());
        for (auto* port : ports)
            typed_ports.push_back(reinterpret_cast<port_type*>(port) +
                                  substream * d_substream_step);
        copy<type, is_to_heap>(typed_ports,
                               reinterpret_cast<heap_type*>(heap) + begin * d_time_step,
                               end - begin);
    };
    switch (d_sample_bytes) {
    case 1:
        return copy_as(std::uint8_t{});
    case 2:
        return copy_as(std::uint16_t{});
    case 4:
        return copy_as(std::uint32_t{});
    default:
        return copy_as(std::uint64_t{});
    }
}

void transposer::to_ports(const std::vector<std::byte*>& ports,
                          const std::byte* heap,
                          std::size_t substream,
                          std::size_t begin,
                          std::size_t end) const
{
    copy_slice<false>(ports, heap, substream, begin, end);
}

void transposer::to_heap(std::byte* heap,
                         const std::vector<const std::byte*>& ports,
                         std::size_t substream,
                         std::size_t begin,
                         std::size_t end) const
{
    copy_slice<true>(ports, heap, substream, begin, end);
}

} // namespace gr::spead
