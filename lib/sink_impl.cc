/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "core/support/shortened.h"
#include "message_ports.h"
#include "named_errors.h"
#include "rx_time_tag.h"
#include "sink_impl.h"

#include <gnuradio/io_signature.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace gr::spead {

namespace {

// The scheduler allocates twice this size for the buffer upstream. With its default of
// 64 KiB, the threads would exchange small batches, and context switches would limit the
// throughput.
constexpr std::size_t upstream_bytes = 1 << 20;
// Converting floats takes longer: while one half of the buffer is converted, the block
// upstream fills the other half.
constexpr std::size_t upstream_bytes_to_convert = 2 << 20;

// Limit for one wait for the network: other inputs may get samples, and ports messages.
constexpr std::chrono::milliseconds max_wait{ 10 };

const auto rx_time = pmt::mp("rx_time");
const auto items_port = pmt::mp("items");
const auto rate_port = pmt::mp("rate");
const auto stats_port = pmt::mp("stats");

std::size_t item_bytes(const sink_config& config)
{
    return config.axes.vector_length() * config.converter.input_bytes();
}

bool converts(const sink_config& config) { return is_float(config.format.type); }

} // namespace

sink::sptr sink::make(const std::vector<std::string>& destinations,
                      const sink_options& options)
{
    return with_error_prefix("spead.sink", [&] {
        return gnuradio::make_block_sptr<sink_impl>(destinations,
                                                    parse_options(destinations, options));
    });
}

void sink::check(const std::vector<std::string>& destinations,
                 const sink_options& options)
{
    with_error_prefix("spead.sink", [&] { parse_options(destinations, options); });
}

sink_impl::sink_impl(const std::vector<std::string>& destinations,
                     const sink_config& config)
    : gr::block("spead_sink",
                gr::io_signature::make(static_cast<int>(config.ports),
                                       static_cast<int>(config.ports),
                                       static_cast<int>(item_bytes(config))),
                gr::io_signature::make(0, 0, 0)),
      d_destinations(destinations),
      d_input_bytes(item_bytes(config)),
      d_upstream_multiple(static_cast<int>(std::max<std::size_t>(
          (converts(config) ? upstream_bytes_to_convert : upstream_bytes) / d_input_bytes,
          1))),
      d_max_samples_per_call(converts(config)
                                 ? static_cast<std::size_t>(d_upstream_multiple)
                                 : std::numeric_limits<std::size_t>::max()),
      d_inputs(*this, config.ports, config.heaps_ahead(), config.format.heap_samples),
      d_items(config),
      d_reads_tags(config.clock.has_value()),
      d_pads_incomplete_heaps(config.tail == tail_policy::pad),
      d_engine(config,
               [logger = d_logger, name = shortened(destinations)](
                   const std::string& line) { logger->warn("{:s}: {:s}", name, line); }),
      d_publishes_stats(config.stats_interval.count() > 0)
{
    if (!config.axes.empty())
        d_stage.emplace(
            config.axes,
            config.converter.input_bytes(),
            [this](std::size_t input, const std::byte* samples, std::size_t n) {
                return d_engine.write(input, samples, n);
            });
    set_output_multiple(d_upstream_multiple);
    message_port_register_in(items_port);
    set_msg_handler(items_port, [this](const pmt::pmt_t& message) {
        apply_message("items",
                      [&] { d_engine.set_items(read_items_message(message, d_items)); });
    });
    message_port_register_in(rate_port);
    set_msg_handler(rate_port, [this](const pmt::pmt_t& message) {
        apply_message("rate", [&] { set_rate(read_rate_message(message)); });
    });
    message_port_register_out(stats_port);
    d_engine.publish_stats_every(config.stats_interval, [this] { publish_stats(); });
}

sink_impl::~sink_impl() { d_engine.stop(); }

bool sink_impl::start()
{
    // The buffer is allocated. From now on, accept any number of samples: a multiple
    // would lose the end of the stream.
    set_output_multiple(1);
    d_inputs.start_run();
    if (d_stage)
        d_stage->start_run();
    d_failed = false;
    try {
        d_engine.start();
    } catch (const std::exception& e) {
        // an exception that escapes start() hangs the flow graph
        d_failed = true;
        d_engine.warn("cannot start, the flow graph ends: ", e.what());
    }
    return true;
}

bool sink_impl::stop()
{
    if (d_stage && !d_failed)
        end_heaps();
    d_engine.stop();
    if (d_publishes_stats)
        publish_stats();
    // a restart reallocates the buffer
    set_output_multiple(d_upstream_multiple);
    return true;
}

// Pads or drops the heaps that are incomplete.
void sink_impl::end_heaps()
{
    if (d_pads_incomplete_heaps)
        d_stage->pad();
    d_engine.finish_writing([this] { return d_stage->write_heaps(); });
    for (std::size_t i = 0; i < d_engine.inputs(); ++i)
        d_engine.drop(i, d_stage->samples_left(i));
}

void sink_impl::forecast(int, gr_vector_int& ninput_items_required)
{
    if (d_stage)
        std::fill(ninput_items_required.begin(), ninput_items_required.end(), 1);
    else
        d_inputs.forecast(ninput_items_required);
}

int sink_impl::general_work(int,
                            gr_vector_int& ninput_items,
                            gr_vector_const_void_star& input_items,
                            gr_vector_void_star&)
{
    d_engine.write_log();
    if (d_failed)
        return WORK_DONE;
    if (d_stage) {
        take_vectors(ninput_items, input_items);
        return 0;
    }
    bool is_ring_full = false;
    do {
        bool has_progressed = false;
        while (take_samples(ninput_items, input_items, has_progressed, is_ring_full))
            ;
        d_inputs.consume();
        if (has_progressed)
            break;
        // The scheduler would call again at once. May throw boost::thread_interrupted,
        // which the scheduler handles: tb.stop() ends the wait.
    } while (is_ring_full && d_engine.wait_for_space(ring_wait::clock::now() + max_wait));
    return 0;
}

// Takes the same number of items from each input.
void sink_impl::take_vectors(const gr_vector_int& ninput_items,
                             const gr_vector_const_void_star& input_items)
{
    const auto offered = static_cast<std::size_t>(
        *std::min_element(ninput_items.begin(), ninput_items.end()));
    std::vector<const std::byte*> ports;
    for (const auto* items : input_items)
        ports.push_back(static_cast<const std::byte*>(items));
    // may throw boost::thread_interrupted, as in general_work()
    while (!d_stage->write_heaps())
        if (!d_engine.wait_for_space(ring_wait::clock::now() + max_wait))
            return;
    const auto n_taken = d_stage->take_items(ports, offered);
    d_stage->write_heaps();
    consume_each(static_cast<int>(n_taken));
}

// Takes samples from each input. True if inputs that waited for others may continue.
bool sink_impl::take_samples(const gr_vector_int& ninput_items,
                             const gr_vector_const_void_star& input_items,
                             bool& has_progressed,
                             bool& is_ring_full)
{
    bool has_taken = false;
    bool is_held = false;
    is_ring_full = false;
    const auto limit = d_inputs.limit();
    for (std::size_t input = 0; input < input_items.size(); ++input) {
        const auto begin = d_inputs.accepted(input);
        const auto end = std::min(static_cast<std::size_t>(ninput_items[input]),
                                  d_max_samples_per_call);
        const auto offered = end - std::min(begin, end);
        const auto n = std::min(offered, d_inputs.allowed(input, limit));
        const auto* samples = static_cast<const std::byte*>(input_items[input]);
        const auto n_taken =
            n ? write_samples(input, samples + begin * d_input_bytes, n, begin) : 0;
        d_inputs.mark_accepted(input, n_taken);
        // the scheduler calls again at once, since there are samples after the gap
        const bool is_filling = d_engine.is_filling(input);
        has_progressed |= n_taken > 0 || is_filling;
        has_taken |= n_taken > 0;
        is_held |= n < offered;
        is_ring_full |= n_taken < n && !is_filling;
    }
    return has_taken && is_held;
}

// Returns how many of the samples need not be offered again.
std::size_t sink_impl::write_samples(std::size_t input,
                                     const std::byte* samples,
                                     std::size_t n,
                                     std::size_t begin)
{
    if (!d_reads_tags)
        return d_engine.write(input, samples, n);
    const auto first_sample = nitems_read(static_cast<unsigned>(input)) + begin;
    read_tags(input, first_sample, n);
    return d_engine.write(input, samples, n, first_sample, d_time_tags);
}

void sink_impl::read_tags(std::size_t input, std::uint64_t first_sample, std::size_t n)
{
    get_tags_in_range(
        d_tags, static_cast<unsigned>(input), first_sample, first_sample + n, rx_time);
    std::stable_sort(d_tags.begin(), d_tags.end(), gr::tag_t::offset_compare);
    d_time_tags.clear();
    for (const auto& tag : d_tags)
        d_time_tags.push_back(read_rx_time(tag));
}

void sink_impl::set_rate(double rate)
{
    with_error_prefix("spead.sink", [&] { d_engine.set_rate(checked_rate(rate)); });
}

void sink_impl::set_item(std::int64_t id, std::int64_t value, std::int64_t input)
{
    with_error_prefix("spead.sink", [&] {
        d_engine.set_items(d_items.make_updates(d_items.find(id), value, input));
    });
}

void sink_impl::set_item(const std::string& name, std::int64_t value, std::int64_t input)
{
    with_error_prefix("spead.sink", [&] {
        d_engine.set_items(d_items.make_updates(d_items.find(name), value, input));
    });
}

void sink_impl::set_items(const std::vector<item>& items)
{
    with_error_prefix("spead.sink",
                      [&] { d_engine.set_items(d_items.make_updates(items)); });
}

// A message with any error changes nothing.
template <typename function>
void sink_impl::apply_message(const char* port, function&& apply)
{
    try {
        apply();
    } catch (const std::exception& e) {
        d_engine.warn("message on port ", port, " ignored: ", e.what());
        d_engine.write_log();
    }
}

void sink_impl::publish_stats() { message_port_pub(stats_port, stats_message(stats())); }

} // namespace gr::spead
