#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# librfm2g: every function of the library, every check and status, from a program that was linked with the shared
# library and from one with the static; handles that are closed while threads and callbacks use them.
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

mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
export LD_LIBRARY_PATH=/add

# put FILE VALUE
put() {
	echo "$2" >"$1"
}

# make SIZE
make() {
	mkdir "$config/$name" && put "$config/$name/node_id" "$NODE" && put "$config/$name/size" "$1" &&
		put "$config/$name/enable" 1
}

# all SIZE API THREADS
all() {
	check "a device of $1" make "$1"
	results "$2" "$RFM" "$NODE" "$(<"$config/$name/size")"
	results "$3" "$RFM" $((60 / slow / slow)) $((slow == 1 ? 50 : 0))
	check "it can go: nobody has it open" put "$config/$name/enable" 0
	rmdir "$config/$name"
}

# The smallest device: a special mapping that fails spoils none that follows.
small() {
	check "a device of 4K" make 4K
	python3 - "$RFM" >"$results/small" <<-'END'
	import ctypes, sys
	lib = ctypes.CDLL("librfm2g.so.0")
	h, memory = ctypes.c_void_p(), ctypes.c_void_p()
	def maps(offset):
	    return lib.RFM2gUserMemory(h, ctypes.byref(memory), ctypes.c_uint64(offset), 1)
	def case(good, text):
	    print(int(not good), text, flush=True)
	case(lib.RFM2gOpen(sys.argv[1].encode(), ctypes.byref(h)) == 0, "Python opens it")
	case(maps(0) == 0, "all of it is mapped")
	case(maps(1) != 0, "a DMA buffer without an address is not")
	case(maps(0) == 0, "the memory is, then")
	case(lib.RFM2gMapDeviceMemory(h, 2, ctypes.byref(memory)) == 0, "and registers")
	case(lib.RFM2gClose(ctypes.byref(h)) == 0, "closed")
	END
	ok $? "Python ends by itself"
	results cat "$results/small"
	rmdir "$config/$name"
}

# A device is taken away from a program that has it open.
gone() {
	check "a device" make 1M
	python3 - "$RFM" "$results/opened" >"$results/gone" <<-'END' &
	import ctypes, os, sys, time
	lib = ctypes.CDLL("librfm2g.so.0")
	h, word, memory = ctypes.c_void_p(), ctypes.c_uint32(), ctypes.c_void_p()
	def case(good, text):
	    print(int(not good), text, flush=True)
	path = sys.argv[1].encode()
	case(lib.RFM2gOpen(path, ctypes.byref(h)) == 0, "Python opens it")
	case(lib.RFM2gUserMemory(h, ctypes.byref(memory), ctypes.c_uint64(0), 2) == 0, "and maps it")
	case(lib.RFM2gPoke32(h, 8, 77) == 0, "and writes")
	open(sys.argv[2], "w").close()
	while os.path.exists(path):
	    time.sleep(0.05)
	case(lib.RFM2gPoke32(h, 8, 78) == 6, "without a device, writing is an OS_ERROR")
	case(lib.RFM2gxFlush(h) == 6, "so is flushing")
	case(lib.RFM2gPeek32(h, 8, ctypes.byref(word)) == 0 and word.value == 77, "reading goes on")
	case(lib.RFM2gUnMapUserMemory(h, ctypes.byref(memory), 2) == 0, "it can be unmapped")
	case(lib.RFM2gEnableEventCallback(h, 1, ctypes.CFUNCTYPE(None)(lambda: None)) == 6, "there is no callback")
	case(lib.RFM2gClose(ctypes.byref(h)) == 0, "and closed")
	case(lib.RFM2gOpen(path, ctypes.byref(h)) == 10, "not opened again")
	END
	until [[ -e $results/opened ]]; do
		sleep 0.05
	done
	rmdir "$config/$name"
	wait $!
	ok $? "Python ends by itself"
	results cat "$results/gone"
}

# RFM2gxExplain() finds the name of a group with thousands of members.
sed "s/^disk:.*/disk:x:6:$(printf 'member%d,' {1..3000})last/" /etc/group >"$results/group"
check "a large group" mount --bind "$results/group" /etc/group
all 64M api threads
all 1M api-static threads-static
small
gone
umount /etc/group
finish
