/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SILENCE_H
#define INCLUDED_SPEAD_CORE_SILENCE_H

#include "protocol/packet_parser.h"
#include "stream_format.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief Why packets arrive and no samples come out, with what the packets show of it.
 */
class silence
{
public:
    enum class cause {
        none,
        not_spead,
        no_descriptors,
        partial_descriptors,
        unsuitable_descriptors,
        no_samples,
        no_timestamp,
        no_length,
        no_output,
        no_first_packet,
        no_bytes,
        nothing_new,
        different_times,
        other_sender
    };

    explicit silence(std::size_t most_values) { d_values.reserve(most_values); }

    void note(cause why);
    void note_not_spead(const std::byte* datagram, std::size_t bytes);
    //! An item is not among those of a packet.
    void note_lacking(cause why, const packet_view& packet);
    void note_unsuitable(const std::string& refusal) { d_refusal = refusal; }
    //! No output is selected by these values of the immediate items.
    void note_no_output(const std::vector<std::optional<std::uint64_t>>& values);
    //! Another sender has another value of this immediate item; none: only another source
    //! address.
    void note_other_sender(std::optional<std::size_t> item);

    bool is_explained() const { return d_cause != cause::none; }
    //! Samples have come out.
    void end() { d_cause = cause::none; }

    //! The cause and its remedy; empty if there is none.
    std::string text(const stream_format* format) const;

private:
    std::string text_of_other_sender(const stream_format& format) const;
    std::string text_of_lacking(std::uint64_t id, const char* name) const;

    cause d_cause = cause::none;
    std::string d_refusal;                // of the descriptors
    std::uint64_t d_first_bytes = 0;      // of a datagram that is not SPEAD
    std::array<std::uint64_t, 8> d_ids{}; // of items
    std::size_t d_id_count = 0;
    std::vector<std::optional<std::uint64_t>> d_values;
    std::optional<std::size_t> d_other_item;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SILENCE_H */
