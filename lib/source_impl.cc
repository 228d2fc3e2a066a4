/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "core/source_checks.h"
#include "core/support/checks.h"
#include "core/support/open_files.h"
#include "message_ports.h"
#include "named_errors.h"
#include "source_impl.h"

#include <gnuradio/block_detail.h>
#include <gnuradio/io_signature.h>

namespace gr::spead {

namespace {

// The scheduler makes the buffer twice as large as this. With its own choice, 64 KiB, the
// threads would hand over crumbs.
constexpr std::size_t output_multiple_bytes = 1 << 20;

// Besides its sockets, a source needs four, one of them for a moment, and GNU Radio may
// want one or two.
constexpr std::size_t open_files = 6;

// Until the scheduler looks whether the flow graph is to stop.
constexpr std::chrono::milliseconds longest_wait{ 100 };

const auto stats_port = pmt::mp("stats");
const auto timestamp_key = pmt::mp("timestamp");
const auto rx_time_key = pmt::mp("rx_time");
constexpr std::size_t most_item_keys = 256;
const auto missing_key = pmt::mp("missing");

int output_bytes(const source_options& options)
{
    return static_cast<int>(sample_decoder(output_type_of(options)).output_bytes());
}

} // namespace

source::sptr source::make(const std::vector<std::string>& endpoints,
                          const source_options& options)
{
    return with_name("spead.source", [&] {
        check_options(endpoints, options);
        std::size_t sockets = 0;
        for (const auto& list : endpoints_of(endpoints, options))
            sockets += list.size();
        check_open_files(open_files + sockets);
        return gnuradio::make_block_sptr<source_impl>(endpoints, options);
    });
}

void source::check(const std::vector<std::string>& endpoints,
                   const source_options& options)
{
    with_name("spead.source", [&] { check_options(endpoints, options); });
}

source_impl::source_impl(const std::vector<std::string>& endpoints,
                         const source_options& options)
    : gr::block("spead_source",
                gr::io_signature::make(0, 0, 0),
                gr::io_signature::make(static_cast<int>(options.num_outputs),
                                       static_cast<int>(options.num_outputs),
                                       output_bytes(options))),
      d_num_outputs(options.num_outputs),
      d_multiple(static_cast<int>(output_multiple_bytes) / output_bytes(options)),
      d_knows_time(options.sample_rate.has_value()),
      d_clock(clock_of(options)),
      d_to(static_cast<std::size_t>(options.num_outputs)),
      d_read(static_cast<std::size_t>(options.num_outputs)),
      d_engine(
          endpoints,
          options,
          [this] { end_idle_wait(); },
          [logger = d_logger](const std::string& line) { logger->warn("{:s}", line); }),
      d_stats_timer(options.stats_interval, [this] { publish_stats(); })
{
    set_output_multiple(d_multiple);
    message_port_register_out(stats_port);
}

source_impl::~source_impl()
{
    d_stats_timer.stop();
    d_engine.stop();
}

// Whatever leaves start(), general_work() or stop() as an exception hangs the flow graph.

bool source_impl::start()
{
    // the buffer is allocated; from here on any number of samples will do
    set_output_multiple(1);
    d_failed = false;
    try {
        d_engine.start();
    } catch (const std::exception& e) {
        d_failed = true;
        d_engine.warn("cannot start, the stream ends: ", e.what());
    }
    try {
        d_stats_timer.start();
    } catch (const std::exception& e) {
        d_engine.warn("cannot publish stats: ", e.what());
    }
    return true;
}

bool source_impl::stop()
{
    d_engine.stop();
    d_stats_timer.stop();
    // a restart allocates the buffer anew
    set_output_multiple(d_multiple);
    return true;
}

int source_impl::general_work(int noutput_items,
                              gr_vector_int&,
                              gr_vector_const_void_star&,
                              gr_vector_void_star& output_items)
{
    if (d_failed)
        return WORK_DONE;
    try {
        // what may leave this as an exception is boost::thread_interrupted, which the
        // scheduler expects: so tb.stop() ends the wait
        d_engine.wait(source_engine::clock::now() + longest_wait);
    } catch (const std::exception& e) {
        d_engine.warn("receiving failed: ", e.what(), "; trying again");
    }
    // before the samples are read: none may come after the end
    const bool has_ended = d_engine.is_at_end();
    for (std::size_t i = 0; i < d_to.size(); ++i)
        d_to[i] = static_cast<std::byte*>(output_items[i]);
    d_tags.clear();
    d_engine.read(d_to, static_cast<std::size_t>(noutput_items), d_read, d_tags);
    try {
        for (const auto& tag : d_tags)
            add_tag(tag);
    } catch (const std::exception& e) {
        d_engine.warn("tags are lost: ", e.what());
    }
    bool is_empty = true;
    for (std::size_t i = 0; i < d_read.size(); ++i) {
        produce(static_cast<int>(i), static_cast<int>(d_read[i]));
        is_empty &= d_read[i] == 0;
    }
    return is_empty && has_ended ? static_cast<int>(WORK_DONE)
                                 : static_cast<int>(WORK_CALLED_PRODUCE);
}

// When general_work() returns without samples, the scheduler waits for 250 ms, or for a
// message.
void source_impl::end_idle_wait()
{
    if (const auto running = detail())
        running->d_tpb.notify_msg();
}

void source_impl::add_tag(const sample_tag& tag)
{
    const auto output = static_cast<unsigned>(tag.output);
    const auto at = nitems_written(output) + tag.offset;
    const auto value = pmt::from_uint64(tag.value);
    switch (tag.what) {
    case sample_tag::kind::timestamp:
        add_item_tag(output, at, timestamp_key, value, alias_pmt());
        if (d_knows_time) {
            const auto time = d_clock.time_of(tag.value);
            add_item_tag(output,
                         at,
                         rx_time_key,
                         pmt::make_tuple(pmt::from_uint64(time.seconds),
                                         pmt::from_double(time.fraction)),
                         alias_pmt());
        }
        break;
    case sample_tag::kind::missing:
        add_item_tag(output, at, missing_key, value, alias_pmt());
        break;
    case sample_tag::kind::item:
        if (const auto key = item_key(tag.format->immediates[tag.item].name))
            add_item_tag(output, at, key, value, alias_pmt());
        break;
    }
}

// Nothing for an item that gets no tags.
pmt::pmt_t source_impl::item_key(const std::string& name)
{
    const auto known = d_item_keys.find(name);
    if (known != d_item_keys.end())
        return known->second;
    // GNU Radio never frees a name, and anybody may send descriptors
    if (name.empty() || d_item_keys.size() == most_item_keys)
        return nullptr;
    const auto key = pmt::mp(name);
    // the block downstream would take it for one of the source
    const bool is_own = key == timestamp_key || key == rx_time_key || key == missing_key;
    return d_item_keys[name] = is_own ? nullptr : key;
}

source_stats source_impl::stats(std::int64_t output) const
{
    with_name("spead.source", [&] {
        check_range<std::int64_t>("output", output, -1, d_num_outputs - 1);
    });
    return d_engine.stats(output);
}

void source_impl::publish_stats() noexcept
{
    try {
        message_port_pub(stats_port, stats_message(stats(-1)));
    } catch (const std::exception& e) {
        d_engine.warn("cannot publish stats: ", e.what());
    }
}

} // namespace gr::spead
