/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_router.h"

#include <algorithm>
#include <utility>

namespace gr::spead {

namespace {

// Packets of a heap that pause for this long, or for this many times the longest pause
// before, have been interrupted by an outage or by a restart of their sender.
constexpr std::chrono::milliseconds min_outage{ 500 };
// The same while nothing else shows that a packet belongs to the heap: the timestamp has
// not arrived, or the heap is whole.
constexpr std::chrono::milliseconds min_outage_of_open_heaps{ 20 };
constexpr int outage_pauses = 3;
constexpr std::chrono::seconds max_pause_in_heap{ 3 };
// A refused heap that is sent again after this time is judged again: the stream may have
// become silent.
constexpr std::chrono::milliseconds rejudge_interval{ 100 };

template <typename visitor>
void for_each_kept(const heap_slot& slot, visitor&& visit)
{
    for (const auto& kept_packet : slot.kept_packets) {
        packet_view packet;
        parse_packet(kept_packet.content.data(), kept_packet.content.size(), packet);
        visit(packet);
    }
}

} // namespace

heap_router::heap_router(receive_config config,
                         output_window& window,
                         std::vector<source_counter_set>& counters,
                         common_counter_set& common,
                         rate_limited_log& log)
    : d_config(std::move(config)),
      d_window(window),
      d_counters(counters),
      d_common_counters(common),
      d_log(log),
      d_decoder(sample_format()),
      d_slots([this](const heap_slot& slot) { finish(slot); }),
      d_follower(d_config,
                 d_format,
                 d_slots,
                 window,
                 d_senders,
                 common,
                 d_no_output_reason,
                 log),
      d_format_tracker(
          d_config, d_format, d_follower, d_senders, d_no_output_reason, log),
      d_placer(d_decoder, d_follower, window, counters, d_no_output_reason)
{
    if (d_config.format)
        use_format(d_config.format);
    else if (!d_config.descriptions.empty())
        use_format(d_format_tracker.derive_format());
}

void heap_router::start_run()
{
    d_follower.start_run();
    d_senders.clear();
    d_pause_in_heap = d_last_pause = {};
    d_format_tracker.start_run();
    d_last_sender = 0;
    d_no_output_reason.start_run();
}

void heap_router::forget_runs()
{
    d_follower.forget_end_of_stream();
    d_format_tracker.clear();
    use_format(d_config.format);
}

void heap_router::end_run()
{
    for (const auto* slots :
         { &d_slots.collecting(), &d_slots.placed(), &d_slots.refused() })
        while (!slots->empty())
            d_slots.remove(*slots->front());
    count_ignored();
}

// Packets

void heap_router::add_datagram(const received_datagram& datagram, clock::time_point now)
{
    parsed_packet packet;
    if (const auto error = parse_packet(datagram.data, datagram.bytes, packet);
        error != packet_error::none)
        return reject(error, datagram.data, datagram.bytes);
    packet.datagram = datagram;
    packet.id = { packet.heap_counter,
                  datagram.sender,
                  d_config.group_of_source[datagram.source] };
    packet.time = d_now = now;
    // without a format, heaps wait for it
    const auto& waiting_slots = d_slots.collecting();
    while (d_format && !waiting_slots.empty() &&
           now - waiting_slots.front()->first_arrival >= heap_timeout)
        d_slots.remove(*waiting_slots.front());
    const auto result = route_packet(packet);
    if (result == outcome::rejected)
        return d_common_counters.rejects.add(packet_error::contradiction);
    d_common_counters.packets_received.add(1);
    d_common_counters.bytes_received.add(datagram.bytes);
    d_ignored_packets += result == outcome::ignored;
    count_ignored();
    if (!packet.is_end_of_stream)
        d_last_sender = datagram.sender;
    if (d_slots.first_ready() || waits_for_room())
        resume(now);
    if (!d_format)
        d_no_output_reason.note(d_format_tracker.refusal().empty()
                                    ? cause::no_descriptors
                                    : d_format_tracker.refusal());
}

const std::string& heap_router::why_no_output()
{
    const auto& waiting_slots = d_slots.collecting();
    const bool is_partial =
        std::any_of(waiting_slots.begin(),
                    waiting_slots.end(),
                    [](const heap_slot* slot) { return slot->descriptors.were_found(); });
    if (is_partial && d_no_output_reason.text() == cause::no_descriptors)
        d_no_output_reason.note(cause::partial_descriptors);
    return d_no_output_reason.text();
}

void heap_router::reject(packet_error error, const std::byte* datagram, std::size_t bytes)
{
    d_common_counters.rejects.add(error);
    d_no_output_reason.note_rejected(error, datagram, bytes);
}

// Only a packet with the timestamp says which heap it belongs to. The others, often all
// but the first one, have nothing but their heap counter, which a sender may use again
// after a restart, or in every heap. So each check asks whether the counter still means
// the slot that was found. A packet that may belong to either of two heaps is ignored: a
// missing sample is reported, but a sample in the wrong place is not noticed.
heap_router::outcome heap_router::route_packet(const parsed_packet& packet)
{
    if (packet.is_end_of_stream) {
        d_follower.note_end_of_stream(packet.id,
                                      packet.time,
                                      d_last_sender == packet.id.sender,
                                      d_format.get() != nullptr);
        if (d_format)
            return outcome::ignored;
        auto& slot = d_slots.add(packet.id); // it ends the heaps that wait
        slot.first_arrival = packet.time;
        slot.is_end_of_stream = true;
        return keep_packet(slot, packet);
    }
    // some senders do not count heaps of one packet, but timestamps tell them apart
    const bool is_uncounted = packet.is_single && (!d_format || d_format->timestamp_id);
    auto* slot = is_uncounted ? nullptr : d_slots.find(packet.id);
    if (!slot || slot->is_end_of_stream || d_follower.is_expired(*slot, packet.time))
        return begin_heap(packet);
    const bool has_other_length = slot->heap_length != packet.heap_length;
    switch (packet.has_items() ? slot->items.compare(packet, d_format)
                               : heap_items::match::unknown) {
    case heap_items::match::same:
        // the heap has ended, so that this packet does not contradict it
        if (has_other_length && (slot->is_whole() || packet.time - slot->last_arrival >=
                                                         d_config.closing_time()))
            return route_other(*slot, packet);
        if (slot->status == state::refused &&
            packet.time - slot->first_arrival >= rejudge_interval) {
            const bool reuses_counter = slot->reuses_counter;
            d_slots.remove(*slot);
            return begin_heap(packet, reuses_counter);
        }
        // a duplicate, or its sender has restarted and describes other samples
        if (slot->is_whole() && packet.has_descriptors)
            return begin_heap(packet, true, true);
        return add_packet(*slot, packet);
    case heap_items::match::other:
        return route_other(*slot, packet);
    case heap_items::match::unknown:
        break;
    }
    if (packet.has_items() && (has_other_length || slot->status == state::refused))
        return route_other(*slot, packet);
    // without a format, which item tells heaps apart is not known
    const bool may_be_first = packet.has_items() && !d_format;
    const bool may_continue_heap = may_continue(*slot, packet) &&
                                   (slot->status == state::placed || !has_other_length);
    const bool is_unclear = !may_be_first && (is_ambiguous(*slot, packet) ||
                                              d_follower.has_held_restart(*slot));
    learn_pause(*slot, packet);
    if (is_unclear)
        return outcome::ignored;
    if (!may_continue_heap) {
        // unless it may be complete, the next packets are not of this heap
        if (slot->status == state::collecting && !(may_be_first && slot->has_items))
            d_slots.remove(*slot);
        return begin_heap(packet, true);
    }
    return add_packet(*slot, packet);
}

// A packet of another heap with the same counter.
heap_router::outcome heap_router::route_other(heap_slot& latest_slot,
                                              const parsed_packet& packet)
{
    if (latest_slot.reuses_counter)
        for (auto* slot = d_slots.find_older(latest_slot); slot;
             slot = d_slots.find_older(*slot))
            if (!d_follower.is_expired(*slot, packet.time) &&
                slot->items.compare(packet, d_format) == heap_items::match::same)
                return add_packet(*slot, packet);
    return begin_heap(packet, true);
}

// Whether a packet without items may be of a heap with its counter.
bool heap_router::may_continue(const heap_slot& slot, const parsed_packet& packet) const
{
    // the samples that the heap lacks have been given up
    const bool is_closed = slot.status == state::placed &&
                           packet.time - slot.last_arrival >= d_config.closing_time() &&
                           d_follower.is_before_newest(slot);
    return !slot.is_superseded && !is_closed && !may_follow_restart(slot, packet);
}

// Whether a packet comes after a pause and does not continue its heap: its sender may
// have restarted, and reuse the counter. An outage looks the same if it goes on later in
// the heap: then the rest of the heap is missing. While the timestamp or other items are
// not known, or if the heap is whole, only the pause tells.
bool heap_router::may_follow_restart(const heap_slot& slot,
                                     const parsed_packet& packet) const
{
    const bool is_complete =
        d_format ? slot.items.is_complete(*d_format) : slot.has_items;
    const bool is_open =
        slot.is_whole() || (slot.status == state::collecting && !is_complete);
    clock::duration outage = min_outage;
    if (is_open)
        outage = min_outage_of_open_heaps;
    else if (packet.payload_offset < slot.next_offset)
        outage = std::min(outage, d_config.closing_time());
    return packet.time - slot.last_arrival >=
               std::max(outage, outage_pauses * d_pause_in_heap) &&
           (is_open || packet.payload_offset != slot.next_offset);
}

// A single pause, after which the packet continues the heap by chance, is no habit.
void heap_router::learn_pause(const heap_slot& slot, const parsed_packet& packet)
{
    const auto pause = packet.time - slot.last_arrival;
    if (packet.payload_offset == slot.next_offset && !slot.is_whole() &&
        pause < outage_pauses * max_pause_in_heap)
        d_pause_in_heap = std::max(d_pause_in_heap,
                                   std::min(pause, std::exchange(d_last_pause, pause)));
}

// Whether packets without items may also belong to an older heap of the same counter.
bool heap_router::is_ambiguous(heap_slot& slot, const parsed_packet& packet)
{
    if (!slot.reuses_counter)
        return false;
    bool has_incomplete = false;
    for (auto* older = d_slots.find_older(slot); older;
         older = d_slots.find_older(*older))
        if (!older->is_whole() && !d_follower.is_expired(*older, packet.time)) {
            if (older->heap_length == packet.heap_length)
                return true;
            has_incomplete = true;
        }
    slot.reuses_counter = has_incomplete;
    return false;
}

heap_router::outcome heap_router::begin_heap(const parsed_packet& packet,
                                             bool reuses_counter,
                                             bool is_repeated)
{
    auto& slot = d_slots.add(packet.id);
    slot.heap_length = packet.heap_length;
    slot.source = packet.datagram.source;
    slot.first_arrival = packet.time;
    slot.time.counter = packet.heap_counter;
    slot.time.address_bits = packet.flavour.heap_address_bits;
    slot.reuses_counter = reuses_counter;
    slot.is_repeated = is_repeated;
    slot.next_offset = packet.payload_end();
    if (d_format)
        slot.items.restart(d_format->immediates.size());
    const auto result = collect_packet(slot, packet);
    // it contradicts the other heap, and is no heap of the stream
    return result == outcome::ignored && reuses_counter ? outcome::rejected : result;
}

heap_router::outcome heap_router::add_packet(heap_slot& slot, const parsed_packet& packet)
{
    slot.next_offset = packet.payload_end();
    switch (slot.status) {
    case state::placed:
        if (slot.heap_length != packet.heap_length)
            return outcome::rejected;
        return place_packet(slot, packet);
    case state::collecting:
        return collect_packet(slot, packet);
    default:
        return outcome::ignored;
    }
}

// Adds a packet to a heap whose items or descriptors have not all arrived, or which the
// timeline holds. Until then, neither the position nor the format of its samples is
// certain, so the slot keeps whole packets instead of decoded samples: if a heap is
// refused, nothing has to be taken back, and if the format changes, its items are read
// again.
heap_router::outcome heap_router::collect_packet(heap_slot& slot,
                                                 const parsed_packet& packet)
{
    slot.last_arrival = packet.time;
    slot.has_items |= packet.has_items();
    const bool is_known = d_format && slot.items.is_complete(*d_format);
    if (d_format && !is_known) {
        const bool had_items = slot.items.is_any();
        slot.items.add(packet, d_format);
        if (!had_items && slot.items.is_any()) {
            // Only now can the packets that arrived before the items be assigned. If an
            // older heap of this counter is incomplete, they may all belong to that one.
            drop_packets_before(slot,
                                is_ambiguous(slot, packet)
                                    ? clock::time_point::max()
                                    : packet.time - min_outage_of_open_heaps);
        }
        if (packet.has_items() && slot.items.timestamp_address && !slot.items.timestamp)
            find_kept_timestamp(slot);
    }
    if (find_descriptors(slot, packet) || slot.descriptors.were_found())
        return collect_descriptors(slot, packet);
    if (d_format_tracker.is_unsuitable(slot))
        d_slots.refuse(slot);
    if (slot.status == state::refused)
        return outcome::ignored;
    if (!d_format || is_known)
        return keep_packet(slot, packet);
    if (!slot.kept_packets.empty() || !slot.items.is_complete(*d_format)) {
        update_readiness(slot, &packet);
        return slot.status == state::refused ? outcome::ignored
                                             : keep_packet(slot, packet);
    }
    // the usual case: the first packet has all items
    judge_heap(slot);
    if (slot.status == state::placed)
        return place_packet(slot, packet);
    return slot.status == state::refused ? outcome::ignored : keep_packet(slot, packet);
}

heap_router::outcome heap_router::keep_packet(heap_slot& slot,
                                              const parsed_packet& packet)
{
    if (d_slots.keep_packet(slot, packet.datagram, packet.time))
        return outcome::taken;
    d_slots.refuse(slot);
    return outcome::ignored;
}

// Drops packets that arrived long before the items: they belong to an earlier heap of the
// same counter.
void heap_router::drop_packets_before(heap_slot& slot, clock::time_point time)
{
    const auto is_later = [&](const auto& packet) { return packet.time >= time; };
    const auto first =
        std::find_if(slot.kept_packets.begin(), slot.kept_packets.end(), is_later);
    const auto count = static_cast<std::size_t>(first - slot.kept_packets.begin());
    d_ignored_packets += d_slots.drop_packets(slot, 0, count);
}

// Decides what becomes of a heap after a packet has arrived, which may be its first one,
// or the format has changed. \p packet has items, or is nullptr.
void heap_router::update_readiness(heap_slot& slot, const packet_view* packet)
{
    const auto& items = slot.items;
    d_slots.set_ready(slot, false);
    if (slot.has_lost_samples)
        return d_slots.refuse(slot);
    if (slot.is_end_of_stream || items.is_complete(*d_format))
        return d_slots.set_ready(slot, true);
    if (!packet || !packet->has_items()) {
        if (!items.is_any())
            d_no_output_reason.note(cause::no_first_packet);
        return;
    }
    if (items.may_lack_time)
        d_no_output_reason.note_undescribed(*packet);
    else if (items.is_any() && !items.has_time(*d_format))
        d_no_output_reason.note_lacking(
            *d_format->timestamp_id, "the timestamp", *packet);
    else
        d_no_output_reason.note_lacking(d_format->samples_id, "the samples", *packet);
    if (!items.is_any()) {
        d_senders.complete(slot.id, slot.time, slot.first_arrival, slot.items);
        d_slots.refuse(slot);
    }
}

// Packets count as received before they count as ignored, since any thread may read both.
void heap_router::count_ignored()
{
    d_common_counters.packets_ignored.add(std::exchange(d_ignored_packets, 0));
}

void heap_router::finish(const heap_slot& slot)
{
    d_ignored_packets += slot.kept_packets.size();
    d_follower.forget(slot);
    if (d_blocked_slot == &slot)
        d_blocked_slot = nullptr;
    if (slot.status != state::placed || slot.received_samples == 0)
        return;
    if (slot.received_samples < slot.time.length || d_slots.has_gap_after(slot))
        d_counters[slot.output].heaps_incomplete.add(1);
    else if (!slot.time.is_length_known)
        d_counters[slot.output].heaps_received.add(1);
}

bool heap_router::resume(clock::time_point now)
{
    d_now = now;
    const bool is_done = place_waiting();
    count_ignored();
    return is_done;
}

// Retries everything that waits, in a fixed order. New descriptions apply to all heaps
// that have not been placed. The blocked heap was accepted before the others, and the
// window may have room for it now. A heap with which another one agrees is next, since
// the other one may only fit after it. Each heap can change which others fit, so the next
// one is chosen after it has been placed. At the first step without room, the rest waits.
bool heap_router::place_waiting()
{
    for (;;) {
        if (d_format_tracker.has_changed() && !update_format())
            return false;
        if (d_blocked_slot && !place_kept_packets(*d_blocked_slot))
            return false;
        d_blocked_slot = nullptr;
        auto* confirmed_slot = d_follower.confirmed();
        auto* slot = confirmed_slot ? confirmed_slot : d_slots.first_ready();
        if (!slot || !d_format)
            return true;
        judge_heap(*slot);
        if (slot->status == state::placed)
            d_blocked_slot = slot;
    }
}

// Descriptors

// Whether a heap must wait for its descriptors, to which this packet points.
bool heap_router::find_descriptors(heap_slot& slot, const parsed_packet& packet)
{
    if (!packet.has_descriptors || slot.has_read_descriptors ||
        slot.descriptors.were_found())
        return false;
    if (!d_follower.has_admitted(packet.id.sender) &&
        !d_senders.admit_descriptors(packet.id,
                                     packet.time,
                                     d_follower.is_ignored_sender(packet.id,
                                                                  packet.datagram.source,
                                                                  packet.time))) {
        d_slots.refuse(slot); // its format is not known
        return false;
    }
    if (!slot.descriptors.find(packet))
        return false;
    for_each_kept(
        slot, [&](const packet_view& kept_packet) { slot.descriptors.add(kept_packet); });
    return true;
}

heap_router::outcome heap_router::collect_descriptors(heap_slot& slot,
                                                      const parsed_packet& packet)
{
    auto& descriptors = slot.descriptors;
    if (slot.has_lost_samples && !descriptors.have_bytes_in(packet))
        return outcome::ignored;
    if (!d_slots.keep_packet(slot, packet.datagram, packet.time)) {
        // larger than the room: its samples need not wait for all descriptors if those
        // that have arrived confirm the format; otherwise, only its descriptors are used
        const auto visit_packets = [&](const auto& visit) { for_each_kept(slot, visit); };
        if (d_format_tracker.confirms_format(slot, descriptors.content(visit_packets))) {
            descriptors.clear();
            slot.has_read_descriptors = true;
            d_slots.append_packet(slot, packet.datagram, packet.time);
            update_readiness(slot, nullptr);
            return outcome::taken;
        }
        slot.has_lost_samples = true;
        const auto dropped = d_slots.drop_packets_if(slot, [&](const auto& kept_packet) {
            packet_view view;
            parse_packet(kept_packet.content.data(), kept_packet.content.size(), view);
            return !descriptors.have_bytes_in(view);
        });
        d_ignored_packets += dropped;
        if (!dropped || !descriptors.have_bytes_in(packet) ||
            !d_slots.keep_packet(slot, packet.datagram, packet.time)) {
            if (!dropped)
                d_slots.refuse(slot);
            return outcome::ignored;
        }
    }
    descriptors.add(packet);
    if (descriptors.have_arrived())
        read_descriptors(slot);
    else if (descriptors.are_unusable())
        d_slots.refuse(slot);
    return outcome::taken;
}

void heap_router::read_descriptors(heap_slot& slot)
{
    d_format_tracker.read_descriptors(
        slot,
        slot.descriptors.content([&](const auto& visit) { for_each_kept(slot, visit); }),
        d_now);
    slot.descriptors.clear();
    slot.has_read_descriptors = true;
    if (d_format_tracker.has_changed())
        return;
    if (d_format && !slot.is_repeated)
        read_items_again(slot);
    else if (slot.is_repeated || d_format_tracker.is_unsuitable(slot))
        d_slots.refuse(slot);
}

// Derives the format from the descriptors. False if it must wait until all samples have
// been produced.
bool heap_router::update_format()
{
    if (!use_format(d_format_tracker.derive_format()))
        return false;
    d_format_tracker.mark_in_use();
    const auto slots = d_slots.collecting();
    for (auto* slot : slots)
        if (d_format)
            read_items_again(*slot);
        else if (d_format_tracker.is_unsuitable(*slot))
            d_slots.refuse(*slot);
    return true;
}

bool heap_router::use_format(std::shared_ptr<const stream_format> format)
{
    if (format && d_format && format->extends(*d_format)) {
        d_format = indexed_format(std::move(format));
        return true;
    }
    if (!d_window.is_empty()) {
        d_window.flush();
        return false;
    }
    if (d_format && d_follower.is_running()) {
        if (format)
            d_log.add("the descriptors have changed: the stream starts over");
        d_common_counters.discontinuities.add(1);
    }
    while (!d_slots.refused().empty()) // the new format may suit them
        d_slots.remove(*d_slots.refused().front());
    while (!d_slots.placed().empty()) // duplicates of their packets are of the old format
        d_slots.refuse(*d_slots.placed().front());
    const auto collecting_slots = d_slots.collecting();
    for (auto* slot : collecting_slots)
        if (slot->is_held) // it does not fit the stream before, and is not of the new one
            d_slots.refuse(*slot);
        else
            d_slots.set_ready(*slot, false);
    d_senders.clear_values();
    d_format = indexed_format(std::move(format));
    if (!d_format)
        return true;
    if (d_config.axes.empty() && !d_format->axes_hint.empty())
        d_log.add(d_format->axes_hint);
    const auto& wire_format = d_format->samples_format;
    d_decoder = sample_decoder({ d_config.type, wire_format },
                               d_config.scale.value_or(wire_format.full_scale()));
    d_window.set_decoder(d_decoder);
    d_follower.restart(d_decoder.group());
    return true;
}

// Reads the items of a heap that keeps its packets, with a new format or after its
// descriptors have arrived.
void heap_router::read_items_again(heap_slot& slot)
{
    if (slot.descriptors.were_found()) // they have not all arrived
        return;
    slot.items.restart(d_format->immediates.size());
    slot.is_held = false;
    d_follower.forget(slot);
    packet_view items_packet;
    std::size_t count = 0; // of packets of this heap
    bool is_same = true;
    for_each_kept(slot, [&](const packet_view& packet) {
        heap_items items;
        if (packet.has_items())
            items.add(packet, d_format);
        // the packets from here on may be of the next heap with this counter
        is_same = is_same && !items.contradict(slot.items);
        if (!is_same)
            return;
        ++count;
        if (packet.has_items())
            items_packet = packet;
        if (!slot.items.is_complete(*d_format))
            slot.items.add(packet, d_format);
    });
    d_ignored_packets += d_slots.drop_packets(slot, count, slot.kept_packets.size());
    find_kept_timestamp(slot);
    update_readiness(slot, items_packet.pointers ? &items_packet : nullptr);
}

// Packets that arrived before the items of their heap may hold its timestamp.
void heap_router::find_kept_timestamp(heap_slot& slot)
{
    for_each_kept(slot, [&](const packet_view& packet) {
        if (!slot.items.is_complete(*d_format))
            slot.items.add(packet, d_format);
    });
}

// Places in time

// Decides whether a heap with all items is placed, held or refused.
void heap_router::judge_heap(heap_slot& slot)
{
    d_slots.set_ready(slot, false);
    d_follower.forget(slot);
    if (slot.is_end_of_stream) {
        d_follower.note_end_of_stream(
            slot.id, slot.first_arrival, d_last_sender == slot.id.sender, true);
        return d_slots.refuse(slot);
    }
    if (d_format_tracker.is_before_change(slot))
        return d_slots.refuse(slot);
    if (d_format_tracker.is_described_otherwise(slot, d_now)) {
        if (!d_format_tracker.has_changed()) // else it waits for the new format
            d_slots.refuse(slot);
        return;
    }
    switch (d_follower.decide(slot, d_now)) {
    case stream_follower::decision::place:
        return d_slots.place(slot);
    case stream_follower::decision::refuse:
        return d_slots.refuse(slot);
    case stream_follower::decision::hold:
        break;
    }
}

// Samples

// Places the packets that a slot keeps. False if there is no room for all.
bool heap_router::place_kept_packets(heap_slot& slot)
{
    if (!d_follower.enter(slot, d_now))
        return false;
    std::size_t placed = 0;
    auto result = sample_placer::placement::done;
    for (; placed < slot.kept_packets.size(); ++placed) {
        const auto& kept_packet = slot.kept_packets[placed];
        packet_view packet;
        parse_packet(kept_packet.content.data(), kept_packet.content.size(), packet);
        result = d_placer.place(slot, packet, kept_packet.time, d_now);
        if (result == sample_placer::placement::full)
            break;
        if (result == sample_placer::placement::ignored)
            d_ignored_packets += 1;
    }
    d_slots.drop_packets(slot, 0, placed);
    return result != sample_placer::placement::full;
}

heap_router::outcome heap_router::place_packet(heap_slot& slot,
                                               const parsed_packet& packet)
{
    const auto result = d_follower.enter(slot, d_now)
                            ? d_placer.place(slot, packet, packet.time, d_now)
                            : sample_placer::placement::full;
    if (result != sample_placer::placement::full)
        return result == sample_placer::placement::done ? outcome::taken
                                                        : outcome::ignored;
    d_blocked_slot = &slot;
    d_slots.append_packet(slot, packet.datagram, packet.time);
    return outcome::taken;
}

} // namespace gr::spead
