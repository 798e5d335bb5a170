#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# rfm2g: a device without peers behaves like a card, with several sizes of memory. Programs test every command, mapping,
# register and limit of Documentation/interface.rst. Invalid settings are refused, a fuzzer makes random calls, and no
# resource is left. A process reads a block while another process writes 8 bytes into it: each aligned 8 bytes of the block
# are those before the write or those after the write. This needs two processors.
#
#   each node for itself: abi, fuzz, own, rfm ---> /dev/rfm2gN
#
# nodes: 1
# kernels: uml stock-6.1
# long: stock-6.12 stock-new debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/abi rfm2g/fuzz rfm2g/own rfm2g/locks
# guarantees: G1 G7 G10
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

name=${RFM#/dev/}
config=$rfm_config
# Unit 7 is free on every node.
spare=$config/rfm2g7

mount_configfs

# make DIRECTORY NODE [SIZE]: create a device with node id NODE in DIRECTORY of configfs, and enable it.
make() {
	mkdir "$1" && put "$1/node_id" "$2" && put "$1/size" "${3:-64M}" && put "$1/enable" 1
}

cards() {
	local size
	for size in 64M 1M; do
		check "a device of $size is created" make "$config/$name" "$NODE" "$size"
		check "a device of $size has a node in /dev" test -c "$RFM"
		results abi "$RFM" "$NODE" "$(<"$config/$name/size")"
		check "a device of $size is removed" rmdir "$config/$name"
		check "a removed device of $size has no node in /dev" test ! -e "$RFM"
	done
}

small() {
	make "$config/$name" "$NODE" 4K
	ok $? "a device of one page is created"
	printf 'hello' | dd of="$RFM" bs=5 count=1 status=none conv=notrunc
	[[ $(head -c 5 "$RFM") == hello ]]
	ok $? "a device of one page can be written and read by common programs"
	[[ $(wc -c <"$RFM") == 4096 ]]
	ok $? "a device of one page has 4096 bytes to read"
	refused "No space left" "writing behind the end of a device of one page is refused" dd if=/dev/zero of="$RFM" bs=1 seek=4096 count=1 conv=notrunc
	rmdir "$config/$name"
}

# Check the files by which programs and administrators find the device: /proc/rfm2g, /dev and sysfs.
page() {
	local count
	make "$config/$name" "$NODE" 1M
	barrier made
	count=$(awk '$1 == "RFM2G_DEVICE_COUNT" { print $2; exit } NR == 1 { exit 1 }' /proc/rfm2g)
	[[ $count == "$(find /dev -maxdepth 1 -name 'rfm2g*' | wc -l)" ]]
	ok $? "/proc/rfm2g counts the devices in its first line: $count"
	grep -q "^$name node $NODE network 1 size 1048576 opens 0 refused 0 security none$" /proc/rfm2g
	ok $? "/proc/rfm2g has node, network and size of the device"
	[[ $(stat -c %a:%u:%g "$RFM") == 660:0:0 ]]
	ok $? "the device belongs to root: $(stat -c %a:%u:%g "$RFM")"
	[[ $(<"/sys/class/rfm2g/$name/node_id") == "$NODE" && $(<"/sys/class/rfm2g/$name/size") == 1048576 &&
		$(<"/sys/class/rfm2g/$name/network") == 1 ]]
	ok $? "sysfs has node, size and network of the device"
	barrier seen
	rmdir "$config/$name"
	barrier gone
}

busy() {
	make "$config/$name" "$NODE" 1M
	exec 7<>"$RFM"
	refused busy "disabling an open device is refused" put "$config/$name/enable" 0
	refused busy "changing the size of an open device is refused" put "$config/$name/size" 2M
	refused busy "changing the node of an open device is refused" put "$config/$name/node_id" 9
	check "enabling an enabled device succeeds" put "$config/$name/enable" 1
	exec 7>&-
	check "a closed device is disabled" put "$config/$name/enable" 0
	check "the size of a disabled device is changed" put "$config/$name/size" 2M
	check "a device with a changed size is enabled" put "$config/$name/enable" 1
	exec 7<>"$RFM"
	python3 -c 'import select; p = select.poll(); p.register(7, select.POLLIN); print(p.poll(60000))' >"$results/polled" &
	sleep $((2 * slow))
	check "removing the directory of an open device succeeds" rmdir "$config/$name"
	wait $!
	[[ $(<"$results/polled") == "[(7, 24)]" ]]
	ok $? "poll() on a removed device is woken: $(<"$results/polled")"
	refused "No such device" "reading an open file of a removed device fails" dd bs=1 count=1 <&7
	exec 7>&-
}

# Run the program locks, in which processes of this node share locks in a mapping.
locked() {
	make "$config/$name" "$NODE" 1M
	results locks "$RFM"
	rmdir "$config/$name"
	barrier locked
}

# allocated: print the number of pages that this kernel has allocated since it booted.
allocated() {
	awk '/^pgalloc/ { n += $2 } END { print n }' /proc/vmstat
}

# The driver must refuse a device of 2 GiB before it allocates memory, because no node has that much available memory. Other
# programs and devices are not affected.
too_large() {
	local before pid
	make "$config/$name" "$NODE" 1M
	(exec sleep 1000) &
	pid=$!
	mkdir $spare && put $spare/node_id 99 && put $spare/size 2G
	before=$(allocated)
	refused "Cannot allocate memory" "a device larger than the available memory is refused" put $spare/enable 1
	(($(allocated) - before < 16384))
	ok $? "a device larger than the available memory allocates nothing: $(($(allocated) - before)) pages"
	rmdir $spare
	printf 'here' | dd of="$RFM" bs=4 seek=1 status=none conv=notrunc
	[[ $(od -An -c -j 4 -N 4 "$RFM" | tr -d ' ') == here ]]
	ok $? "another device works after a device that is too large was refused"
	check "a program lives after a device that is too large was refused" kill "$pid"
	wait "$pid" 2>/dev/null
	rmdir "$config/$name"
	barrier too_large
}

# Watch a word while a process writes it all the time.
watched() {
	make "$config/$name" "$NODE" 1M
	results own "$RFM" busy
	rmdir "$config/$name"
	barrier watched
}

wrong() {
	local turn
	refused Invalid "a device with another name is refused" mkdir $config/card0
	refused Invalid "a device with a number that is too high is refused" mkdir $config/rfm2g8
	refused Invalid "a device with a number of two digits is refused" mkdir $config/rfm2g10
	# Run one node at a time, because on uml-debug the nodes share a kernel.
	for ((turn = 1; turn <= NODES; turn++)); do
		((turn != NODE)) || wrong_values
		barrier "wrong$turn"
	done
}

wrong_values() {
	local size
	mkdir $spare
	refused Invalid "enabling a device without a node is refused" put $spare/enable 1
	refused "out of range" "node 256 is refused" put $spare/node_id 256
	refused Invalid "a node that is no number is refused" put $spare/node_id one
	refused Invalid "a node with a leading 0 is refused" put $spare/node_id 010
	refused Invalid "a port with a leading 0 is refused" put $spare/port 05565
	refused Invalid "a size with a leading 0 is refused" put $spare/size 064M
	for size in 4095 6K 3G 0 18446744073709551616 18446744073709617152 17179869185G; do
		refused "out of range" "a size of $size is refused" put $spare/size $size
	done
	for size in M -4K 4Q "4K x"; do
		refused Invalid "a size of '$size' is refused" put $spare/size "$size"
	done
	[[ $(<$spare/size) == 67108864 && -z $(<$spare/node_id) && $(<$spare/network) == 1 && $(<$spare/enable) == 0 ]]
	ok $? "refused settings leave the defaults unchanged"
	check "a size of 1G is accepted" put $spare/size 1G
	rmdir $spare
}

untorn_reads() {
	check "a device without peers is created" make "$config/$name" "$NODE" 1M
	check "blocks that are read during writes have no torn word" rfm whole 4096 $((2 * slow))
	check "the device is removed" rmdir "$config/$name"
}

# at_random CALLS: make CALLS random calls with random arguments, and check that the device works afterwards.
at_random() {
	make "$config/$name" "$NODE" 1M
	results fuzz "$RFM" "$1" "$RANDOM$RANDOM"
	# A device that was disabled and enabled again must behave like a new one.
	put "$config/$name/enable" 0
	put "$config/$name/enable" 1
	results abi "$RFM" "$NODE" 1048576
	rmdir "$config/$name"
}

barrier begun
cards
small
page
busy
locked
too_large
watched
untorn_reads
wrong
at_random 100000
finish
