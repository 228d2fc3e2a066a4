/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "core/source_config.h"
#include "core/support/checks.h"
#include "message_ports.h"
#include "named_errors.h"
#include "source_impl.h"

#include <gnuradio/block_detail.h>
#include <gnuradio/buffer.h>
#include <gnuradio/io_signature.h>
#include <boost/thread/thread.hpp>

#include <algorithm>
#include <array>
#include <climits>
#include <limits>

namespace gr::spead {

namespace {

const auto stats_port = pmt::mp("stats");
const auto timestamp_key = pmt::mp("timestamp");
const auto rx_time_key = pmt::mp("rx_time");
constexpr std::size_t max_item_keys = 256;
const auto missing_key = pmt::mp("missing");
const auto skipped_key = pmt::mp("skipped");

std::size_t item_bytes(const source_config& config)
{
    return config.axes.vector_length() * config.sample_bytes();
}

// The scheduler allocates a buffer of twice the output multiple. Without axes, it is the
// window: the scheduler offers half of it at a time, which must hold a packet.
int buffer_multiple(const source_config& config)
{
    constexpr std::size_t vector_bytes = 1 << 20;
    if (!config.axes.empty())
        return static_cast<int>(
            std::max<std::size_t>(vector_bytes / item_bytes(config), 1));
    return static_cast<int>(
        std::min<std::size_t>(config.window_samples() / 2, INT_MAX / 4));
}

} // namespace

source::sptr source::make(const std::vector<std::string>& endpoints,
                          const source_options& options)
{
    return with_error_prefix("spead.source", [&] {
        return gnuradio::make_block_sptr<source_impl>(endpoints,
                                                      parse_options(endpoints, options));
    });
}

source::sptr source::make_described(const std::vector<std::string>& endpoints,
                                    const source_options& options,
                                    const std::vector<item_description>& descriptions)
{
    return with_error_prefix("spead.source", [&] {
        auto config = parse_options(endpoints, options);
        config.descriptions = descriptions;
        return gnuradio::make_block_sptr<source_impl>(endpoints, config);
    });
}

void source::check(const std::vector<std::string>& endpoints,
                   const source_options& options)
{
    with_error_prefix("spead.source", [&] { parse_options(endpoints, options); });
}

source_impl::source_impl(const std::vector<std::string>& endpoints,
                         const source_config& config)
    : gr::block("spead_source",
                gr::io_signature::make(0, 0, 0),
                gr::io_signature::make(static_cast<int>(config.ports),
                                       static_cast<int>(config.ports),
                                       static_cast<int>(item_bytes(config)))),
      d_endpoints(endpoints),
      d_num_outputs(static_cast<std::int64_t>(config.ports)),
      d_multiple(buffer_multiple(config)),
      d_clock(config.clock),
      d_port_items(config.ports),
      d_item_bytes(item_bytes(config)),
      d_heap_samples(config.heap_samples),
      d_engine(
          config,
          [logger = d_logger](const std::string& line) { logger->warn("{:s}", line); }),
      d_stats_interval(config.stats_interval)
{
    if (config.axes.empty())
        set_min_noutput_items(static_cast<int>(source_config::max_packet_samples));
    else
        d_stage.emplace(config.axes, config.sample_bytes(), config.window_bytes);
    set_output_multiple(d_multiple);
    message_port_register_out(stats_port);
}

bool source_impl::start()
{
    // the buffer is allocated; from now on, a multiple would delay samples
    set_output_multiple(1);
    d_failed = false;
    if (d_stage)
        d_stage->start_run();
    try {
        d_engine.start();
    } catch (const std::exception& e) {
        // an exception that escapes start() hangs the flow graph
        d_failed = true;
        d_engine.warn("cannot start, the flow graph ends: ", e.what());
    }
    d_next_stats = clock::now() + d_stats_interval;
    return true;
}

bool source_impl::stop()
{
    d_engine.stop();
    if (d_stats_interval.count())
        publish_stats();
    // a restart reallocates the buffer
    set_output_multiple(d_multiple);
    return true;
}

// Waits for packets and places their samples in the output buffers. Returns only with
// samples or at the end: otherwise the scheduler would put the block to sleep for up to
// 250 ms.
int source_impl::general_work(int,
                              gr_vector_int&,
                              gr_vector_const_void_star&,
                              gr_vector_void_star& output_items)
{
    for (std::size_t i = 0; i < d_port_items.size(); ++i)
        d_port_items[i] = static_cast<std::byte*>(output_items[i]);
    for (std::int64_t room = 0; !d_failed && find_room(room) && !is_at_end();) {
        // may throw boost::thread_interrupted, which the scheduler handles: tb.stop()
        // ends the wait
        boost::this_thread::interruption_point();
        const auto produced = d_stage ? produce_vectors(room) : produce_samples(room);
        if (const auto now = clock::now();
            d_stats_interval.count() && now >= d_next_stats) {
            d_next_stats = now + d_stats_interval;
            publish_stats();
        }
        if (!produced)
            continue;
        for (int i = 0; i < d_num_outputs; ++i)
            produce(i, static_cast<int>(produced));
        return WORK_CALLED_PRODUCE;
    }
    if (!d_failed && is_at_end())
        d_logger->info("the stream has ended: {:s}", d_engine.end_reason());
    return WORK_DONE;
}

bool source_impl::is_at_end() const
{
    return d_engine.is_at_end() && !(d_stage && d_stage->items_left());
}

// Receives samples in the output buffers. Returns how many items were produced.
std::size_t source_impl::produce_samples(std::int64_t room)
{
    d_engine.receive(d_port_items, room);
    d_tags.clear();
    const auto produced = d_engine.produce(d_tags);
    for (const auto& tag : d_tags)
        add_tag(tag);
    return produced;
}

// Receives heaps, and copies their items to the output buffers. Returns their number.
std::size_t source_impl::produce_vectors(std::int64_t room)
{
    if (!d_stage->items_left()) {
        d_stage->make_room(d_engine.used());
        d_engine.receive(d_stage->addresses(), d_stage->room());
    }
    const auto limit = static_cast<std::size_t>(room);
    std::size_t produced = 0;
    while (produced < limit && (d_stage->items_left() || advance_front(produced))) {
        const auto items = d_stage->copy_items(d_port_items, limit - produced);
        for (auto& position : d_port_items)
            position += items * d_item_bytes;
        produced += items;
    }
    return produced;
}

// Passes the next heap to the output, if it is ready. Its first item is at this offset.
bool source_impl::advance_front(std::size_t offset)
{
    d_tags.clear();
    if (!d_engine.produce(d_tags, d_heap_samples))
        return false;
    d_stage->advance_front();
    add_heap_tags(offset);
    return true;
}

// Adds the tags of a heap to its first item on each output. The heaps of all substreams
// have the same time; items are those of the first one.
void source_impl::add_heap_tags(std::size_t offset)
{
    constexpr std::array summed_kinds{ sample_tag::kind::missing,
                                       sample_tag::kind::skipped };
    std::array<std::uint64_t, summed_kinds.size()> sums{};
    for (const auto& tag : d_tags)
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] += tag.type == summed_kinds[i] ? tag.value : 0;
    for (int i = 0; i < d_num_outputs; ++i) {
        const auto output = static_cast<std::size_t>(i);
        for (std::size_t j = 0; j < sums.size(); ++j)
            if (sums[j])
                add_tag({ output, offset, summed_kinds[j], sums[j] });
        for (const auto& tag : d_tags)
            if (tag.output == 0 &&
                !std::count(summed_kinds.begin(), summed_kinds.end(), tag.type))
                add_tag({ output, offset, tag.type, tag.value, tag.item });
    }
}

// Finds the room for samples in each output. False if a block downstream has ended.
bool source_impl::find_room(std::int64_t& room)
{
    room = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < d_num_outputs; ++i) {
        auto& buffer = *detail()->output(i);
        if (buffer.done())
            return false;
        if (buffer.get_mapping_type() != gr::buffer_mapping_type::double_mapped) {
            d_engine.warn("output ",
                          i,
                          " is connected to a block with custom buffers, which is not "
                          "supported; insert a copy block");
            return false;
        }
        const gr::thread::scoped_lock lock(*buffer.mutex());
        room = std::min<std::int64_t>(room, buffer.space_available());
    }
    return true;
}

void source_impl::add_tag(const sample_tag& tag)
{
    const auto output = static_cast<unsigned>(tag.output);
    const auto position = nitems_written(output) + tag.offset;
    const auto value = pmt::from_uint64(tag.value);
    switch (tag.type) {
    case sample_tag::kind::timestamp:
        add_item_tag(output, position, timestamp_key, value, alias_pmt());
        if (d_clock) {
            const auto time = d_clock->time_of(tag.value);
            add_item_tag(output,
                         position,
                         rx_time_key,
                         pmt::make_tuple(pmt::from_uint64(time.seconds),
                                         pmt::from_double(time.fraction)),
                         alias_pmt());
        }
        break;
    case sample_tag::kind::missing:
        add_item_tag(output, position, missing_key, value, alias_pmt());
        break;
    case sample_tag::kind::skipped:
        add_item_tag(output, position, skipped_key, value, alias_pmt());
        break;
    case sample_tag::kind::item: {
        const auto& item = d_engine.immediate(tag.item);
        const auto number = item.format.type == 'i'
                                ? pmt::from_long(item.format.signed_value(tag.value))
                                : value;
        if (const auto key = item_key(item.name))
            add_item_tag(output, position, key, number, alias_pmt());
        break;
    }
    }
}

// The key of the tags of an item; nullptr if it gets none.
pmt::pmt_t source_impl::item_key(const std::string& name)
{
    const auto cached = d_item_keys.find(name);
    if (cached != d_item_keys.end())
        return cached->second;
    // limit the names, since GNU Radio never frees them and anybody may send descriptors
    if (name.empty() || d_item_keys.size() == max_item_keys)
        return nullptr;
    const auto key = pmt::mp(name);
    // blocks downstream would mistake it for a tag of the source
    const bool is_reserved = key == timestamp_key || key == rx_time_key ||
                             key == missing_key || key == skipped_key;
    return d_item_keys[name] = is_reserved ? nullptr : key;
}

source_stats source_impl::stats(std::int64_t output) const
{
    with_error_prefix("spead.source", [&] {
        check_value("output", output, bounds{ -1, d_engine.outputs() - 1 });
    });
    return d_engine.stats(output);
}

void source_impl::publish_stats()
{
    message_port_pub(stats_port, stats_message(stats(-1)));
}

} // namespace gr::spead
