-- Copyright 2026 The gr-spead authors
-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Dissector for SPEAD version 4 with item pointers of 64 bits ("SPEAD: Streaming Protocol
-- for Exchanging Astronomical Data", version 1.2) and IDs of at most 31 bits. It
-- recognises packets on any UDP port for which Wireshark has no other dissector.

local spead = Proto("spead", "Streaming Protocol for Exchanging Astronomical Data")

local fields = {
    magic = ProtoField.uint8("spead.magic", "Magic number", base.HEX),
    version = ProtoField.uint8("spead.version", "Version"),
    id_bytes = ProtoField.uint8("spead.item_pointer_width", "Item pointer width (bytes of mode and ID)"),
    address_bytes = ProtoField.uint8("spead.heap_address_width", "Heap address width (bytes)"),
    reserved = ProtoField.uint16("spead.reserved", "Reserved", base.HEX),
    items = ProtoField.uint16("spead.items", "Number of items"),
    heap_counter = ProtoField.uint64("spead.heap_counter", "Heap counter"),
    heap_length = ProtoField.uint64("spead.heap_length", "Heap length"),
    payload_offset = ProtoField.uint64("spead.payload_offset", "Payload offset"),
    payload_length = ProtoField.uint64("spead.payload_length", "Payload length"),
    stream_control = ProtoField.uint64("spead.stream_control", "Stream control"),
    timestamp = ProtoField.uint64("spead.timestamp", "Timestamp"),
    immediate = ProtoField.bool("spead.item.immediate", "Immediate"),
    id = ProtoField.uint32("spead.item.id", "ID", base.HEX),
    name = ProtoField.string("spead.item.name", "Name"),
    value = ProtoField.uint64("spead.item.value", "Value", base.DEC_HEX),
    address = ProtoField.uint64("spead.item.address", "Offset in the heap", base.DEC_HEX),
    payload = ProtoField.bytes("spead.payload", "Payload"),
    end_of_stream = ProtoField.bool("spead.end_of_stream", "End of stream"),
}
spead.fields = fields

local malformed = ProtoExpert.new(
    "spead.malformed", "Malformed packet", expert.group.MALFORMED, expert.severity.ERROR)
spead.experts = { malformed }

local HEADER, POINTER = 8, 8
local HEAP_COUNTER, HEAP_LENGTH, PAYLOAD_OFFSET, PAYLOAD_LENGTH = 1, 2, 3, 4
local DESCRIPTOR, STREAM_CONTROL, DESCRIPTOR_NAME, DESCRIPTOR_ID = 5, 6, 0x10, 0x14
local TIMESTAMP = 0x1600

-- IDs of the standard, then those of MeerKAT and of Effelsberg's EDD (katgpucbf), and of
-- SKA-Low's station beams.
local NAMES = {
    [0x00] = "null",
    [HEAP_COUNTER] = "heap counter",
    [HEAP_LENGTH] = "heap length",
    [PAYLOAD_OFFSET] = "payload offset",
    [PAYLOAD_LENGTH] = "payload length",
    [DESCRIPTOR] = "descriptor",
    [STREAM_CONTROL] = "stream control",
    [DESCRIPTOR_NAME] = "descriptor: name",
    [0x11] = "descriptor: description",
    [0x12] = "descriptor: shape",
    [0x13] = "descriptor: format",
    [DESCRIPTOR_ID] = "descriptor: ID",
    [0x15] = "descriptor: dtype",
    [TIMESTAMP] = "timestamp",
    [0x1800] = "xeng_raw",
    [0x3000] = "channel information (SKA-Low)",
    [0x3001] = "station information (SKA-Low)",
    [0x3010] = "scan ID (SKA-Low)",
    [0x3101] = "digitiser_id",
    [0x3102] = "digitiser_status",
    [0x3300] = "samples",
    [0x4101] = "feng_id",
    [0x4103] = "frequency",
    [0x4300] = "feng_raw",
    [0x5000] = "bf_raw",
}

local STANDARD_FIELDS = {
    [HEAP_COUNTER] = fields.heap_counter,
    [HEAP_LENGTH] = fields.heap_length,
    [PAYLOAD_OFFSET] = fields.payload_offset,
    [PAYLOAD_LENGTH] = fields.payload_length,
    [STREAM_CONTROL] = fields.stream_control,
    [TIMESTAMP] = fields.timestamp,
}

-- By sender and destination: the names of items in descriptors.
local described = {}
function spead.init()
    described = {}
end

local function is_spead(buffer)
    if buffer:len() < HEADER or buffer(0, 2):uint() ~= 0x5304 then
        return false
    end
    local id_bytes, address_bytes = buffer(2, 1):uint(), buffer(3, 1):uint()
    return id_bytes > 0 and id_bytes <= 4 and id_bytes + address_bytes == POINTER
end

-- The item pointer at an offset: its ID, its mode, and the range of its value.
local function item_pointer(buffer, at, address_bytes)
    local id_bytes = POINTER - address_bytes
    local id = buffer(at, id_bytes):uint()
    local is_immediate = buffer(at, 1):uint() >= 0x80
    if is_immediate then
        id = id - 2 ^ (8 * id_bytes - 1)
    end
    return id, is_immediate, buffer(at + id_bytes, address_bytes)
end

-- Dissects a packet, or a descriptor, which is encoded as a packet of its own. Returns the
-- values of immediate items as UInt64 and the offsets of others, by ID.
local function dissect(buffer, tree, names, is_descriptor)
    local items = buffer(6, 2):uint()
    local address_bytes = buffer(3, 1):uint()
    local header = tree:add(spead, buffer(0, HEADER), "Header")
    header:add(fields.magic, buffer(0, 1))
    header:add(fields.version, buffer(1, 1))
    header:add(fields.id_bytes, buffer(2, 1))
    header:add(fields.address_bytes, buffer(3, 1))
    header:add(fields.reserved, buffer(4, 2))
    header:add(fields.items, buffer(6, 2))

    local values, descriptors, addresses = {}, {}, {}
    local present = math.min(items, math.floor((buffer:len() - HEADER) / POINTER))
    if present < items then
        header:add_proto_expert_info(malformed,
            string.format("%d item pointers, but the packet ends after %d", items, present))
    end
    for i = 0, present - 1 do
        local at = HEADER + i * POINTER
        local id, is_immediate, range = item_pointer(buffer, at, address_bytes)
        local value = range:uint64()
        local name = names[id] or NAMES[id] or ""
        local text = string.format("Item 0x%04x%s: %s%s", id, name ~= "" and " " .. name or "",
            is_immediate and "" or "at ", tostring(value))
        local item = tree:add(spead, buffer(at, POINTER), text)
        item:add(fields.immediate, buffer(at, 1), is_immediate)
        item:add(fields.id, buffer(at, POINTER - address_bytes), id)
        if name ~= "" then
            item:add(fields.name, buffer(at, POINTER), name):set_generated()
        end
        item:add(is_immediate and fields.value or fields.address, range)
        if is_immediate and STANDARD_FIELDS[id] then
            item:add(STANDARD_FIELDS[id], range)
        end
        if is_immediate then
            values[id] = value
        else
            addresses[#addresses + 1] = value:tonumber()
            if id == DESCRIPTOR or id == DESCRIPTOR_NAME then
                descriptors[#descriptors + 1] = { id = id, address = value:tonumber() }
            end
        end
    end

    local payload = HEADER + items * POINTER
    if payload > buffer:len() then
        return values
    end
    local length = buffer:len() - payload
    local claimed = values[PAYLOAD_LENGTH] and values[PAYLOAD_LENGTH]:tonumber()
    if claimed and (claimed > length or (claimed < length and not is_descriptor)) then
        tree:add_proto_expert_info(malformed, string.format(
            "payload length %.0f, but %d bytes follow the items", claimed, length))
    end
    length = math.min(length, claimed or length)
    if length > 0 then
        tree:add(fields.payload, buffer(payload, length))
    end

    -- descriptors that this packet holds whole
    local offset = values[PAYLOAD_OFFSET] and values[PAYLOAD_OFFSET]:tonumber() or 0
    local heap_length = values[HEAP_LENGTH] and values[HEAP_LENGTH]:tonumber() or offset + length
    addresses[#addresses + 1] = heap_length
    for _, each in ipairs(descriptors) do
        local last = heap_length
        for _, address in ipairs(addresses) do
            if address > each.address and address < last then
                last = address
            end
        end
        local first = each.address - offset
        local size = last - each.address
        if first >= 0 and size > 0 and first + size <= length then
            local range = buffer(payload + first, size)
            if each.id == DESCRIPTOR_NAME then
                values.name = range:string()
            elseif is_spead(range:tvb()) then
                local subtree = tree:add(spead, range, "Descriptor")
                local about = dissect(range:tvb(), subtree, {}, true)
                local id = about[DESCRIPTOR_ID]
                if id and about.name then
                    about.name = about.name:gsub("[^\32-\126]", "?")
                    names[id:tonumber()] = about.name
                    subtree:append_text(string.format(" of 0x%04x, %s", id:tonumber(), about.name))
                end
            end
        end
    end
    return values, length
end

function spead.dissector(buffer, pinfo, tree)
    if not is_spead(buffer) then
        return 0
    end
    pinfo.cols.protocol = "SPEAD"
    local stream = string.format("%s %s:%d", pinfo.src, pinfo.dst, pinfo.dst_port)
    described[stream] = described[stream] or {}
    local subtree = tree:add(spead, buffer(),
        string.format("SPEAD-64-%d", 8 * buffer(3, 1):uint()))
    local values, length = dissect(buffer, subtree, described[stream])

    local summary = values[HEAP_COUNTER] and "Heap " .. tostring(values[HEAP_COUNTER]) or "No heap counter"
    local offset, heap = values[PAYLOAD_OFFSET], values[HEAP_LENGTH]
    for id, is_missing in pairs({
        [HEAP_COUNTER] = not values[HEAP_COUNTER],
        [PAYLOAD_LENGTH] = not values[PAYLOAD_LENGTH],
        [PAYLOAD_OFFSET] = heap and not offset,
    }) do
        if is_missing then
            subtree:add_proto_expert_info(malformed, "no " .. NAMES[id])
        end
    end
    if length and offset and heap then
        summary = string.format("%s, bytes %s + %d of %s", summary, tostring(offset), length, tostring(heap))
        if offset:tonumber() + length > heap:tonumber() then
            subtree:add_proto_expert_info(malformed, string.format(
                "the payload ends at %.0f, beyond the heap length %s",
                offset:tonumber() + length, tostring(heap)))
        end
    elseif length then
        summary = string.format("%s, %d bytes", summary, length)
    end
    if values[TIMESTAMP] then
        summary = string.format("%s, timestamp %s", summary, tostring(values[TIMESTAMP]))
    end
    if values[STREAM_CONTROL] and values[STREAM_CONTROL] == UInt64(2) then
        summary = summary .. ", end of stream"
        subtree:add(fields.end_of_stream, true):set_generated()
    end
    subtree:append_text(", " .. summary)
    pinfo.cols.info = summary
    return buffer:len()
end

spead:register_heuristic("udp", function(buffer, pinfo, tree)
    return is_spead(buffer) and spead.dissector(buffer, pinfo, tree) > 0
end)
DissectorTable.get("udp.port"):add_for_decode_as(spead)
