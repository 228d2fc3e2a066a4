/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RX_TIME_PACKER_H
#define INCLUDED_SPEAD_CORE_RX_TIME_PACKER_H

#include "input_packer.h"
#include "time/tick_clock.h"
#include "time/timestamp_aligner.h"

#include <string>
#include <vector>

namespace gr::spead {

//! The rx_time tag of a sample: its Unix time.
struct rx_time_tag {
    std::uint64_t sample; //!< index in the run
    std::uint64_t seconds;
    double fraction;        //!< seconds
    std::string error = {}; //!< a warning if the value is no time, else empty
};

/*!
 * \brief Packs samples into heaps whose timestamps follow the rx_time tags.
 *
 * Only for the thread of the packer.
 */
class rx_time_packer
{
public:
    //! \p counters must be the counters of the packer.
    rx_time_packer(input_packer& packer,
                   sink_counter_set& counters,
                   const tick_clock& clock,
                   const timestamp_aligner_config& config);

    //! Begins a run: sample indices restart at 0.
    void start_run();

    //! Takes as many of \p n samples as there is room for, and returns how many.
    //! \p first_sample: index of the first sample. \p tags: the tags of these samples, in
    //! order. Ignores tags that an earlier call has processed, and all but the last tag
    //! of a sample. Fills a long gap in several calls.
    std::size_t write(const std::byte* samples,
                      std::size_t n,
                      std::uint64_t first_sample,
                      const std::vector<rx_time_tag>& tags);

    //! Whether write() stopped inside a gap although the ring has room for more zeros.
    bool is_filling() const { return d_is_filling; }

    //! Returns the new warnings for the user, one sentence each.
    std::vector<std::string> take_warnings();

private:
    void apply_tag(const rx_time_tag& tag);
    void check_first_tick(std::int64_t tick);
    void warn_once(bool& warned, const std::string& text);
    bool pack_zeros(std::uint64_t& zeros_left);
    std::size_t pack_samples(const std::byte* samples, std::size_t n);

    input_packer& d_packer;
    const tick_clock d_clock;
    const exact_rate d_rate; // ticks per second
    timestamp_aligner d_aligner;
    std::vector<std::string> d_warnings; // not taken yet
    bool d_has_time = false;             // a tag had a time
    bool d_no_time_warned = false;
    bool d_too_far_warned = false;
    std::uint64_t d_zeros = 0; // to be packed before the next sample
    bool d_is_filling = false;
    std::uint64_t d_next_tag = 0; // tags of samples before this one are done
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RX_TIME_PACKER_H */
