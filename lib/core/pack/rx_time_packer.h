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
#include "time/timeline.h"

#include <string>
#include <vector>

namespace gr::spead {

//! What a tag says about a sample: when it was taken, in seconds since 1970-01-01.
struct time_tag {
    std::uint64_t sample; //!< its number in the run
    std::uint64_t seconds;
    double fraction;
};

/*!
 * \brief Packs samples where their tags say that they belong.
 *
 * One thread, that of the packer.
 */
class rx_time_packer
{
public:
    //! Counts in \p counts, as the packer does.
    rx_time_packer(input_packer& packer,
                   sink_counter_set& counts,
                   const tick_clock& clock,
                   const timeline_config& config);

    //! A new run: samples are counted from 0 again.
    void start_run();

    //! Takes as many of \p n samples as there is room for, and says how many. \p first is
    //! the number of the first one; \p tags are those of these samples, in order. A tag
    //! that has been seen says nothing new; of several at a sample the last one counts.
    //! A long gap is filled in several calls.
    std::size_t write(const std::byte* samples,
                      std::size_t n,
                      std::uint64_t first,
                      const std::vector<time_tag>& tags);

    //! Whether write() has stopped within a gap though there is room for more zeros.
    bool is_filling() const { return d_filling; }

    //! What the user should know, a sentence each.
    std::vector<std::string> take_warnings();

private:
    void apply_tag(const time_tag& tag);
    bool pack_zeros(std::uint64_t& most);
    std::size_t pack_samples(const std::byte* samples, std::size_t n);

    input_packer& d_packer;
    const tick_clock d_clock;
    timeline d_timeline;
    bool d_no_time = false; // a tag said none
    bool d_warned_of_no_time = false;
    std::uint64_t d_zeros = 0; // to be packed before the next sample
    bool d_filling = false;
    std::uint64_t d_next_tag = 0; // tags of samples before this one
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RX_TIME_PACKER_H */
