/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "reassembler.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace gr::spead {

namespace {

// Of packets that wait: for descriptors, for the first packet of their heap, or until
// another heap agrees.
constexpr std::size_t most_stored_bytes = 1 << 20;
constexpr std::size_t most_stored_packets = 1024;
constexpr std::chrono::seconds longest_wait{ 1 };

// Packets that belong in front of a stream may come so long after it has begun.
constexpr std::chrono::milliseconds start_delay{ 10 };

// Packets of a heap come one after another within this time; later ones are of another
// heap of the same counter.
constexpr std::chrono::seconds longest_delay{ 1 };
// For so long the end of an earlier stream may be repeated.
constexpr std::chrono::seconds longest_repetition{ 1 };

// What go_on() does at a time.
constexpr std::size_t descriptors_at_once = 4;
constexpr std::size_t packets_at_once = 2;
constexpr std::size_t drops_at_once = 64;
constexpr std::size_t most_overtaking = 16; // packets of a heap of descriptors
constexpr std::size_t bytes_at_once = 32 << 10;

std::size_t most_values(const reassembler::plan& how)
{
    return std::max(most_described_immediates,
                    how.format ? how.format->immediates.size() : 0);
}

// Where the next item of a packet begins, if items are in the order of their addresses.
std::uint64_t next_address(const packet_view& packet, std::size_t index)
{
    while (++index < packet.items)
        if (const auto item = packet.item(index); !item.is_immediate)
            return item.value;
    return packet.heap_length.value_or(packet.payload_end());
}

// A number that is too wide for an item pointer lies in the payload.
std::optional<std::uint64_t> number_at(const packet_view& packet,
                                       std::uint64_t begin,
                                       std::uint64_t end,
                                       const number_format& format)
{
    if (begin < packet.payload_offset || end > packet.payload_end() || end <= begin ||
        end - begin > sizeof(std::uint64_t))
        return std::nullopt;
    std::uint64_t raw = 0;
    for (auto at = begin; at < end; ++at)
        raw = raw << 8 |
              static_cast<std::uint64_t>(packet.payload[at - packet.payload_offset]);
    return format.value(raw);
}

} // namespace

reassembler::reassembler(plan how,
                         output_window& window,
                         std::vector<source_counter_set>& counters,
                         source_counter_set& common,
                         reject_counters& rejects,
                         rate_limited_log& log)
    : d_plan(std::move(how)),
      d_window(window),
      d_counters(counters),
      d_common(common),
      d_rejects(rejects),
      d_log(log),
      d_decoder(d_plan.type),
      d_heaps(most_values(d_plan)),
      d_tracker(d_plan.stream, window, d_heaps, log),
      d_store(most_stored_bytes, most_stored_packets, common.packets_ignored)
{
    d_heap.values.reserve(most_values(d_plan));
    d_found.reserve(most_values(d_plan));
    if (d_plan.format)
        use_format(d_plan.format);
}

void reassembler::start_run()
{
    d_tracker.start_run();
    d_split.clear();
    d_has_stopped = false;
    d_since = {};
    d_last_sender = 0;
    d_has_logged_other = false;
    d_silence.end();
}

void reassembler::end_run()
{
    d_store.clear();
    forget_heaps();
}

bool reassembler::take(const received_packet& packet, clock::time_point now)
{
    arrival view;
    if (const auto error = parse_packet(packet.data, packet.bytes, view);
        error != packet_error::none) {
        d_rejects.add(error);
        d_silence.note_not_spead(packet.data, packet.bytes);
        return true;
    }
    view.from = packet;
    view.group = d_plan.group_of_socket[packet.socket];
    view.time = d_now = now;
    if (!d_plan.format && (view.has_descriptors || d_collector.is_incomplete()))
        collect_descriptors(view);
    // what comes with or behind descriptors waits until these have been read
    const bool can_place =
        d_format && !d_store.has_ready() && !d_has_changed_table &&
        !d_collector.has_next() &&
        !d_collector.awaits(view.heap_counter, packet.sender, view.group);
    const auto done = can_place ? place(view) : result::wait;
    if (done == result::full)
        return false;
    if (done == result::rejected)
        return true;
    if (!can_place && view.is_end_of_stream)
        note_end(view, false);
    if (done == result::wait)
        d_store.add(packet, view.heap_counter, now, d_store.has_ready());
    if (done == result::ignored)
        d_common.packets_ignored.add(1);
    d_common.packets_received.add(1);
    d_common.bytes_received.add(packet.bytes);
    if (!view.is_end_of_stream)
        d_last_sender = packet.sender;
    if (!d_format)
        d_silence.note(!d_refusal.empty()            ? d_refusal
                       : d_collector.is_incomplete() ? cause::partial_descriptors
                                                     : cause::no_descriptors);
    return true;
}

// Packets

reassembler::result reassembler::place(const arrival& packet)
{
    if (packet.is_end_of_stream) {
        note_end(packet, true);
        return result::ignored;
    }
    auto* known = d_heaps.find(packet.heap_counter, packet.from.sender, packet.group);
    const bool has_word = known && packet.has_items() && known->pointer < packet.items &&
                          packet.word(known->pointer) == known->word;
    if (known && packet.time - known->last_packet >= longest_pause(*known, has_word))
        known = nullptr; // the sender may have started again
    const bool is_of_known =
        known && known->is == state::placed && (!packet.has_items() || has_word);
    if (is_of_known) {
        if (known->heap_length != packet.heap_length) {
            d_rejects.add(packet_error::contradiction);
            return result::rejected;
        }
        if (known->needs_items && !packet.has_items())
            return result::ignored;
        return place_samples(*known, packet);
    }
    if (packet.has_items() || (known && known->is == state::incomplete))
        return open(packet, known);
    if (known)
        return result::ignored;
    d_silence.note(cause::no_first_packet);
    return result::wait;
}

// How long packets of a heap may be apart; those of a whole one come again if its sender
// starts again.
reassembler::clock::duration reassembler::longest_pause(const received_heap& heap,
                                                        bool has_word) const
{
    if (heap.is != state::placed || heap.received >= heap.length)
        return longest_delay;
    return has_word && d_format->timestamp_id && !heap.timestamp_address
               ? clock::duration::max()
               : std::max<clock::duration>(longest_delay, d_tracker.silence(heap.output));
}

// Finds out about a heap whose position is not known.
reassembler::result reassembler::open(const arrival& packet, received_heap* known)
{
    if (known && known->is == state::incomplete) {
        d_heap = *known;
    } else {
        auto values = std::move(d_heap.values);
        values.clear();
        d_heap = received_heap{};
        d_heap.values = std::move(values);
        d_heap.counter = packet.heap_counter;
        d_heap.sender = packet.from.sender;
        d_heap.group = packet.group;
        d_heap.heap_length = packet.heap_length;
        d_heap.socket = packet.from.socket;
        d_heap.address_bits = packet.flavour.heap_address_bits;
    }
    d_heap.values.resize(d_format->immediates.size());
    d_heap.last_packet = packet.time;
    read_items(packet);
    const bool has_time = d_heap.timestamp || !d_format->timestamp_id;
    if (has_time && d_heap.samples_begin)
        return judge(packet, known);
    if (!packet.has_items())
        return result::wait;
    const bool has_part =
        d_heap.samples_begin || d_heap.timestamp || d_heap.timestamp_address;
    if (known && known->is == state::placed) // it has items in several packets
        return has_part || known->needs_items ? result::ignored
                                              : place_samples(*known, packet);
    if (has_part && !has_time)
        d_silence.note_lacking(*d_format->timestamp_id, "the timestamp", packet);
    else
        d_silence.note_lacking(d_format->samples_id, "the samples", packet);
    if (has_part && !(known && known->is == state::incomplete))
        release(&d_heap); // they may hold the rest
    d_heap.is = has_part ? state::incomplete : state::ignored;
    record(d_heap);
    return has_part ? result::wait : result::ignored;
}

// Asks whether the heap belongs to the stream, and places the packet.
reassembler::result reassembler::judge(const arrival& packet, received_heap* known)
{
    using verdict = stream_tracker::verdict;
    const bool is_open = known && known->is == state::placed;
    const auto refuse = [&] {
        if (!is_open) {
            d_heap.is = state::ignored;
            record(d_heap);
        }
        return result::ignored;
    };
    if (d_heap.samples_end == *d_heap.samples_begin) {
        d_silence.note(cause::no_bytes);
        return refuse();
    }
    if (!d_format->timestamp_id && d_heap.samples_end == received_heap::unknown_end) {
        d_silence.note(cause::no_length);
        return refuse();
    }
    const auto output = output_of(d_heap);
    if (!output) {
        d_silence.note_no_output(*d_format, d_heap.values);
        return refuse();
    }
    d_heap.output = *output;
    if (is_open && d_heap.timestamp && d_heap.timestamp == known->timestamp &&
        d_heap.samples_begin == known->samples_begin && d_heap.output == known->output &&
        d_heap.heap_length == known->heap_length) // its items are in another order
        return place_samples(*known, packet);
    const auto found = d_tracker.judge(d_heap, packet.time);
    if (found <= verdict::begins) {
        auto* heap = accept(found, known, packet);
        if (!heap)
            return result::full;
        if (const auto* pending = d_tracker.fitting_pending(heap->output))
            release(pending);
        return place_samples(*heap, packet);
    }
    if (is_open) // packets without items may be of either heap
        known->needs_items = true;
    switch (found) {
    case verdict::late:
        if (is_open)
            break;
        d_heap.is = state::placed;
        return place_samples(record(d_heap), packet);
    case verdict::agrees:
        release(&d_tracker.pending(d_heap.output));
        [[fallthrough]];
    case verdict::wait:
        d_silence.note(cause::different_times);
        return result::wait;
    case verdict::other:
        d_silence.note_other_sender(*d_format, d_tracker.item_that_differs());
        if (!std::exchange(d_has_logged_other, true))
            d_log.add(why_silent());
        return refuse();
    default:
        break;
    }
    d_silence.note(cause::different_times);
    if (!is_open)
        return refuse();
    d_rejects.add(packet_error::contradiction);
    return result::rejected;
}

// Nullptr if there is no room.
received_heap* reassembler::accept(stream_tracker::verdict how,
                                   const received_heap* known,
                                   const arrival& packet)
{
    using verdict = stream_tracker::verdict;
    const bool is_new_time = how == verdict::begins || how == verdict::jumps;
    if ((how == verdict::skips || how == verdict::begins) && !d_window.is_empty()) {
        d_window.give_up();
        return nullptr;
    }
    if (how == verdict::skips)
        skip_to(d_heap.position);
    if (is_new_time && d_tracker.is_running())
        d_since = packet.time;
    if (how == verdict::begins)
        begin_stream(d_now);
    d_heap.needs_items = known && known->is != state::incomplete;
    d_heap.is = state::placed;
    d_tracker.accept(d_heap, packet.time);
    release(is_new_time ? nullptr : &d_heap);
    return &record(d_heap);
}

void reassembler::begin_stream(clock::time_point now)
{
    // packets that belong in front of it may come behind it
    auto until = now;
    if (d_tracker.is_running() || d_plan.group_of_socket.size() > 1)
        until += start_delay;
    if (d_tracker.is_running()) {
        d_common.discontinuities.add(1);
        d_log.add("the timestamps jump: the stream begins anew");
    }
    d_heaps.for_each([this](received_heap& each) {
        if (each.is == state::placed) {
            finish(each);
            each.is = state::ignored;
        }
    });
    d_split.clear();
    const auto& how = d_plan.stream;
    // samples after which the ticks are a whole number
    const auto granule = std::max<std::int64_t>(
        how.samples_per_step / std::gcd(how.samples_per_step, how.ticks_per_step), 1);
    const auto position = d_window.begin_stream(d_window.capacity() / 2, until, granule);
    const auto first =
        static_cast<std::int64_t>(d_heap.first_byte / d_decoder.wire_bytes());
    d_tracker.begin_stream(d_heap, position - first / granule * granule);
}

void reassembler::skip_to(std::int64_t position)
{
    d_log.add(position - d_window.front(),
              " samples are missing, more than max_gap: the stream goes on behind them");
    d_common.discontinuities.add(1);
    d_window.skip_to(position);
}

received_heap& reassembler::record(const received_heap& heap)
{
    return d_heaps.insert(heap, [this](const received_heap& old) { finish(old); });
}

void reassembler::forget_heaps()
{
    d_heaps.for_each([this](received_heap& heap) {
        finish(heap);
        heap.is = state::none;
    });
}

void reassembler::finish(const received_heap& heap)
{
    if (heap.is != state::placed || heap.received == 0)
        return;
    if (heap.received < heap.length || d_heaps.has_gap_behind(heap))
        d_counters[heap.output].heaps_incomplete.add(1);
    else if (heap.samples_end == received_heap::unknown_end)
        d_counters[heap.output].heaps_received.add(1);
}

// Samples

reassembler::result reassembler::place_samples(received_heap& heap, const arrival& packet)
{
    const auto now = packet.time;
    const auto shift = d_decoder.wire_bytes_log2();
    const auto size = std::int64_t{ 1 } << shift;
    const auto first = std::max(packet.payload_offset, *heap.samples_begin);
    const auto last = std::min(packet.payload_end(), heap.samples_end);
    if (first >= last) {
        d_silence.note(cause::no_bytes);
        return result::ignored;
    }
    const auto* data = packet.payload + (first - packet.payload_offset);
    const auto begin = static_cast<std::int64_t>(first - *heap.samples_begin);
    auto end = static_cast<std::int64_t>(last - *heap.samples_begin);
    if (heap.samples_end == received_heap::unknown_end)
        heap.length = std::max(heap.length, end >> shift);
    else
        end = std::min(end, heap.length << shift);

    // whole samples, and those of which the packet holds the end or the begin
    const position_range touched{ heap.position + (begin >> shift),
                                  heap.position + ((end + size - 1) >> shift) };
    const position_range whole{ heap.position + ((begin + size - 1) >> shift),
                                heap.position + (end >> shift) };
    if (touched.size() <= 0)
        return result::ignored;
    const auto ahead = touched.begin - d_window.top();
    if (ahead > d_plan.stream.max_gap &&
        touched.end - d_window.front() > d_window.capacity()) {
        if (!d_window.is_empty()) {
            d_window.give_up();
            return result::full;
        }
        skip_to(touched.begin);
    }
    if (!d_window.has_room(heap.output, touched))
        return result::full;
    // without samples in the window nothing would make room for values
    if (whole.size() > 0 && !set_values(heap))
        return result::full;
    const auto place = [&](position_range range, const std::byte* from) {
        const auto placed = d_window.place(heap.output, range, from, d_now);
        auto& counters = d_counters[heap.output];
        if (placed.fresh) {
            heap.last_packet = now;
            d_tracker.note_fresh(heap, now);
            heap.received += static_cast<std::int64_t>(placed.fresh);
            if (heap.received == heap.length &&
                heap.samples_end != received_heap::unknown_end)
                counters.heaps_received.add(1);
        } else
            d_silence.note(cause::nothing_new);
        counters.samples_late.add(placed.late);
        counters.samples_duplicate.add(placed.duplicate);
    };
    const auto place_part = [&](std::int64_t from, std::int64_t to) {
        if (from == to)
            return;
        const auto position = heap.position + (from >> shift);
        const auto* bytes = d_split.add(heap.output,
                                        position,
                                        heap.counter,
                                        heap.sender,
                                        static_cast<std::size_t>(from % size),
                                        data + (from - begin),
                                        static_cast<std::size_t>(to - from),
                                        static_cast<std::size_t>(size));
        if (bytes)
            place({ position, position + 1 }, bytes);
    };
    const auto first_whole = std::min((whole.begin - heap.position) << shift, end);
    if (whole.size() > 0)
        place(whole, data + (first_whole - begin));
    place_part(begin, first_whole);
    place_part(std::max(first_whole, (whole.end - heap.position) << shift), end);
    return result::done;
}

bool reassembler::set_values(received_heap& heap)
{
    if (heap.has_set_values || heap.range().end <= d_window.front())
        return true;
    for (std::size_t i = 0; i < heap.values.size(); ++i)
        if (heap.values[i] &&
            !d_window.set_item(heap.output, i, heap.range(), *heap.values[i]))
            return false;
    heap.has_set_values = true;
    return true;
}

// Items

void reassembler::sort_ids()
{
    d_ids.clear();
    for (const auto& each : d_format->immediates)
        d_ids.emplace_back(each.id, d_ids.size());
    std::sort(d_ids.begin(), d_ids.end());
}

void reassembler::read_items(const packet_view& packet)
{
    constexpr auto none = max_packet_items;
    const auto& format = *d_format;
    auto timestamp = none, samples = none;
    d_found.assign(format.immediates.size(), none);
    for (std::size_t i = 0; i < packet.items; ++i) {
        const auto item = packet.item(i);
        if (item.id == format.timestamp_id) {
            timestamp = i;
        } else if (item.id == format.samples_id) {
            samples = item.is_immediate ? samples : i;
        } else {
            const std::pair<std::uint64_t, std::size_t> first{ item.id, 0 };
            const auto id = std::lower_bound(d_ids.begin(), d_ids.end(), first);
            if (id != d_ids.end() && id->first == item.id)
                d_found[id->second] = i;
        }
    }
    for (std::size_t k = 0; k < d_found.size(); ++k)
        if (d_found[k] != none) {
            const auto& is = format.immediates[k].format;
            const auto item = packet.item(d_found[k]);
            const auto end =
                is.bits ? item.value + is.bytes() : next_address(packet, d_found[k]);
            d_heap.values[k] = item.is_immediate ? is.value(item.value)
                                                 : number_at(packet, item.value, end, is);
        }
    auto recognised = samples;
    if (timestamp != none) {
        const auto& is = format.timestamp_format;
        const auto item = packet.item(timestamp);
        if (item.is_immediate) {
            recognised = timestamp;
            d_heap.timestamp = is.value(item.value);
            d_heap.timestamp_bits = d_heap.address_bits;
        } else {
            d_heap.timestamp_address = item.value;
            d_heap.timestamp_end =
                is.bits ? item.value + is.bytes() : packet.end_of(timestamp);
        }
        if (is.bits)
            d_heap.timestamp_bits = std::min(d_heap.timestamp_bits, is.bits);
    }
    if (d_heap.timestamp_address && !d_heap.timestamp)
        d_heap.timestamp = number_at(packet,
                                     *d_heap.timestamp_address,
                                     d_heap.timestamp_end,
                                     format.timestamp_format);
    if (recognised != none) {
        d_heap.pointer = recognised;
        d_heap.word = packet.word(recognised);
    }
    if (samples == none)
        return;
    const auto begin = packet.item(samples).value;
    d_heap.samples_begin = begin;
    d_heap.samples_end = std::max(begin, packet.end_of(samples));
    d_heap.first_byte =
        std::clamp(packet.payload_offset, begin, d_heap.samples_end) - begin;
    const auto end = d_heap.samples_end == received_heap::unknown_end
                         ? std::max(begin, packet.payload_end())
                         : d_heap.samples_end;
    d_heap.length = static_cast<std::int64_t>((end - begin) / d_decoder.wire_bytes());
}

// Values that items give select heaps: one for all outputs, or one for each.
std::optional<std::size_t> reassembler::output_of(const received_heap& heap) const
{
    const auto& group = d_plan.groups[heap.group];
    bool is_selected = group.outputs == 1;
    std::size_t output = group.first_output;
    for (std::size_t i = 0; i < d_format->immediates.size(); ++i) {
        const auto& values = d_format->immediates[i].values;
        if (values.empty())
            continue;
        if (!heap.values[i])
            return std::nullopt;
        const auto found =
            std::find_if(values.begin(), values.end(), [&](std::int64_t value) {
                return static_cast<std::uint64_t>(value) == *heap.values[i];
            });
        if (found == values.end())
            return std::nullopt;
        if (values.size() == 1)
            continue;
        output = static_cast<std::size_t>(found - values.begin());
        if (output < group.first_output || output >= group.first_output + group.outputs)
            return std::nullopt;
        is_selected = true;
    }
    return is_selected ? std::optional(output) : std::nullopt;
}

// Descriptors

// Packets of a heap of descriptors may overtake the first one.
void reassembler::collect_descriptors(const arrival& packet)
{
    const auto sender = packet.from.sender;
    const bool was_awaited =
        d_collector.awaits(packet.heap_counter, sender, packet.group);
    d_collector.add(packet, sender, packet.group, packet.time);
    if (was_awaited)
        return;
    std::size_t n = 0;
    for (const auto& entry : d_store) {
        if (n == most_overtaking)
            return;
        const auto group = d_plan.group_of_socket[entry.socket];
        if (!d_collector.awaits(entry.heap_counter, entry.sender, group))
            continue;
        packet_view view;
        parse_packet(entry.data, entry.bytes, view);
        d_collector.add(view, entry.sender, group, entry.time);
        ++n;
    }
}

// False if another format has to wait until all samples have been produced.
bool reassembler::read_descriptors()
{
    if (!d_collector.has_next() && !d_has_changed_table)
        return true;
    for (std::size_t i = 0; i < descriptors_at_once && d_collector.has_next(); ++i)
        if (auto description = d_collector.next())
            d_has_changed_table |= d_table.merge(std::move(*description));
    if (d_collector.has_next())
        return true;
    if (d_has_changed_table) {
        std::shared_ptr<const stream_format> format;
        try {
            format = std::make_shared<const stream_format>(
                d_table.format_for(d_plan.type, d_format.get()));
            if (!format->timestamp_id && d_plan.stream.outputs > 1)
                throw std::invalid_argument(
                    "the descriptors name no timestamp, which would align the outputs; "
                    "use a source for each stream, or give items");
            d_refusal.clear();
        } catch (const std::invalid_argument& error) {
            format.reset();
            d_refusal = error.what();
        }
        if (!use_format(std::move(format)))
            return false;
        d_has_changed_table = false;
    }
    if (d_format)
        release();
    return true;
}

bool reassembler::use_format(std::shared_ptr<const stream_format> format)
{
    const auto goes_on = [&] {
        const auto& before = d_format->immediates;
        const auto& now = format->immediates;
        return format->has_same_samples(*d_format) && now.size() >= before.size() &&
               std::equal(
                   before.begin(), before.end(), now.begin(), [](auto& a, auto& b) {
                       return a.id == b.id && a.format == b.format;
                   });
    };
    if (format && d_format && goes_on()) {
        d_format = std::move(format);
        sort_ids();
        return true;
    }
    if (!d_window.is_empty()) {
        d_window.give_up();
        return false;
    }
    if (d_format) {
        if (format)
            d_log.add("the descriptors have changed: the stream begins anew");
        d_common.discontinuities.add(1);
        forget_heaps();
    }
    d_format = std::move(format);
    if (!d_format)
        return true;
    sort_ids();
    const float full_scale = d_format->bits == 16 ? INT16_MAX : INT8_MAX;
    d_decoder = sample_decoder(d_plan.type,
                               d_format->order,
                               d_plan.scale > 0 ? d_plan.scale : full_scale,
                               d_format->bits);
    d_window.set_decoder(d_decoder);
    d_split.clear();
    d_tracker.set_format(d_format->timestamp_id.has_value());
    return true;
}

// Packets that wait

// Lets packets be placed that waited: for this heap, or all.
void reassembler::release(const received_heap* of)
{
    d_store.release([&](const packet_store::entry& each) {
        return each.time >= d_since &&
               (!of || (each.heap_counter == of->counter && each.sender == of->sender &&
                        d_plan.group_of_socket[each.socket] == of->group));
    });
}

bool reassembler::go_on(clock::time_point now)
{
    d_now = now;
    if (!read_descriptors())
        return false;
    if (!d_format)
        return true;
    d_store.drop_before(now - longest_wait, drops_at_once);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < packets_at_once && bytes <= bytes_at_once; ++i) {
        auto* entry = d_store.next_ready();
        if (!entry)
            break;
        bytes += entry->bytes;
        arrival packet;
        parse_packet(entry->data, entry->bytes, packet);
        packet.from = *entry;
        packet.group = d_plan.group_of_socket[entry->socket];
        packet.time = entry->time;
        const auto done = place(packet);
        if (done == result::full)
            return false;
        if (done == result::wait) {
            d_store.let_wait(*entry);
            continue;
        }
        if (done == result::ignored || done == result::rejected)
            d_common.packets_ignored.add(1);
        d_store.remove(*entry);
    }
    return true;
}

// Ends of streams

// A stream ends the run in which heaps of its sender came. The end may be repeated, also
// in the next run.
void reassembler::note_end(const arrival& packet, bool is_in_order)
{
    const auto sender = packet.from.sender;
    const bool is_repeated = d_last_end.sender == sender &&
                             d_last_end.counter == packet.heap_counter &&
                             packet.time - d_last_end.time < longest_repetition;
    if (is_repeated)
        return;
    const bool is_received = d_tracker.note_end(sender);
    if (d_tracker.is_running() ? !is_received : d_last_sender != sender)
        return;
    d_has_stopped = true;
    if (is_in_order) // otherwise it is placed later, and ends the stream of its sender
        d_last_end = { sender, packet.heap_counter, packet.time };
}

} // namespace gr::spead
