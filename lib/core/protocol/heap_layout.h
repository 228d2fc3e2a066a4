/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_LAYOUT_H
#define INCLUDED_SPEAD_CORE_HEAP_LAYOUT_H

#include "descriptor.h"
#include "wire.h"
#include <gnuradio/spead/item.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

namespace gr::spead {

/*!
 * \brief The item pointers of heaps of one kind, and the payload that they share.
 */
struct heap_contents {
    wire::flavour flavour;
    //! those after the required ones, in host order, with 0 as the running timestamp
    std::vector<std::uint64_t> pointers;
    //! index of the pointer with the running timestamp
    std::optional<std::size_t> timestamp = std::nullopt;
    //! payload before the samples: descriptors, or the byte of stop_contents()
    std::vector<std::byte> prefix = {};
    //! for each item in data_contents(): index of its pointer, if it is immediate
    std::vector<std::optional<std::size_t>> immediates = {};
    //! Leaves out the heap length and the payload offset.
    bool has_single_packets = false;

    std::size_t leading_items() const
    {
        return wire::leading_items - (has_single_packets ? 2 : 0);
    }
    std::size_t header_bytes() const
    {
        return wire::header_bytes +
               wire::pointer_bytes * (leading_items() + pointers.size());
    }
};

//! Contents of heaps with samples and with the item values of \p input, with or without
//! descriptors.
heap_contents data_contents(const std::vector<item>& items,
                            wire::flavour flavour,
                            bool has_descriptors,
                            const sample_format& samples = {},
                            std::size_t input = 0);

//! Contents of heaps with only the descriptors of the items.
heap_contents descriptor_contents(const std::vector<item>& items,
                                  wire::flavour flavour,
                                  const sample_format& samples = {});

//! Contents of the end-of-stream heap. It has one byte of payload, since every packet
//! needs some.
heap_contents stop_contents(wire::flavour flavour);

/*!
 * \brief The header of a packet in wire format, and the size of its payload.
 */
struct packet_template {
    std::vector<std::uint64_t> words; //!< in network order
    std::size_t payload_bytes;

    std::size_t header_bytes() const { return words.size() * sizeof(words[0]); }
    std::size_t packet_bytes() const { return header_bytes() + payload_bytes; }
};

//! The words of a header that differ from heap to heap, in network order.
struct heap_words {
    std::uint64_t counter = 0;
    std::uint64_t timestamp = 0;
};

/*!
 * \brief Splits heaps of one kind and size into packets.
 *
 * All packets but the last have the same size. With \p is_padded, NULL items extend the
 * last one to that size, if a whole number of them fits and wire::max_items is not
 * exceeded.
 */
class heap_layout
{
public:
    //! Splits evenly, into as few packets as \p max_packet_bytes allows.
    static heap_layout even(heap_contents contents,
                            std::uint64_t total_sample_bytes,
                            std::size_t max_packet_bytes,
                            bool is_padded);

    //! Splits into packets of \p payload_bytes, and one with the rest.
    heap_layout(heap_contents contents,
                std::uint64_t total_sample_bytes,
                std::size_t payload_bytes,
                bool is_padded);

    //! Sets the value of the immediate item with this index in the list of all items.
    //! Truncates values that do not fit.
    void set_item(std::size_t item, std::uint64_t value);

    //! A layout with the same payload per packet, for a heap of fewer samples.
    heap_layout shortened(std::uint64_t total_sample_bytes) const;

    heap_words words(std::uint64_t heap_counter, std::uint64_t timestamp = 0) const;

    //! Completes a copy of the template packet_at(\p offset): writes the words that
    //! differ between packets.
    void
    complete_header(std::byte* packet, const heap_words& heap, std::uint64_t offset) const
    {
        // read everything before writing, since std::byte may alias anything
        const auto words = heap;
        const auto offset_item = wire::network_order(
            d_contents.flavour.immediate(wire::payload_offset, offset));
        const auto timestamp = d_contents.timestamp;
        const auto items = items_word();
        const bool has_offset = !d_contents.has_single_packets;
        store_word(packet, counter_word, words.counter);
        if (has_offset)
            store_word(packet, offset_word, offset_item);
        if (timestamp)
            store_word(packet, items + *timestamp, words.timestamp);
    }

    //! The whole packet at \p offset. \p payload: payload of the heap.
    std::vector<std::byte> packet(const heap_words& heap,
                                  std::uint64_t offset,
                                  const std::vector<std::byte>& payload) const;

    const heap_contents& contents() const { return d_contents; }
    std::uint64_t total_sample_bytes() const
    {
        return d_heap_bytes - d_contents.prefix.size();
    }
    std::uint64_t heap_bytes() const { return d_heap_bytes; }
    std::uint64_t packets() const { return d_packets; }

    const packet_template& packet_at(std::uint64_t offset) const
    {
        return is_last(offset) ? d_last : d_full;
    }
    bool is_last(std::uint64_t offset) const
    {
        return offset + d_full.payload_bytes >= d_heap_bytes;
    }
    //! Size of the largest packet of a heap.
    std::size_t packet_bytes() const
    {
        return (d_packets > 1 ? d_full : d_last).packet_bytes();
    }

private:
    // indices of words in a header
    static constexpr std::size_t counter_word = 1;
    static constexpr std::size_t offset_word = 3;
    std::size_t items_word() const { return 1 + d_contents.leading_items(); }

    static void store_word(std::byte* packet, std::size_t index, std::uint64_t word)
    {
        std::memcpy(packet + index * sizeof word, &word, sizeof word);
    }
    packet_template make_template(std::size_t payload_bytes,
                                  std::size_t null_items) const;

    heap_contents d_contents;
    std::uint64_t d_heap_bytes;
    std::uint64_t d_packets;
    bool d_is_padded;
    packet_template d_full;
    packet_template d_last;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_LAYOUT_H */
