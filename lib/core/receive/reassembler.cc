/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "protocol/item_number.h"
#include "reassembler.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace gr::spead {

namespace {

// Packets from before the first one of a stream may arrive up to this much later.
constexpr std::chrono::milliseconds start_delay{ 10 };

// Limits of the work in one call.
constexpr std::size_t descriptors_at_once = 4;
constexpr std::size_t packets_at_once = 2;
constexpr std::size_t drops_at_once = 64;
constexpr std::size_t max_overtaking = 16; // stored packets of a descriptor heap
constexpr std::size_t bytes_at_once = 32 << 10;

} // namespace

reassembler::reassembler(config how,
                         output_window& window,
                         std::vector<source_counter_set>& counters,
                         source_counter_set& common,
                         reject_counters& rejects,
                         rate_limited_log& log)
    : d_config(std::move(how)),
      d_window(window),
      d_counters(counters),
      d_common(common),
      d_rejects(rejects),
      d_log(log),
      d_decoder(sample_format()),
      d_tracker(d_config.stream, window, d_heaps, log),
      d_store(common.packets_ignored)
{
    if (d_config.format)
        use_format(d_config.format);
}

void reassembler::start_run()
{
    d_tracker.start_run();
    d_split.clear();
    d_has_stopped = false;
    d_stream_start = {};
    d_jump = {};
    d_last_sender = 0;
    d_has_logged_other = d_has_logged_misaligned = false;
    d_no_output_reason.clear();
}

void reassembler::end_run()
{
    d_store.clear();
    forget_heaps();
}

bool reassembler::place_packet(const received_packet& packet, clock::time_point now)
{
    arrival view;
    if (const auto error = parse_packet(packet.data, packet.bytes, view);
        error != packet_error::none) {
        reject(error, packet.data, packet.bytes);
        return true;
    }
    view.from = packet;
    view.heap = { view.heap_counter,
                  packet.sender,
                  d_config.group_of_socket[packet.socket] };
    view.time = d_now = now;
    if (view.has_descriptors || d_collectors.is_incomplete())
        collect_descriptors(view);
    // packets with descriptors, and later ones, wait until these have been read
    const bool must_wait = d_collectors.delays(view.heap);
    const bool can_place = d_format && !d_store.has_ready() && !d_has_new_descriptions &&
                           !d_collectors.has_work() && !must_wait;
    const auto done = can_place ? place(view) : result::wait;
    if (done == result::full)
        return false;
    if (done == result::rejected)
        return true;
    if (!can_place && view.is_end_of_stream)
        note_end(view, false);
    d_common.packets_received.add(1);
    d_common.bytes_received.add(packet.bytes);
    if (done == result::wait)
        d_store.add(packet, view.heap, now, d_store.has_ready() && !must_wait);
    if (done == result::ignored)
        d_common.packets_ignored.add(1);
    if (!view.is_end_of_stream)
        d_last_sender = packet.sender;
    if (!d_format)
        d_no_output_reason.note(!d_refusal.empty() ? d_refusal
                                : d_collectors.is_incomplete()
                                    ? cause::partial_descriptors
                                    : cause::no_descriptors);
    return true;
}

void reassembler::reject(packet_error error, const std::byte* datagram, std::size_t bytes)
{
    d_rejects.add(error);
    d_no_output_reason.note_rejected(error, datagram, bytes);
}

// Packets

reassembler::result reassembler::place(const arrival& packet)
{
    if (packet.is_end_of_stream) {
        note_end(packet, true);
        return result::ignored;
    }
    // heaps of other channels may have the same counter
    auto* known = packet.is_single ? nullptr : d_heaps.find(packet.heap);
    const bool has_word = known && packet.has_items() &&
                          known->key_index < packet.items &&
                          packet.word(known->key_index) == known->key_word;
    // after a pause, the sender may have restarted
    if (known && packet.time - known->last_packet >=
                     std::max<clock::duration>(heap_timeout,
                                               d_tracker.silence_timeout(known->output)))
        known = nullptr;
    if (known && known->status == state::placed && (has_word || !packet.has_items())) {
        if (known->heap_length != packet.heap_length) {
            d_rejects.add(packet_error::contradiction);
            return result::rejected;
        }
        if (known->needs_items && !packet.has_items())
            return result::ignored;
        return place_samples(*known, packet);
    }
    if (packet.has_items() || (known && known->status == state::incomplete))
        return read_heap(packet, known);
    if (known)
        return result::ignored;
    d_no_output_reason.note(cause::no_first_packet);
    return result::wait;
}

// Reads the items of a heap whose position is unknown.
reassembler::result reassembler::read_heap(const arrival& packet, received_heap* known)
{
    const bool is_placed = known && known->status == state::placed;
    const bool is_incomplete = known && known->status == state::incomplete;
    auto values = std::move(d_heap.values);
    d_heap = { packet.heap,
               packet.heap_length,
               packet.from.socket,
               packet.flavour.heap_address_bits };
    d_heap.values = std::move(values);
    d_heap.values.assign(d_format->immediates.size(), std::nullopt);
    d_heap.needs_items = known; // its counter is reused, perhaps by another stream
    if (is_incomplete) {
        d_heap = *known;
        d_heap.values.resize(d_format->immediates.size()); // which may have grown
    }
    // a stored packet is older than those that arrived since
    d_heap.last_packet = std::max(d_heap.last_packet, packet.time);
    read_items(packet);
    const bool has_time = d_heap.timestamp || !d_format->timestamp_id;
    if (has_time && d_heap.samples_begin)
        return classify(packet, is_placed ? known : nullptr);
    const bool has_part =
        d_heap.samples_begin || d_heap.timestamp || d_heap.timestamp_address;
    if (is_placed) // its items are in several packets
        return has_part || known->needs_items ? result::ignored
                                              : place_samples(*known, packet);
    if (has_part && !has_time)
        d_no_output_reason.note_lacking(*d_format->timestamp_id, "the timestamp", packet);
    else
        d_no_output_reason.note_lacking(d_format->samples_id, "the samples", packet);
    if (has_part && !is_incomplete)
        release(&d_heap); // stored packets may hold the other items
    d_heap.status = has_part ? state::incomplete : state::ignored;
    record(d_heap);
    return has_part ? result::wait : result::ignored;
}

// Places the packet if its heap belongs to the stream. \p placed is a placed heap with
// the same counter, or nullptr.
reassembler::result reassembler::classify(const arrival& packet, received_heap* placed)
{
    using verdict = stream_tracker::verdict;
    const auto output = output_of(d_heap);
    d_heap.output = output.value_or(0);
    std::optional<verdict> found;
    if (d_heap.samples_end == *d_heap.samples_begin)
        d_no_output_reason.note(cause::no_bytes);
    else if (!d_format->timestamp_id && d_heap.samples_end == received_heap::unknown_end)
        d_no_output_reason.note(cause::no_length);
    else if (!output)
        d_no_output_reason.note_no_output(*d_format, d_heap.values);
    else if (placed && d_heap.timestamp == placed->timestamp && d_format->timestamp_id &&
             d_heap.samples_begin == placed->samples_begin &&
             d_heap.output == placed->output && d_heap.heap_length == placed->heap_length)
        return place_samples(*placed, packet); // same heap, items in another order
    else if (!has_axes(d_heap))
        d_no_output_reason.note_wrong_length(d_heap.length, d_config.axes.samples());
    else
        found = d_tracker.classify(d_heap, packet.time);
    const bool is_new_time = found == verdict::new_stream || found == verdict::time_jump;
    if (found == verdict::fits || is_new_time) {
        const bool begins = found == verdict::new_stream;
        const bool exceeds_max_gap = !begins && d_tracker.exceeds_max_gap(d_heap);
        if ((begins || exceeds_max_gap) && !d_window.is_empty()) {
            d_window.give_up();
            return result::full;
        }
        if (exceeds_max_gap)
            skip_to(d_heap.position);
        if (found == verdict::time_jump)
            d_jump = { packet.heap, packet.time };
        if (begins && d_tracker.is_running())
            d_stream_start = packet.time;
        if (begins)
            begin_stream();
        d_heap.status = state::placed;
        d_tracker.append_heap(d_heap, packet.time);
        release(is_new_time ? nullptr : &d_heap);
        if (const auto* waiting = d_tracker.confirmed(d_heap.output))
            release(waiting);
        return place_samples(record(d_heap), packet);
    }
    if (placed) // packets without items may belong to either heap
        placed->needs_items = true;
    if (found == verdict::unconfirmed) {
        if (const auto* waiting = d_tracker.confirmed(d_heap.output))
            release(waiting);
        d_no_output_reason.note(cause::different_times);
        return result::wait;
    }
    if (found == verdict::misaligned)
        note_misaligned();
    if (found == verdict::other_sender) {
        d_no_output_reason.note_other_sender(*d_format, d_tracker.item_that_differs());
        if (!std::exchange(d_has_logged_other, true))
            d_log.add(why_no_output());
    }
    if (placed) {
        d_rejects.add(packet_error::contradiction);
        return result::rejected;
    }
    const bool is_late = found == verdict::late;
    d_heap.status = is_late ? state::placed : state::ignored;
    auto& heap = record(d_heap);
    return is_late ? place_samples(heap, packet) : result::ignored;
}

// Samples of other heaps come out, so the log must say why this one is ignored.
void reassembler::note_misaligned()
{
    const auto ticks = d_tracker.ticks_per_heap(d_heap.output);
    if (!ticks || std::exchange(d_has_logged_misaligned, true))
        return;
    d_log.add("heaps are ignored because they are ",
              ticks,
              " ticks apart, but timestamp_step is ",
              d_config.stream.ticks_per_step,
              ": set timestamp_step=",
              ticks);
}

void reassembler::begin_stream()
{
    // packets from before the first one may arrive after it
    auto until = d_now;
    if (d_tracker.is_running() || d_config.group_of_socket.size() > 1)
        until += start_delay;
    if (d_tracker.is_running()) {
        d_common.discontinuities.add(1);
        d_log.add("the timestamps jump: the stream starts over");
    }
    d_heaps.for_each([this](received_heap& each) {
        if (each.status == state::placed) {
            finish(each);
            each.status = state::ignored;
        }
    });
    d_split.clear();
    const auto& how = d_config.stream;
    // multiples of this last a whole number of ticks
    const auto granule =
        d_config.axes.empty()
            ? std::max<std::int64_t>(how.samples_per_step / std::gcd(how.samples_per_step,
                                                                     how.ticks_per_step),
                                     1)
            : how.samples_per_step;
    const auto position = d_window.begin_stream(until, granule);
    const auto first =
        static_cast<std::int64_t>(d_heap.first_byte / d_decoder.wire_bytes());
    d_tracker.begin_stream(d_heap, position - first / granule * granule);
}

void reassembler::skip_to(std::int64_t position)
{
    d_log.add(position - d_window.front(),
              " samples are missing, more than max_gap: the stream continues after them");
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
        heap.status = state::none;
    });
}

void reassembler::finish(const received_heap& heap)
{
    if (heap.status != state::placed || heap.received == 0)
        return;
    if (heap.received < heap.length || d_heaps.has_gap_after(heap))
        d_counters[heap.output].heaps_incomplete.add(1);
    else if (heap.samples_end == received_heap::unknown_end)
        d_counters[heap.output].heaps_received.add(1);
}

// Samples

reassembler::result reassembler::place_samples(received_heap& heap, const arrival& packet)
{
    const auto shift = d_decoder.wire_bytes_log2();
    const auto size = std::int64_t{ 1 } << shift;
    const auto first = std::max(packet.payload_offset, *heap.samples_begin);
    const auto last = std::min(packet.payload_end(), heap.samples_end);
    if (first >= last) {
        d_no_output_reason.note(cause::no_bytes);
        return result::ignored;
    }
    const auto* data = packet.payload + (first - packet.payload_offset);
    const auto begin = static_cast<std::int64_t>(first - *heap.samples_begin);
    auto end = static_cast<std::int64_t>(last - *heap.samples_begin);
    if (heap.samples_end == received_heap::unknown_end)
        heap.length = std::max(heap.length, end >> shift);
    else
        end = std::min(end, heap.length << shift);

    const position_range touched{ heap.position + (begin >> shift),
                                  heap.position + ((end + size - 1) >> shift) };
    if (touched.size() <= 0)
        return result::ignored;
    const auto ahead = touched.begin - d_window.top();
    if (ahead > d_config.stream.max_gap &&
        touched.end - d_window.front() > d_window.capacity()) {
        if (!d_window.is_empty()) {
            d_window.give_up();
            return result::full;
        }
        skip_to(touched.begin);
    }
    if (!d_window.request_room(heap.output, touched, d_now))
        return result::full;
    // values take room until samples are produced: set none without a whole sample
    const bool has_whole_samples = (begin + size - 1) >> shift < end >> shift;
    if (has_whole_samples && !set_values(heap))
        return result::full;
    // each step takes a partial sample at either end, or all whole samples in between
    for (auto at = begin; at < end;) {
        const auto offset = at % size;
        const bool is_whole = !offset && end - at >= size;
        const auto next = is_whole ? at + ((end - at) >> shift << shift)
                                   : std::min(end, at - offset + size);
        const position_range range{ heap.position + (at >> shift),
                                    heap.position + ((next + size - 1) >> shift) };
        const auto* bytes = data + (at - begin);
        if (!is_whole)
            bytes = d_split.add({ heap.output, range.begin, heap },
                                bytes,
                                static_cast<std::size_t>(offset),
                                static_cast<std::size_t>(next - at),
                                static_cast<std::size_t>(size));
        at = next;
        if (!bytes)
            continue;
        const auto placed = d_window.place(heap.output, range, bytes, d_now);
        if (!placed) {
            d_no_output_reason.note(cause::nothing_new);
            continue;
        }
        heap.last_packet = std::max(heap.last_packet, packet.time);
        d_tracker.record_progress(heap, packet.time);
        heap.received += static_cast<std::int64_t>(placed);
        if (heap.received == heap.length &&
            heap.samples_end != received_heap::unknown_end)
            d_counters[heap.output].heaps_received.add(1);
    }
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

void reassembler::read_items(const packet_view& packet)
{
    constexpr auto none = max_packet_items;
    const auto& format = *d_format;
    auto timestamp = none, samples = none;
    for (std::size_t i = 0; i < packet.items; ++i) {
        const auto item = packet.item(i);
        if (item.id == format.timestamp_id)
            timestamp = i;
        else if (item.id == format.samples_id &&
                 (!item.is_immediate || packet.is_single)) // firmware ignores the mode
            samples = i;
        else if (const auto known = d_immediates.find(item.id);
                 known != d_immediates.end())
            d_heap.values[known->second] =
                number_of(packet, i, format.immediates[known->second].format);
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
        d_heap.key_index = recognised;
        d_heap.key_word = packet.word(recognised);
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

// Whether the heap is as long as the axes say, if they are given.
bool reassembler::has_axes(const received_heap& heap) const
{
    return d_config.axes.empty() || heap.samples_end == received_heap::unknown_end ||
           heap.length == static_cast<std::int64_t>(d_config.axes.samples());
}

// The values in items select heaps: one value for all outputs, or one per output.
std::optional<std::size_t> reassembler::output_of(const received_heap& heap) const
{
    bool is_selected = d_config.stream.outputs == 1 || d_config.has_group_for_each_output;
    auto output = heap.group;
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
        if (d_config.has_group_for_each_output && output != heap.group)
            return std::nullopt;
        is_selected = true;
    }
    return is_selected ? std::optional(output) : std::nullopt;
}

// Descriptors

// Descriptors from an ignored sender do not change the stream. Packets of a descriptor
// heap may overtake its first one.
void reassembler::collect_descriptors(const arrival& packet)
{
    const auto output = d_config.has_group_for_each_output
                            ? std::optional(packet.heap.group)
                            : std::nullopt;
    if (d_tracker.ignores_sender(
            packet.from.socket, packet.from.sender, output, packet.time))
        return;
    const bool has_begun = d_collectors.collects(packet.heap);
    d_collectors.add(packet, packet.heap, packet.time);
    if (has_begun)
        return;
    auto left = max_overtaking;
    for (const auto& entry : d_store) {
        if (!left || !d_collectors.collects(entry.heap))
            continue;
        packet_view view;
        parse_packet(entry.data, entry.bytes, view);
        d_collectors.add(view, entry.heap, entry.time);
        --left;
    }
}

// False if a new format must wait until all samples have been produced.
bool reassembler::read_descriptors()
{
    if (!d_collectors.has_work() && !d_has_new_descriptions)
        return true;
    for (std::size_t i = 0; i < descriptors_at_once && d_collectors.has_work(); ++i) {
        if (d_collectors.has_next()) {
            const auto heap = d_collectors.read_next();
            if (confirms_format(heap))
                d_collectors.confirm(heap);
        } else if (auto description = d_collectors.take_next()) {
            d_has_new_descriptions |= merge(d_descriptions, std::move(*description));
        }
    }
    if (d_collectors.has_work())
        return true;
    if (d_has_new_descriptions) {
        std::shared_ptr<const stream_format> format;
        try {
            format = described_format();
            d_refusal.clear();
        } catch (const std::invalid_argument& error) {
            format.reset();
            d_refusal = error.what();
        }
        if (!use_format(std::move(format)))
            return false;
        d_has_new_descriptions = false;
    }
    if (d_format)
        release();
    return true;
}

// The format that the descriptors give or, if items are set, do not contradict. Throws
// std::invalid_argument with the reason if there is none.
std::shared_ptr<const stream_format> reassembler::described_format() const
{
    if (d_config.format) {
        check_samples(*d_config.format, d_descriptions, d_config.type);
        return d_config.format;
    }
    // until heaps of a format arrive, another array may hold the samples
    const auto* current = d_tracker.is_running() ? d_format.get() : nullptr;
    auto format = std::make_shared<const stream_format>(
        format_for(d_descriptions, d_config.type, d_config.axes, current));
    if (!format->timestamp_id && d_config.stream.outputs > 1)
        throw std::invalid_argument(
            "the descriptors contain no timestamp to align the outputs; "
            "use a source for each stream, or set items");
    return format;
}

// Whether samples of a heap whose descriptors are arriving need not wait for the others:
// those of the samples and of the timestamp are known or, if items are set, that of the
// samples suits.
bool reassembler::confirms_format(const heap_id& heap)
{
    if (d_format && d_config.format) {
        const auto* samples = d_collectors.find(heap, d_format->samples_id);
        return samples &&
               is_compatible(*samples, d_format->samples_format, d_config.type);
    }
    const auto is_same = [&](std::uint64_t id) {
        const auto known = std::find_if(d_descriptions.begin(),
                                        d_descriptions.end(),
                                        [&](const auto& each) { return each.id == id; });
        const auto* described = d_collectors.find(heap, id);
        return described && known != d_descriptions.end() && *described == *known;
    };
    return d_format && is_same(d_format->samples_id) &&
           (!d_format->timestamp_id || is_same(*d_format->timestamp_id));
}

void reassembler::index_immediates()
{
    d_immediates.clear();
    for (std::size_t i = 0; i < d_format->immediates.size(); ++i)
        d_immediates.emplace(d_format->immediates[i].id, i);
}

bool reassembler::use_format(std::shared_ptr<const stream_format> format)
{
    if (format && d_format && format->extends(*d_format)) {
        d_format = std::move(format);
        index_immediates();
        return true;
    }
    if (!d_window.is_empty()) {
        d_window.give_up();
        return false;
    }
    if (d_format && d_tracker.is_running()) {
        if (format)
            d_log.add("the descriptors have changed: the stream starts over");
        d_common.discontinuities.add(1);
    }
    forget_heaps();
    d_format = std::move(format);
    if (!d_format)
        return true;
    if (d_config.axes.empty() && !d_format->axes_hint.empty())
        d_log.add(d_format->axes_hint);
    index_immediates();
    const auto& numbers = d_format->samples_format;
    d_decoder = sample_decoder({ d_config.type, numbers },
                               d_config.scale.value_or(numbers.full_scale()));
    d_window.set_decoder(d_decoder);
    d_split.clear();
    d_tracker.set_format(d_format->timestamp_id.has_value());
    return true;
}

// Stored packets

// Makes stored packets ready to be placed, of this heap or of all that do not wait for
// descriptors.
void reassembler::release(const heap_id* of)
{
    d_store.release([&](const packet_store::entry& each) {
        if (each.time < d_stream_start || (of && !(each.heap == *of)) ||
            d_collectors.delays(each.heap))
            return false;
        if (each.time >= d_jump.time || each.heap.sender != d_jump.heap.sender ||
            each.heap.group != d_jump.heap.group)
            return true;
        packet_view packet;
        parse_packet(each.data, each.bytes, packet);
        return packet.has_items();
    });
}

bool reassembler::resume(clock::time_point now)
{
    d_now = now;
    if (!read_descriptors())
        return false;
    if (!d_format)
        return true;
    d_store.drop_before(now - heap_timeout, drops_at_once);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < packets_at_once && bytes <= bytes_at_once; ++i) {
        if (!d_store.has_ready())
            break;
        const auto entry = d_store.next_ready();
        bytes += entry->bytes;
        arrival packet;
        parse_packet(entry->data, entry->bytes, packet);
        packet.from = *entry;
        packet.heap = entry->heap;
        packet.time = entry->time;
        const auto done = place(packet);
        if (done == result::full)
            return false;
        if (done == result::wait) {
            d_store.clear_ready(entry);
            continue;
        }
        if (done == result::ignored || done == result::rejected)
            d_common.packets_ignored.add(1);
        d_store.remove(entry);
    }
    return true;
}

// Ends of streams

// An end-of-stream heap ends the run only if heaps of its sender arrived in the run. It
// may be repeated, also in the next run.
void reassembler::note_end(const arrival& packet, bool is_in_order)
{
    const auto sender = packet.from.sender;
    const bool is_repeated = d_last_end.sender == sender &&
                             d_last_end.counter == packet.heap_counter &&
                             packet.time - d_last_end_time < heap_timeout;
    if (is_repeated)
        return;
    const bool is_received = d_tracker.note_end(sender);
    if (d_tracker.is_running() ? !is_received : d_last_sender != sender)
        return;
    d_has_stopped = true;
    if (!is_in_order) // it is stored, and noted again when it is placed
        return;
    d_last_end = packet.heap;
    d_last_end_time = packet.time;
}

} // namespace gr::spead
