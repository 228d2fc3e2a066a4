/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "descriptor_schedule.h"

namespace gr::spead {

namespace {

// Seconds: a century. Longer intervals could overflow when added to a time.
constexpr double max_interval = 100 * 365.25 * 86400;

descriptor_schedule::clock::duration interval_of(const packer_config& config)
{
    using seconds = std::chrono::duration<double>;
    if (!config.descriptors || config.descriptor_interval <= 0)
        return {};
    return std::chrono::duration_cast<descriptor_schedule::clock::duration>(
        seconds(config.descriptor_interval < max_interval ? config.descriptor_interval
                                                          : max_interval));
}

} // namespace

descriptor_schedule::descriptor_schedule(const packer_config& config)
    : d_first_destination(config.first_destination),
      d_destinations(config.descriptors ? config.destinations : 0),
      d_starts_with_round(!config.first),
      d_interval(interval_of(config)),
      d_counter_step(config.descriptor_id_step),
      d_mask(config.regular.contents().flavour.address_mask()),
      d_counter(config.descriptor_id_start & d_mask)
{
}

void descriptor_schedule::start(clock::time_point now)
{
    skip_all();
    if (d_starts_with_round)
        begin_round();
    d_next_round = now + d_interval;
}

void descriptor_schedule::update(clock::time_point now)
{
    if (!needs_clock() || now < d_next_round)
        return;
    d_next_round += d_interval;
    if (d_next_round <= now) // do not make up for missed rounds
        d_next_round = now + d_interval;
    if (!is_due())
        begin_round();
}

void descriptor_schedule::begin_round()
{
    d_next_destination = 0;
    d_end_destination = d_destinations;
}

void descriptor_schedule::packet_written(std::size_t payload_bytes, bool heap_end)
{
    d_offset += payload_bytes;
    if (heap_end)
        end_heap();
}

void descriptor_schedule::end_heap()
{
    d_offset = 0;
    d_counter = (d_counter - d_counter_step) & d_mask;
    ++d_next_destination;
}

void descriptor_schedule::end_round_early()
{
    d_end_destination = d_offset ? d_next_destination + 1 : d_next_destination;
}

void descriptor_schedule::skip_all()
{
    if (d_offset) // packets with this heap counter may have been sent
        end_heap();
    d_end_destination = d_next_destination;
}

} // namespace gr::spead
