/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "reassembler.h"

#include <algorithm>
#include <stdexcept>

namespace gr::spead {

namespace {

// Of which packets may come in turns. More than any sender interleaves.
constexpr std::size_t most_heaps = 256;

// Of packets that come before the descriptors, or before it is known where they belong.
constexpr std::size_t most_waiting_bytes = 1 << 20;
constexpr std::size_t most_waiting_packets = 2048;

// Packets that are late or repeated are those of a sender that has started again, if
// nothing else has come for so long; or, of so many packets, for a shorter time.
constexpr std::chrono::seconds silence_before_restart{ 1 };
constexpr std::chrono::milliseconds least_silence_before_restart{ 100 };
constexpr std::size_t stale_packets_before_restart = 64;

// For packets whose place a later packet may tell.
constexpr std::chrono::seconds longest_waiting{ 1 };

// Descriptors that change are not believed more often.
constexpr std::chrono::seconds between_descriptors{ 1 };

bool is_end_of_stream(const packet_view& packet)
{
    for (std::size_t i = 0; i < packet.items; ++i)
        if (const auto item = packet.item(i); item.id == wire::stream_control &&
                                              item.is_immediate &&
                                              item.value == wire::stream_control_stop)
            return true;
    return false;
}

} // namespace

reassembler::reassembler(plan how,
                         sample_window& window,
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
      d_format(d_plan.format),
      d_waiting(most_waiting_bytes, most_waiting_packets),
      d_time(d_plan.samples, d_plan.ticks),
      d_heaps(most_heaps),
      d_heap_counters(most_heaps),
      d_rests(counters.size())
{
    const auto immediates =
        std::max(most_learned_immediates, d_format ? d_format->immediates.size() : 0);
    d_items.values.resize(immediates);
    d_items.pointers.resize(immediates);
    for (const auto& group : d_plan.groups)
        d_steps.resize(group.first_output + group.outputs, heap_steps(group.outputs > 1));
}

void reassembler::start_run()
{
    d_has_stopped = false;
    d_is_running = false;
    d_time_before.reset();
    for (auto& steps : d_steps)
        steps.reset();
    d_heap_ticks = 0;
}

void reassembler::end_run()
{
    forget_waiting(d_waiting.end());
    finish_all();
}

bool reassembler::take(const std::byte* packet,
                       std::size_t bytes,
                       std::size_t group,
                       clock::time_point now)
{
    packet_view view;
    if (const auto error = parse_packet(packet, bytes, view);
        error != packet_error::none) {
        d_rejects.add(error);
        return true;
    }
    const packet_store::packet received{ view.heap_counter, group, now, packet, bytes };
    if (!d_format && is_end_of_stream(view)) {
        d_has_stopped = true;
        d_common.packets_ignored.add(1);
    } else if (!d_format)
        keep(received);
    else {
        auto done = result::full;
        if (place_waiting(now)) {
            d_placing = d_waiting.end();
            done = place(view, group, now);
        }
        if (done == result::full) {
            // a flow graph that halts is no silence of the sender
            d_last_fresh = now;
            return false;
        }
        if (done == result::unknown)
            keep(received);
        else if (done == result::ignored)
            d_common.packets_ignored.add(1);
    }
    d_common.packets_received.add(1);
    d_common.bytes_received.add(bytes);
    if (!d_format) {
        collect(view, now);
        d_is_place_due = d_format != nullptr;
    }
    return true;
}

// Keeps a packet until its place is known: the newest ones, if there is no room for all.
void reassembler::keep(const packet_store::packet& packet)
{
    if (d_waiting.add(packet))
        return;
    forget_waiting(d_waiting.end());
    d_waiting.add(packet);
}

// Those that came before a packet of this number.
void reassembler::forget_waiting(std::size_t end)
{
    for (auto i = d_waiting.begin(); i < end; ++i)
        if (d_waiting.waits(i)) {
            d_waiting.remove(i);
            d_common.packets_ignored.add(1);
        }
}

void reassembler::forget_old(clock::time_point now)
{
    while (!d_waiting.empty() &&
           now - d_waiting[d_waiting.begin()].time > longest_waiting)
        forget_waiting(d_waiting.begin() + 1);
}

bool reassembler::place_waiting(clock::time_point now)
{
    if (!d_format)
        return true;
    if (d_waiting.empty()) {
        d_is_place_due = d_has_awaited = d_has_jumped = false;
        d_opened_heap.reset();
        return true;
    }
    if (std::exchange(d_has_jumped, false))
        forget_waiting(d_placing);
    if (d_opened_heap && !place_packets_of_opened_heap(now))
        return false;
    // it stays due if there is no room, or no memory
    d_is_place_due |= std::exchange(d_has_awaited, false);
    while (d_is_place_due) {
        for (auto i = d_waiting.begin(); i < d_waiting.end(); ++i) {
            if (!d_waiting.waits(i))
                continue;
            d_placing = i;
            if (place_waiting_packet(i, now) == result::full)
                return false;
            if (std::exchange(d_has_jumped, false))
                forget_waiting(i);
            if (d_opened_heap && !place_packets_of_opened_heap(now))
                return false;
        }
        d_is_place_due = std::exchange(d_has_awaited, false);
    }
    forget_old(now);
    return true;
}

// Packets that came before the first one of their heap. False if there is no room.
bool reassembler::place_packets_of_opened_heap(clock::time_point now)
{
    const auto opened = *d_opened_heap;
    for (auto i = d_waiting.begin(); i < opened.end; ++i) {
        const bool is_of_heap = d_waiting.waits(i) &&
                                d_waiting[i].heap_counter == opened.counter &&
                                d_waiting[i].group == opened.group;
        if (is_of_heap && place_waiting_packet(i, now) == result::full) {
            d_opened_heap = opened;
            return false;
        }
    }
    d_opened_heap.reset();
    return true;
}

reassembler::result reassembler::place_waiting_packet(std::size_t number,
                                                      clock::time_point now)
{
    const auto packet = d_waiting[number];
    packet_view view;
    parse_packet(packet.data, packet.bytes, view);
    const auto done = place(view, packet.group, now);
    if (done == result::done || done == result::ignored)
        d_waiting.remove(number);
    if (done == result::ignored)
        d_common.packets_ignored.add(1);
    return done;
}

// Descriptors, from packets in any order.
void reassembler::collect(const packet_view& packet, clock::time_point now)
{
    if (d_collector.is_collecting(packet.heap_counter))
        d_must_learn |= d_collector.take(packet);
    else if (descriptor_collector::has_descriptors(packet)) {
        d_collector.begin(packet);
        d_must_learn = d_collector.take(packet);
        // those of its packets that overtook it
        for (auto i = d_waiting.begin(); i < d_waiting.end(); ++i) {
            const auto& waiting = d_waiting[i];
            if (!d_waiting.waits(i) || waiting.heap_counter != packet.heap_counter)
                continue;
            packet_view view;
            parse_packet(waiting.data, waiting.bytes, view);
            d_must_learn |= d_collector.take(view);
        }
    }
    if (d_must_learn)
        learn(now);
}

void reassembler::learn(clock::time_point now)
{
    const auto hash = d_collector.hash();
    const bool is_needed =
        !d_plan.format && !(d_learned_at && (hash == d_learned ||
                                             now - *d_learned_at < between_descriptors));
    d_must_learn = false;
    if (!is_needed)
        return;
    try {
        auto format = std::make_shared<const stream_format>(
            learn_format(d_collector.read(), d_plan.type));
        if (d_format)
            d_log.add("other descriptors have come, and apply from now on");
        d_format = std::move(format);
        // the items of open heaps are numbered as in the former format
        finish_all();
        d_is_running = false;
        d_heap_ticks = 0;
    } catch (const std::invalid_argument& error) {
        d_log.add("the heaps cannot be read: ", error.what());
    } catch (const std::bad_alloc&) {
        d_must_learn = true; // with the next packet
        return;
    }
    d_learned = hash;
    d_learned_at = now;
}

reassembler::result
reassembler::place(const packet_view& packet, std::size_t group, clock::time_point now)
{
    auto* to = find(packet, group);
    const bool has_items = packet.items > wire::required_items;
    if (!to || !is_of_heap(packet, *to) || (has_items && may_have_restarted(now))) {
        const auto opened = open(packet, group, now, to);
        if (opened != result::done)
            return opened;
    } else if (!d_plan.format && d_collector.is_collecting(packet.heap_counter))
        collect(packet, now);
    if (to->is == heap::use::ignored || to->is == heap::use::none)
        return result::ignored;
    return place_samples(*to, packet, now);
}

bool reassembler::may_have_restarted(clock::time_point now) const
{
    const auto silence = now - d_last_fresh;
    return silence > silence_before_restart || (silence > least_silence_before_restart &&
                                                d_stale >= stale_packets_before_restart);
}

reassembler::heap* reassembler::find(const packet_view& packet, std::size_t group)
{
    const auto is_it = [&](const heap& each) {
        return each.counter == packet.heap_counter && each.group == group &&
               each.is != heap::use::none;
    };
    if (is_it(d_heaps[d_last]))
        return &d_heaps[d_last];
    const auto begin = d_heap_counters.begin(), end = d_heap_counters.end();
    for (auto at = std::find(begin, end, packet.heap_counter); at != end;
         at = std::find(at + 1, end, packet.heap_counter)) {
        const auto i = static_cast<std::size_t>(at - begin);
        if (is_it(d_heaps[i])) {
            d_last = i;
            return &d_heaps[i];
        }
    }
    return nullptr;
}

// Heap counters are used again. A packet without items is believed.
bool reassembler::is_of_heap(const packet_view& packet, const heap& known) const
{
    if (packet.items <= wire::required_items)
        return true;
    const auto has = [&](std::size_t pointer, std::uint64_t id, auto value) {
        if (pointer >= packet.items)
            return false;
        const auto item = packet.item(pointer);
        return item.is_immediate && item.id == id && item.value == value;
    };
    return d_format->timestamp_id &&
           has(known.timestamp_pointer, *d_format->timestamp_id, known.timestamp) &&
           (!known.selector || has(known.selector_pointer,
                                   d_format->immediates[d_format->selector()].id,
                                   known.selector));
}

reassembler::heap& reassembler::replace_oldest()
{
    d_last = d_next;
    d_next = (d_next + 1) % d_heaps.size();
    return d_heaps[d_last];
}

void reassembler::finish(heap& old)
{
    if (old.is == heap::use::samples && old.received > 0 &&
        old.received < old.end - old.begin)
        d_counters[old.output].heaps_incomplete.add(1);
    old.is = heap::use::none;
}

void reassembler::finish_all()
{
    for (auto& each : d_heaps)
        finish(each);
}

// Finds out about a heap from one of its packets.
reassembler::result reassembler::open(const packet_view& packet,
                                      std::size_t group,
                                      clock::time_point now,
                                      heap*& opened)
{
    read_items(packet);
    if (d_items.has_descriptors && !d_plan.format) {
        const auto before = d_format;
        collect(packet, now);
        if (d_format != before)
            read_items(packet);
    }
    if (d_items.is_stop)
        d_has_stopped = true;
    const bool has_samples = d_items.samples || d_items.immediate_samples;
    const bool is_more_of_it = opened && opened->is == heap::use::samples &&
                               !d_items.timestamp && !d_items.has_descriptors &&
                               !d_items.is_stop;
    if (is_more_of_it) // its items, or their values, are spread over its packets
        return set_items(*opened) ? result::done : result::full;

    heap found;
    found.counter = packet.heap_counter;
    found.group = group;
    found.is = heap::use::ignored;
    found.timestamp = d_items.timestamp;
    found.timestamp_pointer = d_items.timestamp_pointer;
    if (d_plan.groups[group].outputs > 1) {
        found.selector_pointer = d_items.selector_pointer;
        found.selector = d_items.selector;
    }
    const auto output = output_of(d_plan.groups[group]);
    if (d_items.timestamp && has_samples && output && !d_items.is_stop) {
        found.output = *output;
        found.begin = d_items.samples.value_or(0);
        found.end =
            d_items.immediate_samples ? d_format->heap_bytes : d_items.samples_end;
        found.immediate = d_items.immediate_samples;
        if (locate(found, packet, now) == result::full ||
            (found.is == heap::use::samples && !set_items(found)))
            return result::full;
    } else if (packet.items <= wire::required_items || d_items.is_timestamp_elsewhere) {
        if (!predict(found, packet))
            return result::unknown;
    }

    if (!opened)
        opened = &replace_oldest();
    const bool is_known =
        opened->is == heap::use::samples && found.is == heap::use::samples &&
        opened->output == found.output && opened->position == found.position;
    if (is_known)
        found.received = opened->received;
    else
        finish(*opened);
    if (found.is == heap::use::samples && !is_known && !d_waiting.empty())
        d_opened_heap = { found.counter, found.group, d_placing };
    *opened = found;
    d_heap_counters[static_cast<std::size_t>(opened - d_heaps.data())] = found.counter;
    return result::done;
}

void reassembler::read_items(const packet_view& packet)
{
    const auto& format = *d_format;
    const auto selector = format.selector();
    d_items.timestamp.reset();
    d_items.samples.reset();
    d_items.immediate_samples.reset();
    d_items.selector.reset();
    d_items.is_timestamp_elsewhere = false;
    std::fill(d_items.values.begin(), d_items.values.end(), std::nullopt);
    // the last one of each ID: only for that one is the value looked up, which takes time
    std::fill(d_items.pointers.begin(), d_items.pointers.end(), std::nullopt);
    std::optional<item_pointer> timestamp;
    d_items.has_descriptors = d_items.is_stop = false;
    for (std::size_t i = 0; i < packet.items; ++i) {
        const auto item = packet.item(i);
        if (format.timestamp_id && item.id == *format.timestamp_id) {
            timestamp = item;
            d_items.timestamp_pointer = i;
        } else if (item.id == format.samples_id) {
            if (!item.is_immediate)
                d_items.samples = item.value;
            else if (format.heap_bytes > 0 &&
                     format.heap_bytes <= packet.flavour.address_bytes())
                d_items.immediate_samples = i;
        } else if (item.id == wire::descriptor && !item.is_immediate)
            d_items.has_descriptors = true;
        else if (item.id == wire::stream_control && item.is_immediate)
            d_items.is_stop |= item.value == wire::stream_control_stop;
        else
            for (std::size_t k = 0; k < format.immediates.size(); ++k)
                if (item.id == format.immediates[k].id) {
                    d_items.pointers[k] = item;
                    if (k == selector && item.is_immediate) {
                        d_items.selector_pointer = i;
                        d_items.selector = item.value;
                    }
                }
    }
    if (timestamp) {
        d_items.timestamp = value_of(packet, *timestamp);
        d_items.is_timestamp_immediate = timestamp->is_immediate;
        d_items.is_timestamp_elsewhere = !d_items.timestamp;
    }
    for (std::size_t k = 0; k < format.immediates.size(); ++k)
        if (d_items.pointers[k])
            d_items.values[k] = value_of(packet, *d_items.pointers[k]);
    if (!d_items.samples)
        return;
    d_items.samples_end = packet.heap_length.value_or(packet.payload_end());
    for (std::size_t i = 0; i < packet.items; ++i)
        if (const auto item = packet.item(i);
            !item.is_immediate && item.value > *d_items.samples)
            d_items.samples_end = std::min(d_items.samples_end, item.value);
    d_items.samples_end = std::max(d_items.samples_end, *d_items.samples);
    if (!format.timestamp_id)
        d_items.timestamp = counted_timestamp(packet);
}

// Of a stream without timestamps: what they would be if the first heap had counter 0.
std::uint64_t reassembler::counted_timestamp(const packet_view& packet)
{
    if (!d_heap_ticks) {
        const auto bytes = d_items.samples_end - *d_items.samples;
        d_heap_ticks =
            std::max<std::uint64_t>(bytes / static_cast<std::uint64_t>(sample_bytes()) *
                                        static_cast<std::uint64_t>(d_plan.ticks) /
                                        static_cast<std::uint64_t>(d_plan.samples),
                                    1);
    }
    return packet.heap_counter * d_heap_ticks;
}

// A number that is too wide for an immediate value lies in the payload, perhaps in that
// of another packet.
std::optional<std::uint64_t> reassembler::value_of(const packet_view& packet,
                                                   const item_pointer& item) const
{
    if (item.is_immediate)
        return item.value;
    auto end = packet.heap_length.value_or(packet.payload_end());
    for (std::size_t i = 0; i < packet.items; ++i)
        if (const auto other = packet.item(i);
            !other.is_immediate && other.value > item.value)
            end = std::min(end, other.value);
    if (item.value < packet.payload_offset || end > packet.payload_end() ||
        end <= item.value || end - item.value > sizeof(std::uint64_t))
        return std::nullopt;
    std::uint64_t value = 0;
    for (auto at = item.value; at < end; ++at)
        value = value << 8 |
                static_cast<std::uint64_t>(packet.payload[at - packet.payload_offset]);
    return value;
}

std::optional<std::size_t> reassembler::output_of(const socket_group& group) const
{
    const auto selector = d_format->selector();
    if (group.outputs == 1 && d_counters.size() == 1)
        return group.first_output;
    if (selector == d_format->immediates.size())
        return group.outputs == 1 ? std::optional(group.first_output) : std::nullopt;
    const auto& values = d_format->immediates[selector].values;
    const auto value = d_items.values[selector];
    for (std::size_t i = group.first_output; i < group.first_output + group.outputs; ++i)
        if (value && i < values.size() && static_cast<std::uint64_t>(values[i]) == *value)
            return i;
    return std::nullopt;
}

unsigned reassembler::timestamp_bits(const packet_view& packet) const
{
    if (!d_format->timestamp_id)
        return 64;
    auto bits = d_format->timestamp_bits;
    if (d_items.is_timestamp_immediate)
        bits = std::min(bits, packet.flavour.heap_address_bits);
    return std::clamp(bits, 1u, 64u);
}

std::int64_t reassembler::sample_bytes() const
{
    return static_cast<std::int64_t>(d_format->bits) / 8 *
           (is_complex(d_plan.type) ? 2 : 1);
}

bool reassembler::is_far(std::int64_t samples) const
{
    return samples > d_plan.max_gap || samples < -d_plan.max_gap;
}

// Finds the position of a heap by its timestamp. It may be that of another stream.
reassembler::result
reassembler::locate(heap& opened, const packet_view& packet, clock::time_point now)
{
    const auto bits = timestamp_bits(packet);
    const auto bytes = sample_bytes();
    const auto sample = d_time.position(*opened.timestamp, bits);
    bool is_other = !d_is_running || !sample;
    if (!is_other) {
        const auto length = static_cast<std::int64_t>(opened.end - opened.begin);
        const auto begin = *sample * bytes;
        const bool is_behind = begin + length <= d_window.decided();
        is_other = is_far((begin - d_window.top()) / bytes) && begin > d_window.top();
        if (is_behind)
            is_other =
                is_far((d_window.decided() - begin) / bytes) || may_have_restarted(now);
    }
    if (is_other) {
        const auto before = d_time_before
                                ? d_time_before->position(*opened.timestamp, bits)
                                : std::nullopt;
        // a latecomer, from before the stream began anew
        if (before && d_is_running && !may_have_restarted(now) &&
            !is_far(*before -
                    *d_time_before->position(d_time_before->timestamp(), bits))) {
            opened.is = heap::use::late;
            return result::done;
        }
        return begin_stream(opened, packet, now);
    }
    opened.is = heap::use::samples;
    opened.position = *sample * bytes;
    d_time.advance(*opened.timestamp, bits, *sample);
    const bool goes_on = d_steps[opened.output].add({ opened.counter,
                                                      *sample,
                                                      packet.heap_length.value_or(0),
                                                      opened.begin,
                                                      opened.end });
    if (!goes_on) {
        finish_all(); // their counters mean nothing now
        d_has_jumped = true;
    }
    d_has_awaited |= d_steps[opened.output].take_awaited();
    return result::done;
}

// Perhaps in the middle of a heap, if that is the first packet that was received.
reassembler::result
reassembler::begin_stream(heap& opened, const packet_view& packet, clock::time_point now)
{
    const auto bits = timestamp_bits(packet);
    const auto bytes = sample_bytes();
    const auto granule = d_time.granule() * bytes;
    const auto begin = d_window.begin_stream(now,
                                             static_cast<std::size_t>(bytes),
                                             static_cast<std::size_t>(granule),
                                             d_format);
    if (!begin)
        return result::full;
    const auto first =
        std::clamp(packet.payload_offset, opened.begin, opened.end) - opened.begin;
    opened.is = heap::use::samples;
    opened.position =
        *begin - (static_cast<std::int64_t>(first) + granule - 1) / granule * granule;
    if (d_is_running) {
        d_has_jumped = true;
        d_common.discontinuities.add(1);
        d_log.add("timestamps jump from ",
                  d_time.tick(),
                  " to ",
                  *opened.timestamp,
                  ": the stream begins anew");
        d_time_before = d_time;
    }
    // positions in samples count from 0 of the window
    d_time.begin(*opened.timestamp, bits, opened.position / bytes);
    d_window.set_reference(opened.position, d_time.tick());
    // positions of the stream before mean nothing now
    finish_all();
    d_is_running = true;
    d_last_fresh = now;
    d_stale = 0;
    for (auto& steps : d_steps)
        steps.reset();
    d_steps[opened.output].add({ opened.counter,
                                 opened.position / bytes,
                                 packet.heap_length.value_or(0),
                                 opened.begin,
                                 opened.end });
    return result::done;
}

// The place of a heap whose first packet, with its items, has not come.
bool reassembler::predict(heap& opened, const packet_view& packet)
{
    if (!d_is_running || !packet.heap_length)
        return false;
    const auto& group = d_plan.groups[opened.group];
    const auto end = group.first_output + group.outputs;
    std::optional<heap_steps::heap> found;
    for (auto i = group.first_output; i < end; ++i) {
        const auto at = d_steps[i].find(opened.counter, *packet.heap_length);
        if (!at || is_far(at->position - d_window.top() / sample_bytes()))
            continue;
        if (found)
            return false; // it may be of either output
        found = at;
        opened.output = i;
    }
    if (!found) {
        for (auto i = group.first_output; i < end; ++i)
            d_steps[i].await(opened.counter, *packet.heap_length);
        return false;
    }
    d_steps[opened.output].add(*found);
    opened.is = heap::use::samples;
    opened.position = found->position * sample_bytes();
    opened.begin = found->begin;
    opened.end = found->end;
    return true;
}

bool reassembler::set_items(const heap& of)
{
    const position_range range{
        of.position, of.position + static_cast<std::int64_t>(of.end - of.begin)
    };
    for (std::size_t i = 0; i < d_format->immediates.size(); ++i)
        if (d_items.values[i] &&
            !d_window.set_item(of.output, i, range, *d_items.values[i]))
            return false;
    return true;
}

reassembler::result
reassembler::place_samples(heap& to, const packet_view& packet, clock::time_point now)
{
    auto begin = std::max(packet.payload_offset, to.begin);
    auto end = std::min(packet.payload_end(), to.end);
    const std::byte* data = nullptr;
    if (to.immediate) {
        if (*to.immediate >= packet.items)
            return result::ignored;
        // right-aligned in its item pointer
        begin = 0;
        end = to.end;
        data = packet.pointers + (*to.immediate + 1) * wire::pointer_bytes - end;
    } else if (begin < end)
        data = packet.payload + (begin - packet.payload_offset);
    if (!data)
        return result::ignored;
    if (to.is == heap::use::late) {
        count(&source_counter_set::samples_late, to.output, end - begin);
        ++d_stale;
        return result::done;
    }
    const auto position = to.position + static_cast<std::int64_t>(begin - to.begin);
    // a gap inside a heap is no longer than one between heaps, or the window
    const auto ahead = position - d_window.top();
    if (ahead > d_window.capacity() && is_far(ahead / sample_bytes()))
        return result::ignored;
    const auto placed = d_window.place(to.output, position, data, end - begin);
    if (placed.is_full)
        return result::full;
    ++d_stale;
    if (placed.fresh) {
        d_last_fresh = now;
        d_stale = 0;
        to.received += placed.fresh;
        if (to.received == to.end - to.begin)
            d_counters[to.output].heaps_received.add(1);
    }
    if (placed.late)
        count(&source_counter_set::samples_late, to.output, placed.late);
    if (placed.duplicate)
        count(&source_counter_set::samples_duplicate, to.output, placed.duplicate);
    return result::done;
}

// In samples, of which packets may have parts.
void reassembler::count(counter source_counter_set::*which,
                        std::size_t output,
                        std::size_t bytes)
{
    const auto size = static_cast<std::size_t>(sample_bytes());
    auto& rest = d_rests[output][which == &source_counter_set::samples_late ? 0 : 1];
    rest += bytes;
    (d_counters[output].*which).add(rest / size);
    rest %= size;
}

} // namespace gr::spead
