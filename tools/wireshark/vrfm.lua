-- SPDX-License-Identifier: GPL-2.0
-- Dissector of records of vrfm, which "vrfmctl tap --pcapng" writes as packets of the link type USER0.
-- Documentation/tap.rst describes the records, and Documentation/protocol.rst the messages.
--
-- wireshark -X lua_script:vrfm.lua FILE

local vrfm = Proto("vrfm", "vrfm reflective memory")

local TYPES = {
	[1] = "LOST", [16] = "STORED", [17] = "FOUND", [18] = "APPLIED", [19] = "PLACED", [20] = "SENT",
	[21] = "RECEIVED", [22] = "RAISED", [23] = "TOLD", [24] = "HOLE", [25] = "IMAGE_AT",
}
local MESSAGES = {
	[1] = "ACK", [2] = "UPDATE", [3] = "EVENT", [4] = "PROBE", [5] = "NOTE", [6] = "PULL", [7] = "IMAGE",
	[8] = "STAGE",
}
local EVENTS = {
	[0] = "RESET", [1] = "INTR1", [2] = "INTR2", [3] = "INTR3", [4] = "INTR4", [5] = "BAD_DATA",
	[6] = "RXFIFO_FULL", [7] = "ROGUE_PKT", [8] = "RXFIFO_AFULL", [9] = "SYNC_LOSS",
	[10] = "MEM_WRITE_INHIBITED", [11] = "LOCAL_MEM_PARITY_ERR",
}
local NOTES = { [1] = "INFO", [2] = "LOAD", [3] = "SWEPT", [4] = "PULLED", [5] = "GONE" }
local NO_NODE = 0xFFFF
local HEAD = 64

local f = vrfm.fields
f.type = ProtoField.uint16("vrfm.type", "Type", base.DEC, TYPES)
f.flags = ProtoField.uint16("vrfm.flags", "Flags", base.HEX)
f.merged = ProtoField.bool("vrfm.flags.merged", "Merged", 16, nil, 1)
f.cut = ProtoField.bool("vrfm.flags.cut", "Payload is cut", 16, nil, 2)
f.own = ProtoField.bool("vrfm.flags.own", "Written by this node", 16, nil, 4)
f.image = ProtoField.bool("vrfm.flags.image", "From an image", 16, nil, 16)
f.node = ProtoField.uint16("vrfm.node", "Node")
f.offset = ProtoField.uint32("vrfm.offset", "Offset", base.HEX)
f.length = ProtoField.uint32("vrfm.length", "Length")
f.serial = ProtoField.uint64("vrfm.serial", "Serial")
f.time = ProtoField.uint64("vrfm.time", "Time of the ring, ns")
f.cookie = ProtoField.uint64("vrfm.cookie", "Cookie", base.HEX)
f.count = ProtoField.uint64("vrfm.lost", "Dropped records")
f.peer = ProtoField.uint32("vrfm.peer", "Peer")
f.bytes = ProtoField.bytes("vrfm.bytes", "Bytes")
f.event = ProtoField.uint32("vrfm.event", "Event", base.DEC, EVENTS)
f.data = ProtoField.uint32("vrfm.data", "Data")
f.number = ProtoField.uint64("vrfm.number", "Number of the event")
f.to = ProtoField.uint32("vrfm.to", "Receiver")
f.message = ProtoField.uint8("vrfm.message.type", "Message", base.DEC, MESSAGES)
f.message_flags = ProtoField.uint8("vrfm.message.flags", "Flags of the message", base.HEX)
f.synced = ProtoField.bool("vrfm.message.synced", "SYNCED", 8, nil, 1)
f.grant = ProtoField.bool("vrfm.message.grant", "GRANT", 8, nil, 2)
f.answer = ProtoField.bool("vrfm.message.answer", "ANSWER", 8, nil, 4)
f.direct = ProtoField.bool("vrfm.message.direct", "DIRECT", 8, nil, 8)
f.runs = ProtoField.uint16("vrfm.message.runs", "Runs")
f.sequence = ProtoField.uint64("vrfm.message.sequence", "Sequence")
f.applied = ProtoField.uint64("vrfm.message.applied", "Applied")
f.run = ProtoField.none("vrfm.run", "Run")
f.kind = ProtoField.uint8("vrfm.note.kind", "Kind", base.DEC, NOTES)
f.note_node = ProtoField.uint8("vrfm.note.node", "Node of the note")
f.note_flags = ProtoField.uint16("vrfm.note.flags", "Flags of the note", base.HEX)
f.note_number = ProtoField.uint32("vrfm.note.number", "Number")
f.note_id = ProtoField.uint64("vrfm.note.id", "Id", base.HEX)
f.note_value = ProtoField.uint64("vrfm.note.value", "Value")
f.first = ProtoField.uint32("vrfm.pull.first", "First page")
f.pages = ProtoField.uint32("vrfm.pull.pages", "Pages")

local cut = ProtoExpert.new("vrfm.payload_cut", "The payload is cut", expert.group.UNDECODED, expert.severity.NOTE)
vrfm.experts = { cut }

local function add_flags(tree, field, range, bits)
	local flags = tree:add_le(field, range)
	for _, bit in ipairs(bits) do
		flags:add_le(bit, range)
	end
end

-- COUNT runs of an UPDATE, IMAGE or EVENT. Return their number, which is smaller if the body is cut, and the offset
-- behind them.
local function add_runs(body, tree, count)
	local at, n = 0, 0
	while n < count and at + 8 <= body:len() do
		local len = body(at + 4, 4):le_uint()
		local present = math.min(len, body:len() - at - 8)
		local run = tree:add(f.run, body(at, 8 + present))
		run:add_le(f.offset, body(at, 4))
		run:add_le(f.length, body(at + 4, 4))
		if present > 0 then
			run:add(f.bytes, body(at + 8, present))
		end
		run:append_text(string.format(": offset 0x%x, %u bytes", body(at, 4):le_uint(), len))
		at = at + 8 + math.floor((len + 7) / 8) * 8
		n = n + 1
	end
	return n, at
end

-- The event at the end of an EVENT.
local function add_event(body, tree, at)
	if body:len() < at + 16 then
		return ""
	end
	tree:add_le(f.event, body(at, 4))
	tree:add_le(f.data, body(at + 4, 4))
	tree:add_le(f.number, body(at + 8, 8))
	return string.format(" %s data %u", EVENTS[body(at, 4):le_uint()] or "?", body(at + 4, 4):le_uint())
end

local function add_note(body, tree)
	if body:len() < 24 then
		return ""
	end
	tree:add_le(f.kind, body(0, 1))
	tree:add_le(f.note_node, body(1, 1))
	tree:add_le(f.note_flags, body(2, 2))
	tree:add_le(f.note_number, body(4, 4))
	tree:add_le(f.note_id, body(8, 8))
	tree:add_le(f.note_value, body(16, 8))
	return " " .. (NOTES[body(0, 1):uint()] or "?")
end

local function add_pull(body, tree)
	if body:len() < 8 then
		return ""
	end
	tree:add_le(f.first, body(0, 4))
	tree:add_le(f.pages, body(4, 4))
	if body:len() > 8 then
		tree:add(f.bytes, body(8))
	end
	return string.format(" pages %u to %u", body(0, 4):le_uint(), body(0, 4):le_uint() + body(4, 4):le_uint() - 1)
end

-- The body of a message. Return what the list of packets shows.
local function add_body(kind, body, tree, runs)
	if kind == "UPDATE" or kind == "IMAGE" then
		return string.format(" %u runs", (add_runs(body, tree, runs)))
	elseif kind == "EVENT" then
		local n, at = add_runs(body, tree, runs)
		return (n > 0 and string.format(" %u runs", n) or "") .. add_event(body, tree, at)
	elseif kind == "NOTE" then
		return add_note(body, tree)
	elseif kind == "PULL" then
		return add_pull(body, tree)
	end
	return ""
end

local function message(tvb, pinfo, tree, sent)
	local kind = MESSAGES[tvb(40, 1):uint()] or "?"
	local peer, own = tvb(44, 4):le_uint(), "this node"
	tree:add_le(f.message, tvb(40, 1))
	add_flags(tree, f.message_flags, tvb(41, 1), { f.synced, f.grant, f.answer, f.direct })
	tree:add_le(f.runs, tvb(42, 2))
	tree:add_le(f.peer, tvb(44, 4))
	tree:add_le(f.sequence, tvb(48, 8))
	tree:add_le(f.applied, tvb(56, 8))
	pinfo.cols.src = sent and own or "node " .. peer
	pinfo.cols.dst = sent and "node " .. peer or own
	local body = tvb:len() > HEAD and tvb(HEAD):tvb() or nil
	return string.format("%s%s sequence %s applied %s", kind, body and add_body(kind, body, tree, tvb(42, 2):le_uint()) or "",
			     tostring(tvb(48, 8):le_uint64()), tostring(tvb(56, 8):le_uint64()))
end

local function write(tvb, pinfo, tree, kind)
	pinfo.cols.src = "node " .. tvb(6, 2):le_uint()
	if kind == "PLACED" then
		tree:add_le(f.peer, tvb(40, 4))
		pinfo.cols.dst = "node " .. tvb(40, 4):le_uint()
	end
	if tvb:len() > HEAD then
		tree:add(f.bytes, tvb(HEAD))
	end
	return string.format("offset 0x%x length %u", tvb(8, 4):le_uint(), tvb(12, 4):le_uint())
end

local function event(tvb, pinfo, tree, kind)
	local node, to = tvb(6, 2):le_uint(), tvb(48, 4):le_uint()
	tree:add_le(f.event, tvb(40, 4))
	tree:add_le(f.data, tvb(44, 4))
	if node ~= NO_NODE then
		pinfo.cols.src = "node " .. node
	end
	if kind == "TOLD" then
		tree:add_le(f.to, tvb(48, 4))
		pinfo.cols.dst = to == NO_NODE and "all nodes" or "node " .. to
	end
	return string.format("%s data %u", EVENTS[tvb(40, 4):le_uint()] or "?", tvb(44, 4):le_uint())
end

local function content(tvb, pinfo, tree, kind)
	if kind == "SENT" or kind == "RECEIVED" then
		return message(tvb, pinfo, tree, kind == "SENT")
	elseif kind == "RAISED" or kind == "TOLD" then
		return event(tvb, pinfo, tree, kind)
	elseif kind == "LOST" then
		tree:add_le(f.count, tvb(40, 8))
		return tostring(tvb(40, 8):le_uint64()) .. " records"
	elseif kind == "HOLE" then
		pinfo.cols.src = "node " .. tvb(6, 2):le_uint()
		return tvb(12, 4):le_uint() > 0 and "may write directly" or "does not write directly"
	end
	return write(tvb, pinfo, tree, kind)
end

function vrfm.dissector(tvb, pinfo, root)
	if tvb:len() < HEAD then
		return 0
	end
	local kind = TYPES[tvb(0, 2):le_uint()] or "?"
	local tree = root:add(vrfm, tvb(), "vrfm " .. kind)
	pinfo.cols.protocol = "vrfm"
	tree:add_le(f.type, tvb(0, 2))
	add_flags(tree, f.flags, tvb(2, 2), { f.merged, f.cut, f.own, f.image })
	tree:add_le(f.node, tvb(6, 2))
	tree:add_le(f.offset, tvb(8, 4))
	tree:add_le(f.length, tvb(12, 4))
	tree:add_le(f.serial, tvb(16, 8))
	tree:add_le(f.time, tvb(24, 8))
	tree:add_le(f.cookie, tvb(32, 8))
	if bit.band(tvb(2, 2):le_uint(), 2) ~= 0 then
		tree:add_proto_expert_info(cut)
	end
	pinfo.cols.info = kind .. " " .. content(tvb, pinfo, tree, kind)
	return tvb:len()
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, vrfm)
