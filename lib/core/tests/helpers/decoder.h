/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// An independent SPEAD decoder, written from the standard rather than from the encoder.

#ifndef INCLUDED_SPEAD_CORE_TESTS_DECODER_H
#define INCLUDED_SPEAD_CORE_TESTS_DECODER_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using bytes = std::vector<std::uint8_t>;

struct pointer {
    bool immediate;
    std::uint64_t id;
    std::uint64_t value;
};

struct packet {
    std::vector<pointer> pointers;
    bytes payload;

    std::optional<std::uint64_t> find(std::uint64_t id) const
    {
        for (const auto& p : pointers)
            if (p.id == id && p.immediate)
                return p.value;
        return std::nullopt;
    }
    std::uint64_t get(std::uint64_t id) const { return find(id).value(); }
};

inline std::uint64_t read_big_endian(const std::uint8_t* at, unsigned n)
{
    std::uint64_t value = 0;
    for (unsigned i = 0; i < n; ++i)
        value = value << 8 | at[i];
    return value;
}

inline packet decode(const bytes& datagram)
{
    const unsigned address_bits = datagram.at(3) * 8u;
    if (read_big_endian(datagram.data(), 2) != 0x5304 || datagram[2] + datagram[3] != 8 ||
        read_big_endian(&datagram[4], 2) != 0)
        throw std::runtime_error("not a SPEAD packet");
    const auto items = read_big_endian(&datagram[6], 2);
    packet decoded;
    std::uint64_t address = 0;
    for (std::uint64_t i = 0; i < items; ++i) {
        const auto word = read_big_endian(&datagram.at(8 + 8 * i), 8);
        const auto mask = (std::uint64_t{ 1 } << address_bits) - 1;
        const pointer item{ word >> 63 == 1,
                            word << 1 >> 1 >> address_bits,
                            word & mask };
        // some receivers end an item at the address in the next pointer
        if (!item.immediate && item.value < address)
            throw std::runtime_error("addresses are not in ascending order");
        address = item.immediate ? address : item.value;
        decoded.pointers.push_back(item);
    }
    decoded.payload.assign(datagram.begin() + static_cast<long>(8 + 8 * items),
                           datagram.end());
    if (decoded.payload.size() != decoded.get(4))
        throw std::runtime_error("wrong payload length");
    return decoded;
}

struct heap {
    bytes payload;
    std::vector<pointer> pointers;
    std::uint64_t counter = 0;
    std::size_t packets = 0;

    std::uint64_t immediate(std::uint64_t id) const
    {
        return packet{ pointers, {} }.get(id);
    }
    bool is_stop() const { return packet{ pointers, {} }.find(6) == 2u; }
    // An addressed item ends at the next address, or with the payload.
    std::optional<bytes> content(std::uint64_t id) const
    {
        for (const auto& p : pointers) {
            if (p.immediate || p.id != id)
                continue;
            std::uint64_t end = payload.size();
            for (const auto& other : pointers)
                if (!other.immediate && other.value > p.value && other.value < end)
                    end = other.value;
            return bytes(payload.begin() + static_cast<long>(p.value),
                         payload.begin() + static_cast<long>(end));
        }
        return std::nullopt;
    }

    bool is_descriptors() const
    {
        for (const auto& p : pointers)
            if (p.id > 6)
                return false;
        return !is_stop();
    }
    // Each descriptor is a complete packet, whose header gives its length.
    std::vector<packet> descriptors() const;
};

//! Complete heaps in order of arrival. Like a receiver, omits a heap that is incomplete
//! when the next one begins.
inline std::vector<heap> reassemble(const std::vector<bytes>& datagrams)
{
    std::vector<heap> heaps;
    heap h;
    std::uint64_t length = 0;
    for (const auto& datagram : datagrams) {
        const auto p = decode(datagram);
        if (p.get(3) == 0) {
            h = heap();
            h.counter = p.get(1);
            length = p.get(2);
        }
        if (p.get(1) != h.counter || p.get(2) != length || p.get(3) != h.payload.size())
            throw std::runtime_error("a packet is missing or out of order");
        h.payload.insert(h.payload.end(), p.payload.begin(), p.payload.end());
        ++h.packets;
        for (const auto& q : p.pointers) {
            bool known = q.id == 0 && q.immediate;
            for (const auto& k : h.pointers)
                known = known || (k.id == q.id && k.value == q.value);
            if (!known)
                h.pointers.push_back(q);
        }
        if (h.payload.size() == length)
            heaps.push_back(h);
    }
    return heaps;
}

inline std::vector<packet> heap::descriptors() const
{
    std::vector<packet> all;
    for (const auto& p : pointers) {
        if (p.id != 5)
            continue;
        const auto at = payload.begin() + static_cast<long>(p.value);
        const auto header = 8 + 8 * read_big_endian(&*at + 6, 2);
        const auto content = read_big_endian(&*at + 32, 8) & 0xffffffff;
        all.push_back(decode({ at, at + static_cast<long>(header + content) }));
    }
    return all;
}

inline std::string to_hex(const void* data, std::size_t n)
{
    static const char digits[] = "0123456789abcdef";
    const auto* at = static_cast<const std::uint8_t*>(data);
    std::string text;
    for (std::size_t i = 0; i < n; ++i) {
        text += digits[at[i] >> 4];
        text += digits[at[i] & 15];
    }
    return text;
}

inline std::string to_hex(const std::vector<std::byte>& data)
{
    return to_hex(data.data(), data.size());
}

#endif /* INCLUDED_SPEAD_CORE_TESTS_DECODER_H */
