#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# librfm2g: programs that are linked with the shared and with the static library test all of its functions, checks and
# statuses. Handles are closed while threads and callbacks use them.
#
#   each node for itself: api, threads ---> librfm2g ---> /dev/rfm2gN
#
# nodes: 1
# kernels: uml
# long: stock-6.1 debug-6.1
# load: krdma vrfm
# library: librfm2g/api librfm2g/threads
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh

name=${RFM#/dev/}
config=/sys/kernel/config/vrfm

mount_configfs
export LD_LIBRARY_PATH=/add

# make SIZE: create this node's device without peers, and enable it.
make() {
	mkdir "$config/$name" && put "$config/$name/node_id" "$NODE" && put "$config/$name/size" "$1" &&
		put "$config/$name/enable" 1
}

# all SIZE API THREADS: run the programs API and THREADS on a device of SIZE.
all() {
	check "$2: a device of $1 is created" make "$1"
	results "$2" "$RFM" "$NODE" "$(<"$config/$name/size")"
	results "$3" "$RFM" $((60 / slow / slow)) $((slow == 1 ? 50 : 0))
	check "$2: a closed device of $1 is disabled" put "$config/$name/enable" 0
	rmdir "$config/$name"
}

# Map a device of the smallest size. A refused mapping of a DMA buffer does not affect later mappings.
small() {
	check "a device of 4K is created" make 4K
	python3 - "$RFM" >"$results/small" <<-'END'
	import ctypes, sys
	lib = ctypes.CDLL("librfm2g.so.0")
	h, memory = ctypes.c_void_p(), ctypes.c_void_p()
	def maps(offset):
	    return lib.RFM2gUserMemory(h, ctypes.byref(memory), ctypes.c_uint64(offset), 1)
	def case(good, text):
	    print(int(not good), text, flush=True)
	case(lib.RFM2gOpen(sys.argv[1].encode(), ctypes.byref(h)) == 0, "Python opens a device of 4K")
	case(maps(0) == 0, "all of a device of 4K is mapped")
	case(maps(1) != 0, "mapping a DMA buffer without an address is refused")
	case(maps(0) == 0, "a device of 4K is mapped after a refused mapping")
	case(lib.RFM2gMapDeviceMemory(h, 2, ctypes.byref(memory)) == 0, "registers of a device of 4K are mapped")
	case(lib.RFM2gClose(ctypes.byref(h)) == 0, "Python closes a device of 4K")
	END
	ok $? "Python exits with status 0 after a device of 4K"
	results cat "$results/small"
	rmdir "$config/$name"
}

# Remove a device while a program has it open.
gone() {
	check "a device is created to be removed" make 1M
	python3 - "$RFM" "$results/opened" >"$results/gone" <<-'END' &
	import ctypes, os, sys, time
	lib = ctypes.CDLL("librfm2g.so.0")
	h, word, memory = ctypes.c_void_p(), ctypes.c_uint32(), ctypes.c_void_p()
	def case(good, text):
	    print(int(not good), text, flush=True)
	path = sys.argv[1].encode()
	case(lib.RFM2gOpen(path, ctypes.byref(h)) == 0, "Python opens a device to be removed")
	case(lib.RFM2gUserMemory(h, ctypes.byref(memory), ctypes.c_uint64(0), 2) == 0, "Python maps a device to be removed")
	case(lib.RFM2gPoke32(h, 8, 77) == 0, "Python writes to a device to be removed")
	open(sys.argv[2], "w").close()
	while os.path.exists(path):
	    time.sleep(0.05)
	case(lib.RFM2gPoke32(h, 8, 78) == 6, "writing to a removed device is an OS_ERROR")
	case(lib.RFM2gxFlush(h) == 6, "flushing a removed device is an OS_ERROR")
	case(lib.RFM2gPeek32(h, 8, ctypes.byref(word)) == 0 and word.value == 77, "reading a removed device succeeds by its mapping")
	case(lib.RFM2gUnMapUserMemory(h, ctypes.byref(memory), 2) == 0, "a removed device is unmapped")
	case(lib.RFM2gEnableEventCallback(h, 1, ctypes.CFUNCTYPE(None)(lambda: None)) == 6, "enabling a callback of a removed device is an OS_ERROR")
	case(lib.RFM2gClose(ctypes.byref(h)) == 0, "a removed device is closed")
	case(lib.RFM2gOpen(path, ctypes.byref(h)) == 10, "opening a removed device is refused")
	END
	until [[ -e $results/opened ]]; do
		sleep 0.05
	done
	rmdir "$config/$name"
	wait $!
	ok $? "Python exits with status 0 after a removed device"
	results cat "$results/gone"
}

# Give the group disk thousands of members: RFM2gxExplain() must find the name of such a group.
sed "s/^disk:.*/disk:x:6:$(printf 'member%d,' {1..3000})last/" /etc/group >"$results/group"
check "a group with thousands of members is mounted" mount --bind "$results/group" /etc/group
all 64M api threads
all 1M api-static threads-static
small
gone
umount /etc/group
finish
