#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# rfm2g: a device without peers is a card for programs that know cards: every command, mapping, register and limit of
# rfm2g.md, in several sizes; what an admin does wrong; a fuzzer; and nothing is left of it afterwards.
#
#   each node for itself: abi, fuzz, own ---> /dev/rfm2gN
#
# nodes: 1
# kernels: uml stock-6.1
# long: stock-6.12 stock-new debug-6.1
# load: krdma vrfm
# append: ncpus=1
# programs: rfm2g/abi rfm2g/fuzz rfm2g/own rfm2g/locks
# guarantees: G1 G7 G10
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

name=${RFM#/dev/}
config=/sys/kernel/config/vrfm
# 7 is free on every node: each node has its own below it.
spare=$config/rfm2g7

mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config

# refused ERRNO DESCRIPTION COMMAND...: it fails with that error's text
refused() {
	local wanted=$1 text=$2 said
	shift 2
	said=$(LC_ALL=C "$@" 2>&1)
	[[ $? != 0 && $said == *"$wanted"* ]]
	ok $? "$text: ${said##*: }"
}

# put FILE VALUE
put() {
	echo "$2" >"$1"
}

# make DIRECTORY NODE [SIZE]: and enable it
make() {
	mkdir "$1" && put "$1/node_id" "$2" && put "$1/size" "${3:-64M}" && put "$1/enable" 1
}

cards() {
	local size
	for size in 64M 1M; do
		check "a device of $size" make "$config/$name" "$NODE" "$size"
		check "has its node in /dev" test -c "$RFM"
		results abi "$RFM" "$NODE" "$(<"$config/$name/size")"
		check "it goes" rmdir "$config/$name"
		check "and so does $RFM" test ! -e "$RFM"
	done
}

small() {
	make "$config/$name" "$NODE" 4K
	ok $? "a device of one page"
	printf 'hello' | dd of="$RFM" bs=5 count=1 status=none conv=notrunc
	[[ $(head -c 5 "$RFM") == hello ]]
	ok $? "can be written and read by any program"
	[[ $(wc -c <"$RFM") == 4096 ]]
	ok $? "and ends where it ends"
	refused "No space left" "a byte behind the end" dd if=/dev/zero of="$RFM" bs=1 seek=4096 count=1 conv=notrunc
	rmdir "$config/$name"
}

# Who looks for a card asks /proc.
page() {
	local count
	make "$config/$name" "$NODE" 1M
	barrier made
	count=$(awk '$1 == "RFM2G_DEVICE_COUNT" { print $2; exit } NR == 1 { exit 1 }' /proc/rfm2g)
	[[ $count == "$(find /dev -maxdepth 1 -name 'rfm2g*' | wc -l)" ]]
	ok $? "/proc/rfm2g counts the devices in its first line: $count"
	grep -q "^$name node $NODE network 1 size 1048576 opens 0 refused 0$" /proc/rfm2g
	ok $? "and says what each is"
	[[ $(stat -c %a:%u:%g "$RFM") == 660:0:0 ]]
	ok $? "the device is root's: $(stat -c %a:%u:%g "$RFM")"
	[[ $(<"/sys/class/rfm2g/$name/node_id") == "$NODE" && $(<"/sys/class/rfm2g/$name/size") == 1048576 &&
		$(<"/sys/class/rfm2g/$name/network") == 1 ]]
	ok $? "sysfs tells node, size and network"
	barrier seen
	rmdir "$config/$name"
	barrier gone
}

busy() {
	make "$config/$name" "$NODE" 1M
	exec 7<>"$RFM"
	refused busy "disabling a device that is open" put "$config/$name/enable" 0
	refused busy "changing its size" put "$config/$name/size" 2M
	refused busy "changing its node" put "$config/$name/node_id" 9
	check "enabling it twice is nothing" put "$config/$name/enable" 1
	exec 7>&-
	check "closed, it can be disabled" put "$config/$name/enable" 0
	check "and changed" put "$config/$name/size" 2M
	check "and enabled" put "$config/$name/enable" 1
	exec 7<>"$RFM"
	python3 -c 'import select; p = select.poll(); p.register(7, select.POLLIN); print(p.poll(60000))' >"$results/polled" &
	sleep $((2 * slow))
	check "removing its directory does not ask" rmdir "$config/$name"
	wait $!
	[[ $(<"$results/polled") == "[(7, 24)]" ]]
	ok $? "who polls it is woken: $(<"$results/polled")"
	refused "No such device" "who has it open is told" dd bs=1 count=1 <&7
	exec 7>&-
}

# Locks that processes of this node share in a mapping.
locked() {
	make "$config/$name" "$NODE" 1M
	results locks "$RFM"
	rmdir "$config/$name"
	barrier locked
}

# allocated: pages that this kernel has allocated since it booted
allocated() {
	awk '/^pgalloc/ { n += $2 } END { print n }' /proc/vmstat
}

# Refused by a look at what is available: nothing is taken first. No node has 2 GiB.
too_large() {
	local before
	mkdir $spare && put $spare/node_id 99 && put $spare/size 2G
	before=$(allocated)
	refused "Cannot allocate memory" "a device that the machine cannot hold" put $spare/enable 1
	(($(allocated) - before < 16384))
	ok $? "it took no memory: $(($(allocated) - before)) pages"
	rmdir $spare
	barrier too_large
}

# Who watches is never let alone.
watched() {
	make "$config/$name" "$NODE" 1M
	results own "$RFM" busy
	rmdir "$config/$name"
	barrier watched
}

wrong() {
	local turn
	refused Invalid "a device of another name" mkdir $config/card0
	refused Invalid "of a number that is too high" mkdir $config/rfm2g8
	refused Invalid "of two digits" mkdir $config/rfm2g10
	# One at a time where the nodes share a kernel.
	for ((turn = 1; turn <= NODES; turn++)); do
		((turn != NODE)) || wrong_values
		barrier "wrong$turn"
	done
}

wrong_values() {
	local size
	mkdir $spare
	refused Invalid "enabling it without a node" put $spare/enable 1
	refused "out of range" "a node of 256" put $spare/node_id 256
	refused Invalid "a node that is no number" put $spare/node_id one
	for size in 4095 6K 3G 0 18446744073709551616 18446744073709617152 17179869185G; do
		refused "out of range" "a size of $size" put $spare/size $size
	done
	for size in M -4K 4Q "4K x"; do
		refused Invalid "a size of '$size'" put $spare/size "$size"
	done
	[[ $(<$spare/size) == 67108864 && -z $(<$spare/node_id) && $(<$spare/network) == 1 && $(<$spare/enable) == 0 ]]
	ok $? "nothing of it is left"
	check "a whole gigabyte is a size" put $spare/size 1G
	rmdir $spare
}

# at_random CALLS: any command with any argument
at_random() {
	make "$config/$name" "$NODE" 1M
	results fuzz "$RFM" "$1" "$RANDOM$RANDOM"
	# Disabled and enabled, it is as new.
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
wrong
at_random 100000
finish
