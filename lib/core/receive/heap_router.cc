/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_router.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace gr::spead {

namespace {

// Packets from before the first one of a stream may arrive up to this much later.
constexpr std::chrono::milliseconds start_delay{ 10 };
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
constexpr auto no_limit = std::numeric_limits<std::int64_t>::max();

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

heap_router::heap_router(config settings,
                         output_window& window,
                         std::vector<source_counter_set>& counters,
                         source_counter_set& common,
                         reject_counters& rejects,
                         rate_limited_log& log)
    : d_config(std::move(settings)),
      d_window(window),
      d_counters(counters),
      d_common_counters(common),
      d_rejects(rejects),
      d_log(log),
      d_description(d_config.format, d_config.type, d_config.axes, counters.size()),
      d_decoder(sample_format()),
      d_slots([this](const heap_slot& slot) { finish(slot); }),
      d_held_slots(counters.size()),
      d_timeline(d_config.stream),
      d_locks(counters.size(), sender_lock(d_config.stream.sockets))
{
    if (d_config.format)
        use_format(d_config.format);
}

void heap_router::start_run()
{
    d_timeline.start_run();
    for (auto& lock : d_locks)
        lock.restart();
    d_senders.clear();
    d_split_samples.clear();
    d_has_stopped = false;
    d_pause_in_heap = d_last_pause = {};
    d_change = {};
    d_last_sender = 0;
    d_has_logged_other = d_has_logged_misaligned = false;
    d_no_output_reason.clear();
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

void heap_router::receive(const received_packet& datagram, clock::time_point now)
{
    arrival packet;
    if (const auto error = parse_packet(datagram.data, datagram.bytes, packet);
        error != packet_error::none)
        return reject(error, datagram.data, datagram.bytes);
    packet.datagram = datagram;
    packet.id = { packet.heap_counter,
                  datagram.sender,
                  d_config.group_of_socket[datagram.socket] };
    packet.time = d_now = now;
    // without a format, heaps wait for it
    const auto& waiting_slots = d_slots.collecting();
    while (d_format && !waiting_slots.empty() &&
           now - waiting_slots.front()->first_packet >= heap_timeout)
        d_slots.remove(*waiting_slots.front());
    const auto result = route(packet);
    if (result == outcome::rejected)
        return d_rejects.add(packet_error::contradiction);
    d_common_counters.packets_received.add(1);
    d_common_counters.bytes_received.add(datagram.bytes);
    d_ignored_packets += result == outcome::ignored;
    count_ignored();
    if (!packet.is_end_of_stream)
        d_last_sender = datagram.sender;
    if (d_slots.first_ready() || is_blocked())
        resume(now);
    if (!d_format)
        d_no_output_reason.note(d_description.refusal().empty()
                                    ? cause::no_descriptors
                                    : d_description.refusal());
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
    d_rejects.add(error);
    d_no_output_reason.note_rejected(error, datagram, bytes);
}

// Only a packet with the timestamp says which heap it belongs to. The others, often all
// but the first one, have nothing but their heap counter, which a sender may use again
// after a restart, or in every heap. So each check asks whether the counter still means
// the slot that was found. A packet that may belong to either of two heaps is ignored: a
// missing sample is reported, but a sample in the wrong place is not noticed.
heap_router::outcome heap_router::route(const arrival& packet)
{
    if (packet.is_end_of_stream) {
        note_end(packet.id, packet.time, d_format.get() != nullptr);
        if (d_format)
            return outcome::ignored;
        auto& slot = d_slots.add(packet.id); // it ends the heaps that wait
        slot.first_packet = packet.time;
        slot.is_end = true;
        return keep_packet(slot, packet);
    }
    auto* slot = packet.is_single ? nullptr : d_slots.find(packet.id);
    if (!slot || slot->is_end || is_expired(*slot, packet.time))
        return begin_heap(packet);
    switch (packet.has_items() ? slot->items.compare(packet, d_format)
                               : heap_items::match::unknown) {
    case heap_items::match::same:
        if (slot->status == state::refused &&
            packet.time - slot->first_packet >= rejudge_interval) {
            const bool reuses_counter = slot->reuses_counter;
            d_slots.remove(*slot);
            return begin_heap(packet, reuses_counter);
        }
        return add_packet(*slot, packet);
    case heap_items::match::other:
        return route_other(*slot, packet);
    case heap_items::match::unknown:
        break;
    }
    const bool has_other_length = slot->heap_length != packet.heap_length;
    if (packet.has_items() && (has_other_length || slot->status == state::refused))
        return route_other(*slot, packet);
    if (packet.has_items() && !d_format)
        return add_packet(*slot, packet);
    if (is_ambiguous(*slot, packet.time) || has_held_restart(*slot))
        return outcome::ignored;
    if (slot->is_superseded || is_closed(*slot, packet.time) || is_torn(*slot, packet) ||
        (slot->status != state::placed && has_other_length)) {
        if (slot->status == state::collecting)
            d_slots.remove(*slot); // the next packets are not of this heap
        return begin_heap(packet, true);
    }
    return add_packet(*slot, packet);
}

// A packet of another heap with the same counter.
heap_router::outcome heap_router::route_other(heap_slot& latest_slot,
                                              const arrival& packet)
{
    if (latest_slot.reuses_counter)
        for (auto* slot = d_slots.find_older(latest_slot); slot;
             slot = d_slots.find_older(*slot))
            if (!is_expired(*slot, packet.time) &&
                slot->items.compare(packet, d_format) == heap_items::match::same)
                return add_packet(*slot, packet);
    return begin_heap(packet, true);
}

// After a pause, the sender may have restarted.
bool heap_router::is_expired(const heap_slot& slot, clock::time_point now) const
{
    const auto idle = now - slot.last_packet;
    const bool has_ended =
        d_last_end.sender == slot.id.sender && d_last_end_time >= slot.last_packet;
    return idle >= heap_timeout &&
           (has_ended || idle >= d_timeline.silence_timeout(slot.output));
}

// Whether a packet comes after a pause and does not continue its heap: its sender may
// have restarted, and reuse the counter. An outage looks the same if it goes on later in
// the heap: then the rest of the heap is missing. While the timestamp or other items are
// not known, or if the heap is whole, only the pause tells.
bool heap_router::is_torn(const heap_slot& slot, const arrival& packet)
{
    const auto pause = packet.time - slot.last_packet;
    const bool continues = packet.payload_offset == slot.next_offset;
    const bool is_whole = slot.status == state::placed && slot.has_all_samples();
    const bool is_open = is_whole || (d_format && slot.status == state::collecting &&
                                      !slot.items.is_complete(*d_format));
    clock::duration outage = min_outage;
    if (is_open)
        outage = min_outage_of_open_heaps;
    else if (packet.payload_offset < slot.next_offset)
        outage = std::min(outage, closing_time());
    const bool is_torn = pause >= std::max(outage, outage_pauses * d_pause_in_heap) &&
                         (is_open || !continues);
    // a single pause, after which the packet continues the heap by chance, is no habit
    if (continues && !is_whole && pause < outage_pauses * max_pause_in_heap)
        d_pause_in_heap = std::max(d_pause_in_heap,
                                   std::min(pause, std::exchange(d_last_pause, pause)));
    return is_torn;
}

// Whether packets without items cannot belong to a heap any more: the samples that it
// lacks have been given up.
bool heap_router::is_closed(const heap_slot& slot, clock::time_point now) const
{
    return slot.status == state::placed && now - slot.last_packet >= closing_time() &&
           d_timeline.is_before_newest(slot.time, slot.output);
}

// Whether packets without items may also belong to an older heap of the same counter.
bool heap_router::is_ambiguous(heap_slot& slot, clock::time_point now)
{
    if (!slot.reuses_counter)
        return false;
    for (auto* older = d_slots.find_older(slot); older;
         older = d_slots.find_older(*older))
        if (!older->has_all_samples() && !is_expired(*older, now))
            return true;
    return slot.reuses_counter = false;
}

// Whether the held heap may come from a restart after which the sender reuses the counter
// of this heap.
bool heap_router::has_held_restart(const heap_slot& slot) const
{
    const auto* held_slot =
        slot.status == state::placed ? d_held_slots[slot.output] : nullptr;
    return held_slot && held_slot->arrival > slot.arrival &&
           held_slot->id.sender == slot.id.sender &&
           held_slot->id.group == slot.id.group &&
           slot.time.counters_from(held_slot->time) >= 0;
}

heap_router::outcome heap_router::begin_heap(const arrival& packet, bool reuses_counter)
{
    auto& slot = d_slots.add(packet.id);
    slot.heap_length = packet.heap_length;
    slot.socket = packet.datagram.socket;
    slot.first_packet = packet.time;
    slot.time.counter = packet.heap_counter;
    slot.time.address_bits = packet.flavour.heap_address_bits;
    slot.reuses_counter = reuses_counter;
    slot.next_offset = packet.payload_end();
    if (d_format)
        slot.items.restart(d_format->immediates.size());
    const auto result = collect(slot, packet);
    // it contradicts the other heap, and is no heap of the stream
    return result == outcome::ignored && reuses_counter ? outcome::rejected : result;
}

heap_router::outcome heap_router::add_packet(heap_slot& slot, const arrival& packet)
{
    slot.next_offset = packet.payload_end();
    switch (slot.status) {
    case state::placed:
        if (slot.heap_length != packet.heap_length)
            return outcome::rejected;
        return place(slot, packet);
    case state::collecting:
        return collect(slot, packet);
    default:
        return outcome::ignored;
    }
}

// Adds a packet to a heap whose items or descriptors have not all arrived, or which the
// timeline holds. Until then, neither the position nor the format of its samples is
// certain, so the slot keeps whole packets instead of decoded samples: if a heap is
// refused, nothing has to be taken back, and if the format changes, its items are read
// again.
heap_router::outcome heap_router::collect(heap_slot& slot, const arrival& packet)
{
    slot.last_packet = packet.time;
    const bool is_known = d_format && slot.items.is_complete(*d_format);
    if (d_format && !is_known) {
        const bool had_items = slot.items.is_any();
        slot.items.add(packet, d_format);
        if (!had_items && slot.items.is_any()) {
            // Only now can the packets that arrived before the items be assigned. If an
            // older heap of this counter is incomplete, they may all belong to that one.
            drop_packets_before(slot,
                                is_ambiguous(slot, packet.time)
                                    ? clock::time_point::max()
                                    : packet.time - min_outage_of_open_heaps);
            for_each_kept(
                slot, [&](const packet_view& kept_packet) { // perhaps of the timestamp
                    if (!slot.items.is_complete(*d_format))
                        slot.items.add(kept_packet, d_format);
                });
        }
    }
    if (find_descriptors(slot, packet) || slot.descriptors.were_found())
        return collect_descriptors(slot, packet);
    if (is_unsuitable(slot)) {
        refuse(slot);
        return outcome::ignored;
    }
    if (!d_format || is_known)
        return keep_packet(slot, packet);
    if (!slot.kept_packets.empty() || !slot.items.is_complete(*d_format)) {
        update_readiness(slot, &packet);
        return slot.status == state::refused ? outcome::ignored
                                             : keep_packet(slot, packet);
    }
    // the usual case: the first packet has all items
    judge(slot);
    if (slot.status == state::placed)
        return place(slot, packet);
    return slot.status == state::refused ? outcome::ignored : keep_packet(slot, packet);
}

heap_router::outcome heap_router::keep_packet(heap_slot& slot, const arrival& packet)
{
    if (d_slots.keep_packet(slot, packet.datagram, packet.time))
        return outcome::taken;
    refuse(slot);
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

void heap_router::refuse(heap_slot& slot)
{
    d_ignored_packets += d_slots.drop_packets(slot);
    d_slots.refuse(slot);
}

// Decides what becomes of a heap after a packet has arrived, which may be its first one,
// or the format has changed. \p packet has items, or is nullptr.
void heap_router::update_readiness(heap_slot& slot, const packet_view* packet)
{
    const auto& items = slot.items;
    if (slot.has_lost_samples)
        return refuse(slot);
    if (slot.is_end || items.is_complete(*d_format))
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
        recall_values(slot); // of immediate items
        refuse(slot);
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
    for (auto** pointer : { &d_agreed_slot, &d_blocked_slot })
        *pointer = *pointer == &slot ? nullptr : *pointer;
    for (auto& held_slot : d_held_slots)
        held_slot = held_slot == &slot ? nullptr : held_slot;
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
        if (d_has_new_descriptions && !update_format())
            return false;
        if (d_blocked_slot && !place_kept(*d_blocked_slot))
            return false;
        d_blocked_slot = nullptr;
        auto* slot = d_agreed_slot ? d_agreed_slot : d_slots.first_ready();
        if (!slot || !d_format)
            return true;
        d_agreed_slot = nullptr;
        judge(*slot);
        if (slot->status == state::placed)
            d_blocked_slot = slot;
    }
}

// Descriptors

// Whether a heap must wait for its descriptors, to which this packet points. Those of an
// ignored sender do not change the stream.
bool heap_router::find_descriptors(heap_slot& slot, const arrival& packet)
{
    if (!packet.has_descriptors || slot.has_read_descriptors ||
        slot.descriptors.were_found() || is_ignored_sender(packet) ||
        !d_senders.may_describe(packet.id, packet.time) || !slot.descriptors.find(packet))
        return false;
    for_each_kept(
        slot, [&](const packet_view& kept_packet) { slot.descriptors.add(kept_packet); });
    return true;
}

heap_router::outcome heap_router::collect_descriptors(heap_slot& slot,
                                                      const arrival& packet)
{
    auto& descriptors = slot.descriptors;
    if (slot.has_lost_samples && !descriptors.have_bytes_in(packet))
        return outcome::ignored;
    if (!d_slots.keep_packet(slot, packet.datagram, packet.time)) {
        // larger than the room: its samples need not wait for all descriptors if those
        // that have arrived confirm the format; otherwise, only its descriptors are used
        const auto arrived_descriptions =
            descriptors.read([&](const auto& visit) { for_each_kept(slot, visit); });
        if (d_format && d_description.confirm(arrived_descriptions, *d_format)) {
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
                refuse(slot);
            return outcome::ignored;
        }
    }
    descriptors.add(packet);
    if (descriptors.have_arrived())
        read_descriptors(slot);
    else if (descriptors.are_unusable())
        refuse(slot);
    return outcome::taken;
}

// Whether all outputs that the packet may be for receive another sender.
bool heap_router::is_ignored_sender(const arrival& packet) const
{
    const auto refuses = [&](std::size_t output) {
        return d_locks[output].refuses(packet.datagram.socket, packet.datagram.sender) &&
               !d_timeline.is_silent(output, packet.time);
    };
    if (d_config.has_group_for_each_output)
        return refuses(packet.id.group);
    for (std::size_t output = 0; output < d_locks.size(); ++output)
        if (!refuses(output))
            return false;
    return true;
}

void heap_router::read_descriptors(heap_slot& slot)
{
    const auto descriptions =
        slot.descriptors.read([&](const auto& visit) { for_each_kept(slot, visit); });
    slot.descriptors.clear();
    slot.has_read_descriptors = true;
    // those of a heap that was overtaken have been replaced
    if (!is_before_change(slot)) {
        d_senders.describe(slot.id, descriptions);
        const bool is_change =
            d_format && d_description.contradict(descriptions, *d_format);
        if (!is_change || !receives_other_descriptions(slot))
            d_has_new_descriptions |= d_description.add(descriptions);
        if (is_change && d_has_new_descriptions) {
            d_change = slot.id;
            d_change_time = d_now;
            d_change_bits = slot.time.address_bits;
        }
    }
    if (d_has_new_descriptions)
        return;
    if (d_format)
        read_items_again();
    else if (is_unsuitable(slot))
        refuse(slot);
}

// Whether a heap was sent before the one whose descriptors changed the format, but
// arrives after it.
bool heap_router::is_before_change(const heap_slot& slot) const
{
    constexpr std::int64_t max_heaps = 1 << 16;
    if (slot.id.sender != d_change.sender || slot.time.address_bits != d_change_bits ||
        slot.first_packet - d_change_time >= heap_timeout)
        return false;
    heap_time change;
    change.counter = d_change.counter;
    const auto heaps = slot.time.counters_from(change);
    return heaps < 0 && heaps > -max_heaps;
}

// Whether heaps of another sender arrive, which has described them itself. Descriptors
// may also come from a sender without heaps.
bool heap_router::receives_other_descriptions(const heap_slot& slot) const
{
    for (std::size_t output = 0; output < d_locks.size(); ++output)
        if (d_timeline.has_newest(output) && !d_timeline.is_silent(output, d_now))
            for (const auto sender : d_locks[output].senders())
                if (sender && sender != slot.id.sender && d_senders.has_described(sender))
                    return true;
    return false;
}

// Whether the sender of a heap has described other samples than those of the format. If
// no other sender is received, its descriptions are used.
bool heap_router::is_described_otherwise(heap_slot& slot)
{
    const auto& descriptions = d_senders.descriptions(slot.id);
    if (descriptions.empty() || !d_description.contradict(descriptions, *d_format))
        return false;
    // once for each heap: those of several senders may wait
    if (!std::exchange(slot.has_set_format, true) && !receives_other_descriptions(slot) &&
        d_description.add(descriptions)) {
        d_has_new_descriptions = true;
        return true;
    }
    d_no_output_reason.note(cause::other_descriptions);
    if (!std::exchange(d_has_logged_other, true))
        d_log.add(why_no_output());
    return true;
}

// Derives the format from the descriptors. False if it must wait until all samples have
// been produced.
bool heap_router::update_format()
{
    // until heaps of a format arrive, another array may hold the samples
    const auto* current = d_timeline.is_running() ? d_format.get() : nullptr;
    if (!use_format(d_description.format(current)))
        return false;
    d_has_new_descriptions = false;
    if (d_format)
        read_items_again();
    const auto slots = d_slots.collecting();
    for (auto* slot : slots)
        if (is_unsuitable(*slot))
            refuse(*slot);
    return true;
}

// Whether the samples of a heap have been described, but cannot be received. They must
// not wait for other descriptors of their sender, which are those of later heaps.
bool heap_router::is_unsuitable(const heap_slot& slot)
{
    return !d_format && !slot.is_end && d_description.has_unsuitable_samples() &&
           !slot.descriptors.were_found() && !d_senders.descriptions(slot.id).empty();
}

bool heap_router::use_format(std::shared_ptr<const stream_format> format)
{
    if (format && d_format && format->extends(*d_format)) {
        d_format = item_index(std::move(format));
        return true;
    }
    if (!d_window.is_empty()) {
        d_window.flush();
        return false;
    }
    if (d_format && d_timeline.is_running()) {
        if (format)
            d_log.add("the descriptors have changed: the stream starts over");
        d_common_counters.discontinuities.add(1);
    }
    for (const auto* slots : { &d_slots.placed(), &d_slots.refused() })
        while (!slots->empty())
            d_slots.remove(*slots->front());
    for (auto* slot : d_slots.collecting())
        d_slots.set_ready(*slot, false);
    d_senders.clear_values();
    d_format = item_index(std::move(format));
    if (!d_format)
        return true;
    if (d_config.axes.empty() && !d_format->axes_hint.empty())
        d_log.add(d_format->axes_hint);
    const auto& wire_format = d_format->samples_format;
    d_decoder = sample_decoder({ d_config.type, wire_format },
                               d_config.scale.value_or(wire_format.full_scale()));
    d_window.set_decoder(d_decoder);
    d_split_samples.clear();
    d_timeline.set_format(d_format->timestamp_id.has_value());
    for (auto& lock : d_locks)
        lock.restart();
    return true;
}

// Reads the items of all heaps that keep their packets, with a new format or after their
// descriptors have arrived.
void heap_router::read_items_again()
{
    const auto slots = d_slots.collecting(); // update_readiness() changes it
    for (auto* slot : slots) {
        if (slot->descriptors.were_found()) // they have not all arrived
            continue;
        slot->items.restart(d_format->immediates.size());
        slot->is_held = false;
        packet_view items_packet;
        std::size_t count = 0; // of packets of this heap
        bool is_same = true;
        for_each_kept(*slot, [&](const packet_view& packet) {
            heap_items items;
            if (packet.has_items())
                items.add(packet, d_format);
            // the packets from here on may be of the next heap with this counter
            is_same = is_same && !items.contradict(slot->items);
            if (!is_same)
                return;
            ++count;
            if (packet.has_items())
                items_packet = packet;
            if (!slot->items.is_complete(*d_format))
                slot->items.add(packet, d_format);
        });
        d_ignored_packets +=
            d_slots.drop_packets(*slot, count, slot->kept_packets.size());
        update_readiness(*slot, items_packet.pointers ? &items_packet : nullptr);
    }
}

// Places in time

void heap_router::judge(heap_slot& slot)
{
    d_slots.set_ready(slot, false);
    for (auto& held_slot : d_held_slots)
        held_slot = held_slot == &slot ? nullptr : held_slot;
    if (slot.is_end) {
        note_end(slot.id, slot.first_packet, true);
        return refuse(slot);
    }
    if (is_before_change(slot))
        return refuse(slot);
    if (is_described_otherwise(slot)) {
        if (!d_has_new_descriptions) // else it waits for the new format
            refuse(slot);
        return;
    }
    const auto new_verdict = verdict_of(slot);
    slot.verdict = new_verdict.value_or(verdict::misaligned);
    switch (slot.verdict) {
    case verdict::late:
        // It must not change the timeline. Its packets are placed like others, so that
        // the window counts their samples as late.
        slot.has_entered = true;
        [[fallthrough]];
    case verdict::fits:
    case verdict::jump:
    case verdict::new_stream:
        return d_slots.place(slot);
    case verdict::hold:
    case verdict::agrees:
        return hold(slot);
    case verdict::misaligned:
        if (new_verdict)
            note_misaligned(slot.output);
        refuse(slot);
    }
}

// None if the heap is not used, whatever its time is.
std::optional<timeline::verdict> heap_router::verdict_of(heap_slot& slot)
{
    if (!has_usable_items(slot))
        return std::nullopt;
    if (!d_timeline.is_running())
        return verdict::new_stream;
    auto& time = slot.time;
    const bool is_located = d_timeline.locate(time, slot.output);
    if (d_config.stream.is_aligned && d_format->timestamp_id)
        d_timeline.note_timestamp(time, slot.output);
    // Before the time is judged: heaps of another sender agree with each other, which
    // would make the stream jump back and forth between the senders.
    if (has_other_sender(slot, is_located)) {
        d_no_output_reason.note_other_sender(*d_format,
                                             d_locks[slot.output].difference());
        if (!std::exchange(d_has_logged_other, true))
            d_log.add(why_no_output());
        return std::nullopt;
    }
    const auto context = context_of(slot);
    return std::exchange(slot.is_agreed, false)
               ? d_timeline.judge_agreed(time, is_located, slot.output, context)
               : d_timeline.judge(
                     time, is_located, slot.output, context, slot.first_packet);
}

// A sender may leave out items that have not changed.
void heap_router::recall_values(heap_slot& slot)
{
    if (!d_format->immediates.empty())
        d_senders.complete(slot.id, slot.time, slot.first_packet, slot.items);
}

bool heap_router::has_usable_items(heap_slot& slot)
{
    auto& items = slot.items;
    auto& time = slot.time;
    recall_values(slot);
    time.timestamp = items.timestamp.value_or(0);
    time.timestamp_bits = items.timestamp_bits;
    time.length = static_cast<std::int64_t>((items.seen_end - *items.samples_begin) /
                                            d_decoder.wire_bytes());
    time.is_length_known = items.has_known_end();
    const auto& axes = d_config.axes;
    if (items.samples_end == *items.samples_begin)
        d_no_output_reason.note(cause::no_bytes);
    else if ((!d_format->timestamp_id || !axes.empty()) && !items.has_known_end())
        d_no_output_reason.note(axes.empty() ? cause::no_length
                                             : cause::no_length_of_axes);
    else if (!select_output(slot))
        d_no_output_reason.note_no_output(*d_format, items.values);
    else if (!axes.empty() && time.length != static_cast<std::int64_t>(axes.samples()))
        d_no_output_reason.note_wrong_length(time.length, axes.samples());
    else
        return true;
    return false;
}

// The values in items select heaps: one value for all outputs, or one per output.
bool heap_router::select_output(heap_slot& slot) const
{
    bool is_selected = d_config.stream.outputs == 1 || d_config.has_group_for_each_output;
    slot.output = d_config.has_group_for_each_output ? slot.id.group : 0;
    for (std::size_t i = 0; i < d_format->immediates.size(); ++i) {
        const auto& values = d_format->immediates[i].values;
        if (values.empty())
            continue;
        const auto item_value = slot.items.value(i);
        const auto found =
            std::find_if(values.begin(), values.end(), [&](std::int64_t value) {
                return item_value && static_cast<std::uint64_t>(value) == *item_value;
            });
        if (found == values.end())
            return false;
        if (values.size() == 1)
            continue;
        const auto output = static_cast<std::size_t>(found - values.begin());
        if (d_config.has_group_for_each_output && output != slot.id.group)
            return false;
        slot.output = output;
        is_selected = true;
    }
    return is_selected;
}

bool heap_router::has_other_sender(const heap_slot& slot, bool is_located)
{
    const auto output = slot.output;
    auto& lock = d_locks[output];
    if (!d_timeline.has_newest(output) ||
        d_timeline.is_silent(output, slot.first_packet)) {
        lock.release_item();
        return false;
    }
    // an overlapping heap is sought only out of order
    const bool may_differ =
        !d_format->immediates.empty() && is_located &&
        (d_timeline.is_before_newest(slot.time, output) ||
         !d_timeline.continues(slot.time, output, d_window.capacity()));
    const bool was_known = lock.has_item();
    const bool is_refused =
        lock.refuses(slot, may_differ ? d_slots.find_overlapping(slot) : nullptr);
    if (!was_known && lock.has_item())
        withdraw_others(output);
    return is_refused;
}

// Heaps of another sender may have been accepted before a difference was known.
void heap_router::withdraw_others(std::size_t output)
{
    const auto placed_slots = d_slots.placed();
    for (auto* slot : placed_slots)
        if (slot->output == output && d_locks[output].has_other_item(*slot)) {
            if (slot->received_samples)
                d_window.withdraw(output, slot->range(), d_now);
            retire(*slot);
        }
}

// Further packets of a placed heap are ignored.
void heap_router::retire(heap_slot& slot)
{
    finish(slot);
    d_slots.refuse(slot);
}

timeline::heap_context heap_router::context_of(const heap_slot& slot) const
{
    return { d_window.front(),
             d_window.top(),
             d_window.capacity(),
             &d_window.missing(slot.output),
             d_locks[slot.output].admits(slot.socket, slot.id.sender) };
}

// Holds a heap until another one agrees with its time. A single heap with an unexpected
// time may be wrong, and to follow it would break the stream twice: at it and after it.
// If this one agrees with the heap that is held, that one is judged first: it came first,
// and this one then continues the stream from there.
void heap_router::hold(heap_slot& slot)
{
    slot.is_held = true;
    auto& held_slot = d_held_slots[slot.output];
    if (slot.verdict == verdict::agrees) {
        auto& agreed_slot = held_slot ? *held_slot : slot;
        agreed_slot.is_agreed = true;
        d_agreed_slot = &agreed_slot;
        d_slots.set_ready(agreed_slot, true);
        d_slots.set_ready(slot, true);
        return;
    }
    held_slot = &slot;
    d_timeline.hold(slot.time, slot.output);
    d_no_output_reason.note(cause::different_times);
}

// Samples of other heaps come out, so the log must say why this one is ignored.
void heap_router::note_misaligned(std::size_t output)
{
    const auto ticks = d_timeline.noted_step(output);
    const auto step = static_cast<std::uint64_t>(d_config.stream.ticks_per_step);
    if (!ticks || std::exchange(d_has_logged_misaligned, true))
        return;
    if (ticks % step == 0)
        d_log.add("heaps are ignored because their timestamps are no multiples of "
                  "timestamp_step, ",
                  step,
                  ", from the first one; check the sender");
    else
        d_log.add("heaps are ignored because they are ",
                  ticks,
                  " ticks apart, but timestamp_step is ",
                  step,
                  ": set timestamp_step=",
                  ticks);
}

// Adds an accepted heap to the stream. False if samples must be produced before: a new
// stream, and a jump by more than max_gap, move the front of the window, which would lose
// the samples that it holds. The packets of the heap wait in the slot meanwhile, and the
// sockets are not read, so that nothing overtakes them.
bool heap_router::enter_stream(heap_slot& slot)
{
    if (slot.has_entered)
        return true;
    const bool is_new_stream = slot.verdict == verdict::new_stream;
    const bool exceeds_max_gap =
        !is_new_stream && d_timeline.exceeds_max_gap(slot.time, d_window.top());
    if ((is_new_stream || exceeds_max_gap) && !d_window.is_empty()) {
        d_window.flush();
        return false;
    }
    slot.has_entered = true;
    if (exceeds_max_gap)
        skip_to(slot.time.position);
    if (slot.verdict != verdict::fits)
        drop_older(slot, is_new_stream && d_timeline.is_running());
    if (is_new_stream)
        begin_stream(slot);
    auto& lock = d_locks[slot.output];
    if (d_timeline.is_silent(slot.output, slot.first_packet))
        lock.release(); // another sender may take over
    const auto added = d_timeline.add(slot.time, slot.output, slot.first_packet);
    lock.add(slot, added.is_newest, added.is_next);
    log_mismatch();
    release_held(slot);
    return true;
}

void heap_router::begin_stream(heap_slot& slot)
{
    // packets from before the first one may arrive after it, and heaps of two senders may
    // arrive in turn before an item tells them apart
    auto opening_end = d_now;
    if (d_timeline.is_running() || d_config.group_of_socket.size() > 1 ||
        !d_format->immediates.empty())
        opening_end += start_delay;
    if (d_timeline.is_running()) {
        d_common_counters.discontinuities.add(1);
        d_log.add("the timestamps jump: the stream starts over");
    }
    const auto placed_slots = d_slots.placed();
    for (auto* other : placed_slots)
        if (other != &slot)
            retire(*other);
    d_split_samples.clear();
    for (auto& lock : d_locks)
        lock.begin_stream();
    const auto& stream = d_config.stream;
    // multiples of this last a whole number of ticks
    const auto alignment =
        d_config.axes.empty()
            ? std::max<std::int64_t>(
                  stream.samples_per_step /
                      std::gcd(stream.samples_per_step, stream.ticks_per_step),
                  1)
            : stream.samples_per_step;
    // The position in the window is that of the packet that has arrived. Its heap may
    // begin long before, if its first packets were lost, and be longer than the room.
    const auto first_sample =
        static_cast<std::int64_t>(slot.items.first_byte / d_decoder.wire_bytes());
    // what precedes this heap by more than max_gap belongs to the stream before
    const auto max_earlier = d_timeline.is_running() ? stream.max_gap : no_limit;
    slot.time.position = d_window.begin_stream(opening_end, alignment, max_earlier) -
                         first_sample / alignment * alignment;
    d_timeline.begin_stream(slot.time);
}

void heap_router::skip_to(std::int64_t position)
{
    d_log.add(position - d_window.front(),
              " samples are missing, more than max_gap: the stream continues after them");
    d_common_counters.discontinuities.add(1);
    d_window.skip_to(position);
}

// At a jump, packets without items that its sender sent before may belong to the heaps
// before or after it. At a new stream, all heaps before belong to the old one.
void heap_router::drop_older(const heap_slot& accepted, bool is_new_stream)
{
    const auto is_of_sender = [&](const heap_slot& slot) {
        return slot.id.sender == accepted.id.sender && slot.id.group == accepted.id.group;
    };
    const auto collecting_slots = d_slots.collecting();
    for (auto* slot : collecting_slots)
        if (slot->first_packet < accepted.first_packet &&
            (is_new_stream || (!slot->items.is_any() && is_of_sender(*slot))))
            d_slots.remove(*slot);
    // counters that go back while times advance: the sender has restarted
    for (auto* slot : d_slots.placed())
        if (slot != &accepted && is_of_sender(*slot) && slot->output == accepted.output &&
            slot->time.position < accepted.time.position &&
            slot->time.counters_from(accepted.time) >= 0)
            slot->is_superseded = true;
}

// Judges held heaps again that may fit after a heap has been accepted.
void heap_router::release_held(const heap_slot& accepted)
{
    if (accepted.verdict != verdict::fits) {
        for (auto* slot : d_slots.collecting())
            if (slot->is_held)
                d_slots.set_ready(*slot, true);
        return;
    }
    auto* held_slot = d_held_slots[accepted.output];
    if (!held_slot || held_slot == &accepted || held_slot->status != state::collecting)
        return;
    auto time = held_slot->time;
    if (d_timeline.locate(time, held_slot->output) &&
        d_timeline.judge(time,
                         true,
                         held_slot->output,
                         context_of(*held_slot),
                         held_slot->first_packet) == verdict::fits)
        d_slots.set_ready(*held_slot, true);
}

void heap_router::log_mismatch()
{
    const auto mismatch = d_timeline.take_mismatch();
    if (!mismatch)
        return;
    d_log.add("heaps of ",
              mismatch->length,
              " samples are ",
              mismatch->ticks,
              " ticks apart; if none are lost or sent elsewhere, set ",
              mismatch->length == d_config.stream.samples_per_step
                  ? ""
                  : "heap_samples=" + std::to_string(mismatch->length) + " and ",
              "timestamp_step=",
              mismatch->ticks);
}

// Samples

// Places the packets that a slot keeps. False if there is no room for all.
bool heap_router::place_kept(heap_slot& slot)
{
    if (!enter_stream(slot))
        return false;
    std::size_t placed = 0;
    auto result = placement::done;
    for (; placed < slot.kept_packets.size(); ++placed) {
        const auto& kept_packet = slot.kept_packets[placed];
        packet_view packet;
        parse_packet(kept_packet.content.data(), kept_packet.content.size(), packet);
        result = place_samples(slot, packet, kept_packet.time);
        if (result == placement::full)
            break;
        if (result == placement::ignored)
            d_ignored_packets += 1;
    }
    d_slots.drop_packets(slot, 0, placed);
    return result != placement::full;
}

heap_router::outcome heap_router::place(heap_slot& slot, const arrival& packet)
{
    const auto result =
        enter_stream(slot) ? place_samples(slot, packet, packet.time) : placement::full;
    if (result != placement::full)
        return result == placement::done ? outcome::taken : outcome::ignored;
    d_blocked_slot = &slot;
    d_slots.append_packet(slot, packet.datagram, packet.time);
    return outcome::taken;
}

heap_router::placement heap_router::place_samples(heap_slot& slot,
                                                  const packet_view& packet,
                                                  clock::time_point arrival_time)
{
    const auto shift = d_decoder.wire_bytes_log2();
    const auto sample_bytes = std::int64_t{ 1 } << shift;
    auto& time = slot.time;
    const auto samples_begin = *slot.items.samples_begin;
    const auto data_begin = std::max(packet.payload_offset, samples_begin);
    const auto data_end = std::min(packet.payload_end(), slot.items.samples_end);
    if (data_begin >= data_end) {
        d_no_output_reason.note(cause::no_bytes);
        return placement::ignored;
    }
    const auto* data = packet.payload + (data_begin - packet.payload_offset);
    const auto begin = static_cast<std::int64_t>(data_begin - samples_begin);
    auto end = static_cast<std::int64_t>(data_end - samples_begin);
    // a heap of unknown length has at least the samples that have arrived
    if (time.is_length_known)
        end = std::min(end, time.length << shift);
    else
        time.length = std::max(time.length, end >> shift);

    const position_range touched_range{ time.position + (begin >> shift),
                                        time.position +
                                            ((end + sample_bytes - 1) >> shift) };
    if (touched_range.size() <= 0)
        return placement::ignored;
    // Packets that are lost within a long heap make a gap that the timeline does not see.
    // If it exceeds max_gap and the room, it is skipped like others; a smaller one passes
    // through the window as missing samples while this packet waits.
    const auto gap = touched_range.begin - d_window.top();
    if (gap > d_config.stream.max_gap &&
        touched_range.end - d_window.front() > d_window.capacity()) {
        if (!d_window.is_empty()) {
            d_window.flush();
            return placement::full;
        }
        skip_to(touched_range.begin);
    }
    // All checks for room precede the first sample that is placed. So a packet that must
    // wait is placed as a whole later, and none of its samples counts as duplicate.
    if (!d_window.request_room(slot.output, touched_range, d_now))
        return placement::full;
    // values take room until samples are produced: set none without a whole sample
    const bool has_whole_samples = (begin + sample_bytes - 1) >> shift < end >> shift;
    if (has_whole_samples && !set_values(slot))
        return placement::full;
    // A packet may begin and end within a sample, but the window takes whole ones. Each
    // step takes a partial sample at either end, whose bytes are collected until the
    // packet with the others arrives, or all whole samples in between.
    for (auto offset = begin; offset < end;) {
        const auto sample_offset = offset % sample_bytes;
        const bool is_whole = !sample_offset && end - offset >= sample_bytes;
        const auto next_offset =
            is_whole ? offset + ((end - offset) >> shift << shift)
                     : std::min(end, offset - sample_offset + sample_bytes);
        const position_range range{ time.position + (offset >> shift),
                                    time.position +
                                        ((next_offset + sample_bytes - 1) >> shift) };
        const auto* bytes = data + (offset - begin);
        if (!is_whole)
            bytes = d_split_samples.add({ slot.output, range.begin, slot.arrival },
                                        bytes,
                                        static_cast<std::size_t>(sample_offset),
                                        static_cast<std::size_t>(next_offset - offset),
                                        static_cast<std::size_t>(sample_bytes));
        offset = next_offset;
        if (!bytes)
            continue;
        const auto placed = d_window.place(slot.output, range, bytes, d_now);
        if (!placed) {
            d_no_output_reason.note(cause::nothing_new);
            continue;
        }
        slot.last_packet = std::max(slot.last_packet, arrival_time);
        d_timeline.record_progress(time, slot.output, arrival_time);
        slot.received_samples += static_cast<std::int64_t>(placed);
        if (slot.has_all_samples())
            d_counters[slot.output].heaps_received.add(1);
    }
    return placement::done;
}

bool heap_router::set_values(heap_slot& slot)
{
    if (slot.has_set_values || slot.range().end <= d_window.front())
        return true;
    const auto& values = slot.items.values;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] && !d_window.set_item(slot.output, i, slot.range(), *values[i]))
            return false;
    slot.has_set_values = true;
    return true;
}

// Ends of streams

// An end-of-stream heap ends the run only if heaps of its sender arrived in the run. It
// may be repeated, also in the next run.
void heap_router::note_end(const heap_id& heap, clock::time_point time, bool is_in_order)
{
    const auto sender = heap.sender;
    const bool is_repeated = d_last_end.sender == sender &&
                             d_last_end.counter == heap.counter &&
                             time - d_last_end_time < heap_timeout;
    if (is_repeated)
        return;
    bool is_received = false;
    for (std::size_t output = 0; output < d_locks.size(); ++output)
        if (d_locks[output].has_admitted(sender)) {
            d_timeline.end_stream(output);
            is_received = true;
        }
    if (d_timeline.is_running() ? !is_received : d_last_sender != sender)
        return;
    d_has_stopped = true;
    if (!is_in_order) // heaps before it wait: it is noted again after them
        return;
    d_last_end = heap;
    d_last_end_time = time;
}

} // namespace gr::spead
