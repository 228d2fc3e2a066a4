/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SAMPLE_READER_H
#define INCLUDED_SPEAD_CORE_SAMPLE_READER_H

#include "protocol/sample_decoder.h"
#include "receive_counters.h"
#include "sample_window.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gr::spead {

//! A tag for a sample of an output.
struct sample_tag {
    enum class kind {
        timestamp, //!< value: ticks; also, the time
        missing,   //!< value: the number of samples that are missing from here on
        item       //!< value: that of an immediate item
    };
    std::size_t output;
    std::size_t offset; //!< from the first sample that the call reads
    kind what;
    std::uint64_t value;
    std::size_t item = 0; //!< its index among the immediate items of
    std::shared_ptr<const stream_format> format = nullptr; //!< this one
};

//! What happens to samples that are missing.
enum class missing_policy { zero_fill, skip };

/*!
 * \brief Reads samples from the window for the flow graph, with zeros for those that are
 * missing, and with tags.
 */
class sample_reader
{
public:
    struct plan {
        sample_type type = sample_type::int8; //!< of the outputs
        float scale = 0;                      //!< of floats; 0: full scale is 1.0
        missing_policy on_missing = missing_policy::zero_fill;
        std::int64_t ticks = 1;   //!< in as many samples as
        std::int64_t samples = 1; //!< these
    };

    sample_reader(const plan& how,
                  sample_window& window,
                  std::vector<source_counter_set>& counters);

    //! Reads up to \p most samples of each output to \p to. Adds their tags to \p tags.
    //! Sets the numbers of samples of each output in \p read. A tag for which there is no
    //! memory is lost.
    void read(const std::vector<std::byte*>& to,
              std::size_t most,
              std::vector<std::size_t>& read,
              std::vector<sample_tag>& tags);

    //! Whether there is something to read.
    bool is_ready() const { return d_window.front() > d_window.base(); }

private:
    struct output {
        std::byte* to;
        std::size_t done;     // samples
        bool needs_timestamp; // of its next sample
        // of immediate items that changed with samples that were skipped
        std::vector<std::optional<std::uint64_t>> skipped;
    };

    std::int64_t end_of_skipped(std::int64_t position);
    void begin_stream();
    void
    read_output(std::size_t which, position_range range, std::vector<sample_tag>& tags);
    void add_tags(std::size_t which, position_range range, std::vector<sample_tag>& tags);
    void skip_changes(std::size_t which, std::int64_t end);
    static void add(std::vector<sample_tag>& tags, sample_tag tag) noexcept;
    void copy(std::size_t which, position_range range);
    void fill(std::size_t which, position_range range);
    std::uint64_t tick_at(std::int64_t position) const;
    std::uint64_t samples_in(position_range range) const
    {
        return static_cast<std::uint64_t>(range.size()) / d_stream.sample_bytes;
    }
    const sample_decoder& decoder() const;

    const plan d_plan;
    sample_window& d_window;
    std::vector<source_counter_set>& d_counters;
    std::vector<sample_decoder> d_decoders; // of 8 bits, 16 bits, and 16 in little order
    stream_begin d_stream{};
    std::vector<output> d_outputs;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SAMPLE_READER_H */
