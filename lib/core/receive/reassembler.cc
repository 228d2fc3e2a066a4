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

// In which packets of other sockets may come that belong in front of a stream.
constexpr std::chrono::milliseconds start_delay{ 10 };

// For so long a packet without items may be of an earlier heap of the same counter.
constexpr std::chrono::seconds longest_delay{ 1 };
// For so long the end of an earlier stream may be repeated.
constexpr std::chrono::seconds longest_repetition{ 1 };

// What go_on() does at a time.
constexpr std::size_t descriptors_at_once = 4;
constexpr std::size_t entries_at_once = 512;
constexpr std::size_t packets_at_once = 2;
constexpr std::size_t drops_at_once = 64;
constexpr std::size_t most_overtaking = 16; // packets of a heap of descriptors
constexpr std::size_t bytes_at_once = 32 << 10;

std::size_t most_values(const reassembler::plan& how)
{
    return std::max(most_described_immediates,
                    how.format ? how.format->immediates.size() : 0);
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
      d_tracker(d_plan.stream, window, d_heaps),
      d_store(most_stored_bytes, most_stored_packets)
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
    d_has_stopped = d_has_begun = false;
    d_since = {};
    d_begin_at.reset();
    d_has_logged_other = false;
    d_silence.end();
}

void reassembler::end_run()
{
    const auto drop = [this] { d_common.packets_ignored.add(1); };
    d_store.drop_before(clock::time_point::max(), most_stored_packets, drop);
    d_is_replaying = d_must_find_earliest = false;
    d_heaps.for_each([this](received_heap& heap) {
        finish(heap);
        heap.is = state::none;
    });
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
    view.time = now;
    if (!d_plan.format && (view.has_descriptors || d_collector.is_incomplete()))
        collect_descriptors(view);
    if (!d_has_begun && d_plan.group_of_socket.size() > 1) {
        d_has_begun = true;
        d_begin_at = now + start_delay;
    }
    // what comes with or behind descriptors waits until these have been read
    const bool can_place = d_format && !d_is_replaying && !d_begin_at &&
                           !d_has_changed_table && !d_collector.has_next() &&
                           !d_collector.awaits(view.heap_counter, packet.sender);
    auto done = result::wait;
    if (can_place) {
        done = place(view);
        if (done == result::full)
            return false;
        if (done == result::rejected)
            return true;
    } else if (view.is_end_of_stream)
        d_has_stopped |= is_end_of_run(view);
    if (done == result::wait || done == result::queue)
        keep(view, d_is_replaying || done == result::queue, can_place);
    if (done == result::ignored)
        d_common.packets_ignored.add(1);
    d_common.packets_received.add(1);
    d_common.bytes_received.add(packet.bytes);
    if (!d_format)
        d_silence.note(!d_refusal.empty()            ? d_refusal
                       : d_collector.is_incomplete() ? cause::partial_descriptors
                                                     : cause::no_descriptors);
    return true;
}

// Packets

reassembler::result reassembler::ignore(std::string_view why)
{
    d_silence.note(why);
    return result::ignored;
}

reassembler::result reassembler::place(const arrival& packet)
{
    auto* known = d_heaps.find(packet.heap_counter, packet.from.sender, packet.group);
    if (packet.has_items()) {
        const bool is_past = known && known->range().end <= d_window.front();
        const bool is_recognised = known && known->is == state::placed &&
                                   known->pointer < packet.items &&
                                   packet.word(known->pointer) == known->word &&
                                   !(is_past && d_tracker.are_silent(packet.time));
        if (!is_recognised)
            return open(packet, known);
    } else if (!known || known->is == state::incomplete)
        return open_without_items(packet, known);
    if (known->heap_length != packet.heap_length) {
        d_rejects.add(packet_error::contradiction);
        return result::rejected;
    }
    if (known->is == state::placed && !(known->needs_items && !packet.has_items()))
        return place_samples(*known, packet);
    return result::ignored;
}

// A packet without items, of a heap whose position is not known.
reassembler::result reassembler::open_without_items(const arrival& packet,
                                                    const received_heap* known)
{
    if (!known) {
        d_silence.note(cause::no_first_packet);
        return result::wait;
    }
    if (!known->timestamp_address || known->timestamp)
        return result::wait;
    d_heap = *known;
    read_addressed_timestamp(d_heap, packet);
    return d_heap.timestamp ? judge(packet) : result::wait;
}

void reassembler::begin_heap(const arrival& packet)
{
    auto values = std::move(d_heap.values);
    values.assign(d_format->immediates.size(), std::nullopt);
    d_heap = received_heap{};
    d_heap.values = std::move(values);
    d_heap.counter = packet.heap_counter;
    d_heap.sender = packet.from.sender;
    d_heap.group = packet.group;
    d_heap.heap_length = packet.heap_length;
    d_heap.socket = packet.from.socket;
    d_heap.address_bits = packet.flavour.heap_address_bits;
}

// Finds out about a heap from a packet with items.
reassembler::result reassembler::open(const arrival& packet, received_heap* known)
{
    if (packet.is_end_of_stream) {
        note_end(packet);
        return result::ignored;
    }
    if (known && known->is == state::incomplete) {
        d_heap = *known;
        d_heap.values.resize(d_format->immediates.size());
    } else
        begin_heap(packet);
    d_heap.last_packet = packet.time;
    read_items(packet);
    const auto is_open = [&] { return known && known->is == state::placed; };
    if (!d_heap.samples_begin && !d_heap.timestamp && !d_heap.timestamp_address) {
        // more of the items of a heap that is spread over several packets
        if (is_open())
            return known->needs_items ? result::ignored : place_samples(*known, packet);
        d_silence.note_lacking(d_format->samples_id, "the samples", packet);
        d_heap.is = state::ignored;
        record(d_heap);
        return result::ignored;
    }
    const bool needs_timestamp = d_format->timestamp_id && !d_heap.timestamp;
    if (!d_heap.samples_begin || needs_timestamp) {
        if (is_open())
            return result::ignored;
        if (needs_timestamp)
            d_silence.note_lacking(*d_format->timestamp_id, "the timestamp", packet);
        else
            d_silence.note_lacking(d_format->samples_id, "the samples", packet);
        d_heap.is = state::incomplete;
        record(d_heap);
        return result::wait;
    }
    return judge(packet);
}

// Asks whether the heap belongs to the stream, and places the packet.
reassembler::result reassembler::judge(const arrival& packet)
{
    const auto now = packet.time;
    auto* known = d_heaps.find(d_heap.counter, d_heap.sender, d_heap.group);
    const auto refuse = [&] {
        if (!known || known->is != state::placed) {
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
    const auto verdict = d_tracker.judge(d_heap, now);
    const bool is_accepted = verdict == stream_tracker::verdict::fits ||
                             verdict == stream_tracker::verdict::believe;
    if (known && !is_accepted) // packets without items may be of either heap
        known->needs_items = d_heap.needs_items = true;
    switch (verdict) {
    case stream_tracker::verdict::fits:
        if (!accept(d_heap, true, now))
            return result::full;
        break;
    case stream_tracker::verdict::believe: {
        const bool has_agreed = d_tracker.agreed();
        if (!believe_agreed(now) || !accept(d_heap, false, now))
            return result::full;
        if (has_agreed)
            return result::queue;
        break;
    }
    case stream_tracker::verdict::late:
        d_heap.is = state::placed;
        record(d_heap);
        break;
    case stream_tracker::verdict::wait:
        d_silence.note(cause::different_times);
        return result::wait;
    case stream_tracker::verdict::ignore:
        if (known && known->is == state::placed) {
            d_rejects.add(packet_error::contradiction);
            return result::rejected;
        }
        d_silence.note(cause::different_times);
        return refuse();
    case stream_tracker::verdict::other:
        d_silence.note_other_sender(*d_format, d_tracker.item_that_differs());
        if (!std::exchange(d_has_logged_other, true))
            d_log.add(why_silent());
        return refuse();
    }
    auto* heap = d_heaps.find(d_heap.counter, d_heap.sender, d_heap.group);
    while (d_tracker.finds_fitting(heap->output))
        if (!believe_agreed(now, true))
            break;
    heap = d_heaps.find(packet.heap_counter, heap->sender, heap->group);
    return place_samples(*heap, packet);
}

// False if there is no room: then it is still pending.
bool reassembler::believe_agreed(clock::time_point now, bool fits)
{
    if (!d_tracker.agreed())
        return true;
    auto agreed = *d_tracker.agreed();
    return accept(agreed, fits, now);
}

bool reassembler::accept(received_heap& heap, bool fits, clock::time_point now)
{
    using continuation = stream_tracker::continuation;
    auto next = fits ? continuation::same : d_tracker.continuation_of(heap);
    if (fits && heap.position - d_tracker.end() > d_plan.stream.max_gap)
        next = continuation::skip;
    if (next != continuation::same && !d_window.is_empty()) {
        d_window.give_up();
        return false;
    }
    if (!fits && d_tracker.is_running())
        d_since = heap.last_packet;
    if (next == continuation::skip)
        skip_to(heap.position);
    else if (next == continuation::begins) {
        if (d_tracker.is_running()) {
            d_common.discontinuities.add(1);
            d_log.add("the timestamps jump: the stream begins anew");
        }
        d_heaps.for_each([this](received_heap& each) {
            if (each.is == state::placed) {
                finish(each);
                each.is = state::stale;
            }
        });
        d_split.clear();
        d_window.begin_stream();
        // samples after which the ticks are a whole number
        const auto step =
            std::gcd(d_plan.stream.samples_per_step, d_plan.stream.ticks_per_step);
        const auto granule =
            std::max<std::int64_t>(d_plan.stream.samples_per_step / step, 1);
        const auto first =
            static_cast<std::int64_t>(heap.first_byte / d_decoder.wire_bytes());
        const auto earlier = samples_from_earliest(heap);
        d_tracker.begin_stream(heap,
                               earlier > 0
                                   ? -((earlier + granule - 1) / granule * granule)
                                   : first / granule * granule);
    }
    if (const auto* known = d_heaps.find(heap.counter, heap.sender, heap.group))
        heap.needs_items = (known->is == state::placed || known->is == state::stale) &&
                           now - known->last_packet < longest_delay;
    heap.is = state::placed;
    record(heap);
    d_tracker.accept(heap, now);
    if (const auto mismatch = d_tracker.take_mismatch())
        d_log.add("heaps of ",
                  mismatch->samples,
                  " samples are ",
                  mismatch->ticks,
                  " ticks apart; if none are lost or sent elsewhere, set heap_samples=",
                  mismatch->samples,
                  " and timestamp_step=",
                  mismatch->ticks);
    for (auto i = d_store.begin(); d_store.has_waiting() && i < d_store.end(); ++i)
        if (auto& entry = d_store[i];
            entry.heap_counter == heap.counter && entry.sender == heap.sender &&
            d_plan.group_of_socket[entry.socket] == heap.group && entry.time >= d_since) {
            entry.is_ready = true;
            d_next_to_place = std::min(d_next_to_place, i);
        }
    return true;
}

// Of heaps that wait, the one that begins first: it may have come on another socket.
void reassembler::note_earliest(const arrival& packet)
{
    begin_heap(packet);
    read_items(packet);
    if (!d_heap.samples_begin || (d_format->timestamp_id && !d_heap.timestamp))
        return;
    if (!d_earliest || samples_from_earliest(d_heap) < 0)
        d_earliest = d_heap;
}

// 0 if they are too far apart to be of the same stream.
std::int64_t reassembler::samples_from_earliest(const received_heap& heap) const
{
    const auto most = d_window.capacity() / 2;
    const auto samples = d_earliest ? d_tracker.distance(*d_earliest, heap) : 0;
    return samples && std::abs(*samples) <= most ? *samples : 0;
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
    if (first >= last)
        return ignore(cause::no_bytes);
    const auto* data = packet.payload + (first - packet.payload_offset);
    const auto begin = static_cast<std::int64_t>(first - *heap.samples_begin);
    auto end = static_cast<std::int64_t>(last - *heap.samples_begin);
    if (heap.samples_end == received_heap::unknown_end)
        heap.length = std::max(heap.length, end >> shift);
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
    heap.last_packet = now;
    const auto place = [&](position_range range, const std::byte* from) {
        const auto placed = d_window.place(heap.output, range, from, now);
        auto& counters = d_counters[heap.output];
        if (placed.fresh) {
            d_tracker.note_fresh(heap.output, now);
            heap.received += static_cast<std::int64_t>(placed.fresh);
            if (heap.received == heap.length &&
                heap.samples_end != received_heap::unknown_end)
                counters.heaps_received.add(1);
        } else
            d_silence.note(cause::nothing_new);
        counters.samples_late.add(placed.late);
        counters.samples_duplicate.add(placed.duplicate);
    };
    if (whole.size() > 0)
        place(whole, data + (((whole.begin - heap.position) << shift) - begin));
    if (!((begin | end) & (size - 1)))
        return result::done;
    const auto place_part = [&](std::int64_t from, std::int64_t to) {
        const auto sample = from / size;
        const auto* bytes = d_split.add(heap.output,
                                        heap.position + sample,
                                        static_cast<std::size_t>(from % size),
                                        data + (from - begin),
                                        static_cast<std::size_t>(to - from),
                                        static_cast<std::size_t>(size));
        if (bytes)
            place({ heap.position + sample, heap.position + sample + 1 }, bytes);
    };
    if (begin % size)
        place_part(begin, std::min(end, (begin / size + 1) * size));
    if (end % size && (end / size > begin / size || begin % size == 0))
        place_part(std::max(begin, end / size * size), end);
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
    const auto& format = *d_format;
    d_found.assign(format.immediates.size(), found_item());
    std::optional<item_pointer> timestamp;
    bool is_empty = false; // as the next item has the same address
    bool ascends = true;   // so that an item ends where the next one begins
    std::uint64_t address = 0;
    std::uint64_t* end_of_last = nullptr;
    for (std::size_t i = 0; i < packet.items; ++i) {
        const auto item = packet.item(i);
        if (!item.is_immediate) {
            is_empty |= d_heap.samples_begin == item.value;
            ascends &= item.value >= std::exchange(address, item.value);
            if (auto* const end = std::exchange(end_of_last, nullptr))
                *end = item.value;
        }
        if (format.timestamp_id && item.id == *format.timestamp_id) {
            timestamp = item;
            if (item.is_immediate) {
                d_heap.pointer = i;
                d_heap.word = packet.word(i);
            }
        } else if (item.id == format.samples_id && !item.is_immediate) {
            d_heap.samples_begin = item.value;
            is_empty = false;
            if (!(timestamp && timestamp->is_immediate)) {
                d_heap.pointer = i;
                d_heap.word = packet.word(i);
            }
        } else {
            const std::pair<std::uint64_t, std::size_t> first{ item.id, 0 };
            const auto id = std::lower_bound(d_ids.begin(), d_ids.end(), first);
            if (id == d_ids.end() || id->first != item.id)
                continue;
            auto& found = d_found[id->second];
            found = { item, packet.heap_length.value_or(packet.payload_end()) };
            if (!item.is_immediate)
                end_of_last = &found.end;
        }
    }
    for (std::size_t k = 0; k < d_found.size(); ++k)
        if (const auto& [item, end] = d_found[k]; item) {
            const auto& is = format.immediates[k].format;
            if (item->is_immediate || is.bits || ascends)
                d_heap.values[k] =
                    value_of(packet, *item, is, is.bits ? item->value + is.bytes() : end);
        }
    if (timestamp && timestamp->is_immediate) {
        d_heap.timestamp = format.timestamp_format.value(timestamp->value);
        d_heap.timestamp_bits = d_heap.address_bits;
    } else if (timestamp) {
        d_heap.timestamp_address = timestamp->value;
        read_addressed_timestamp(d_heap, packet);
    }
    if (format.timestamp_format.bits)
        d_heap.timestamp_bits =
            std::min(d_heap.timestamp_bits, format.timestamp_format.bits);
    if (!d_heap.samples_begin)
        return;
    const auto begin = *d_heap.samples_begin;
    d_heap.samples_end = is_empty ? begin : std::max(begin, packet.end_of(begin));
    d_heap.first_byte =
        std::clamp(packet.payload_offset, begin, d_heap.samples_end) - begin;
    const auto end = d_heap.samples_end == received_heap::unknown_end
                         ? std::max(begin, packet.payload_end())
                         : d_heap.samples_end;
    d_heap.length = static_cast<std::int64_t>((end - begin) / d_decoder.wire_bytes());
}

// A number that is too wide for an item pointer lies in the payload, up to \p end.
std::optional<std::uint64_t> reassembler::value_of(const packet_view& packet,
                                                   const item_pointer& item,
                                                   const number_format& format,
                                                   std::uint64_t end) const
{
    if (item.is_immediate)
        return format.value(item.value);
    if (item.value < packet.payload_offset || end > packet.payload_end() ||
        end <= item.value || end - item.value > sizeof(std::uint64_t))
        return std::nullopt;
    std::uint64_t raw = 0;
    for (auto at = item.value; at < end; ++at)
        raw = raw << 8 |
              static_cast<std::uint64_t>(packet.payload[at - packet.payload_offset]);
    return format.value(raw);
}

void reassembler::read_addressed_timestamp(received_heap& heap,
                                           const packet_view& packet) const
{
    const auto& format = d_format->timestamp_format;
    const auto at = *heap.timestamp_address;
    heap.timestamp = value_of(packet,
                              { *d_format->timestamp_id, at, false },
                              format,
                              format.bits ? at + format.bytes() : packet.end_of(at));
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
        const auto is_it = [&](std::int64_t value) {
            return static_cast<std::uint64_t>(value) == *heap.values[i];
        };
        if (values.size() == 1) {
            if (!is_it(values[0]))
                return std::nullopt;
            continue;
        }
        const auto found = std::find_if(values.begin(), values.end(), is_it);
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
    const bool was_awaited = d_collector.awaits(packet.heap_counter, sender);
    d_collector.add(packet, sender);
    std::size_t n = 0;
    for (auto i = d_store.begin(); i < d_store.end() && n < most_overtaking; ++i) {
        const auto& entry = d_store[i];
        if (was_awaited || !d_collector.awaits(entry.heap_counter, entry.sender))
            continue;
        packet_view view;
        parse_packet(entry.data, entry.bytes, view);
        d_collector.add(view, entry.sender);
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
            d_refusal.clear();
        } catch (const std::invalid_argument& error) {
            d_refusal = error.what();
        }
        if (!use_format(std::move(format)))
            return false;
        d_has_changed_table = false;
    }
    if (d_format && !d_begin_at)
        replay();
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
        d_log.add("the descriptors have changed: the stream begins anew");
        d_common.discontinuities.add(1);
        d_heaps.for_each([this](received_heap& heap) {
            finish(heap);
            heap.is = state::none;
        });
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

void reassembler::keep(const arrival& packet, bool is_ready, bool waits)
{
    auto& kept = d_store.add(packet.from, packet.heap_counter, packet.time, [this] {
        d_common.packets_ignored.add(1);
    });
    if (waits)
        d_store.let_wait(kept);
    kept.is_ready = is_ready;
    if (!is_ready && d_next_to_place + 1 == d_store.end())
        ++d_next_to_place;
}

// Packets that have not been placed yet are, in order, before those that come.
void reassembler::replay()
{
    for (auto i = d_store.begin(); i < d_store.end(); ++i)
        d_store[i].is_ready |= !d_store[i].waits;
    d_next_to_place = d_store.begin();
    d_is_replaying = !d_store.empty();
}

bool reassembler::go_on(clock::time_point now)
{
    if (!read_descriptors())
        return false;
    if (!d_format)
        return true;
    if (d_begin_at) {
        const auto packets = d_store.end() - d_store.begin();
        if (now < *d_begin_at && d_store.stored_bytes() < most_stored_bytes / 4 &&
            packets < most_stored_packets / 4)
            return true;
        d_begin_at.reset();
        d_earliest.reset();
        replay();
        d_must_find_earliest = d_is_replaying;
    }
    if (!d_is_replaying)
        d_store.drop_before(now - longest_wait, drops_at_once, [this] {
            d_common.packets_ignored.add(1);
        });
    return place_kept(now);
}

bool reassembler::place_kept(clock::time_point now)
{
    std::size_t entries = 0, packets = 0, bytes = 0;
    while (has_ready_packets()) {
        d_next_to_place = std::max(d_next_to_place, d_store.begin());
        if (entries++ == entries_at_once || packets == packets_at_once ||
            bytes > bytes_at_once)
            return true;
        const auto number = d_next_to_place++;
        auto& entry = d_store[number];
        if (!entry.is_live || !entry.is_ready)
            continue;
        ++packets;
        bytes += entry.bytes;
        arrival packet;
        parse_packet(entry.data, entry.bytes, packet);
        packet.from = entry;
        packet.group = d_plan.group_of_socket[entry.socket];
        packet.time = d_is_replaying ? entry.time : now;
        if (d_must_find_earliest) {
            note_earliest(packet);
            continue;
        }
        entry.is_ready = false;
        const auto done = place(packet);
        if (done == result::full) {
            entry.is_ready = true;
            d_next_to_place = std::min(d_next_to_place, number);
            return false;
        }
        if (done == result::wait || done == result::queue) {
            d_store.let_wait(entry);
            continue;
        }
        if (done == result::ignored || done == result::rejected)
            d_common.packets_ignored.add(1);
        d_store.remove(number);
    }
    if (std::exchange(d_must_find_earliest, false)) {
        d_next_to_place = d_store.begin();
        return true;
    }
    d_earliest.reset();
    d_is_replaying = false;
    return true;
}

// Ends of streams

// A stream ends the run in which heaps of its sender came. The end may be repeated, also
// in the next run.
bool reassembler::is_end_of_run(const arrival& packet)
{
    const auto sender = packet.from.sender;
    if (d_last_end.sender == sender && d_last_end.counter == packet.heap_counter &&
        packet.time - d_last_end.time < longest_repetition)
        return false;
    bool has_sent = d_tracker.is_sender(sender);
    if (!d_tracker.is_running()) {
        d_heaps.for_each([&](const received_heap& each) {
            has_sent |= each.is != state::none && each.sender == sender;
        });
        for (auto i = d_store.begin(); i < d_store.end(); ++i)
            has_sent |= d_store[i].sender == sender;
    }
    return has_sent;
}

void reassembler::note_end(const arrival& packet)
{
    if (!is_end_of_run(packet))
        return;
    d_last_end = { packet.from.sender, packet.heap_counter, packet.time };
    d_has_stopped = true;
    d_tracker.note_end(packet.from.sender);
}

} // namespace gr::spead
