/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_NO_OUTPUT_REASON_H
#define INCLUDED_SPEAD_CORE_NO_OUTPUT_REASON_H

#include "protocol/packet_parser.h"
#include "protocol/sample_group.h"
#include "stream_format.h"
#include "support/rate_limited_log.h"

#include <string_view>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::spead {

/*!
 * \brief The reason why packets arrive but nothing is output, with its remedy.
 *
 * The latest cause replaces the previous one, except that no_first_packet replaces none.
 * Only the first packet of a cause formats a text with details, so that the other packets
 * cost next to nothing.
 */
class no_output_reason
{
public:
    //! The texts of the causes without details.
    struct cause {
        static constexpr std::string_view no_descriptors =
            "no descriptors have arrived: have the sender repeat them "
            "(descriptor_interval of spead.sink), or set items";
        static constexpr std::string_view partial_descriptors =
            "a packet of the descriptors was lost: have the sender repeat them "
            "(descriptor_interval of spead.sink), or set items";
        static constexpr std::string_view only_descriptors =
            "descriptors have arrived, but no samples";
        static constexpr std::string_view no_length =
            "the heaps have neither a timestamp nor a heap length (item 0x2): set the ID "
            "of the timestamp in items";
        static constexpr std::string_view no_length_of_axes =
            "the heaps have no heap length (item 0x2), which axes need; set axes=\"\"";
        static constexpr std::string_view no_first_packet =
            "the first packets of the heaps, which hold their items, do not arrive";
        static constexpr std::string_view no_bytes = "the packets hold no samples";
        static constexpr std::string_view nothing_new =
            "the packets repeat samples: their timestamps do not advance; check the "
            "sender";
        static constexpr std::string_view different_times =
            "the timestamps of the heaps contradict each other; check timestamp_step and "
            "the sender";
        static constexpr std::string_view other_descriptions =
            "senders describe their samples in different ways; heaps of one of them are "
            "ignored: give it a source of its own";
        static constexpr std::string_view fragments =
            "the datagrams are IP fragments, which are not put together; have the sender "
            "use packets that fit into the MTU";
        static constexpr std::string_view truncated =
            "the capture has cut the packets; capture with tcpdump -s 0";
    };

    void note(std::string_view text);
    //! A datagram was rejected.
    void note_rejected(packet_error error, const std::byte* datagram, std::size_t bytes);
    //! A packet lacks an item, called \p name, such as "the timestamp".
    void note_lacking(std::uint64_t id, const char* name, const packet_view& packet);
    //! A heap has items without descriptors, and none that is known to be the timestamp.
    void note_undescribed(const packet_view& packet);
    //! A heap has \p samples samples, but the axes mean \p expected.
    void note_wrong_length(std::int64_t samples, std::size_t expected);
    //! The packed samples of a heap do not fill its bytes.
    void note_partial_group(std::uint64_t bytes, const sample_group& group);
    //! Samples have arrived that are earlier than the first tick that is output.
    void note_early(std::int64_t samples, std::uint64_t start);
    //! These values of the immediate items select no output.
    void note_no_output(const stream_format& format,
                        const std::vector<std::optional<std::uint64_t>>& values);
    //! Another sender is ignored. \p item is the immediate item whose value differs.
    //! None: only the source address differs.
    void note_other_sender(const stream_format& format, std::optional<std::size_t> item);

    //! Logs the cause, once in a run: other heaps give samples, so that nothing else
    //! would tell the user.
    void log_once(rate_limited_log& log)
    {
        if (!std::exchange(d_has_logged, true))
            log.add(d_text);
    }
    void start_run()
    {
        clear();
        d_has_logged = false;
    }
    //! Clears the cause, when samples are output.
    void clear()
    {
        if (!d_text.empty())
            d_latest = std::exchange(d_text, {});
    }

    //! The current cause; empty if there is none.
    const std::string& text() const { return d_text; }
    //! The current or the previous cause.
    const std::string& latest() const { return d_text.empty() ? d_latest : d_text; }

private:
    template <typename function>
    void note(std::string_view beginning, function&& details)
    {
        if (d_text.compare(0, beginning.size(), beginning) != 0)
            d_text = std::string(beginning) + details();
    }

    std::string d_text;
    std::string d_latest; // cleared
    bool d_has_logged = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_NO_OUTPUT_REASON_H */
