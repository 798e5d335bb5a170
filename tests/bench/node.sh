#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# The script that tools/bench runs on the nodes. Node 1 is the server, and the last node measures; both may be the same
# node. The nodes between them only receive the updates of vrfm.
#
# The first argument may be security=LEVEL, the level of the devices of vrfm in tests that set none themselves. Each
# other argument is a job "KEY TEST VARIANTS ROUNDS [NAME=NUMBER]...". TEST is one of these:
#   a test of krdma_bench
#   user          compares krdma's stream with ib_write_bw
#   krping-NAME   a test of krping
#   blk           writes to disks of krping_blk
#   vrfm-NAME     a test of vbench
#   ntr-NAME      compares ntrdma with other devices, see ntr.sh
#   memory        measures the memory of devices and links
#   join          measures how long a new device loads the image
#   remote        counts the messages to the receiver of direct writes
#   sizes, grow   write to larger memories, or to more peers
#   beside        writes while a process stores into many pages
#   reading       writes while a program reads /proc/rfm2g
#   joining       writes while a node joins
#   claimed       stores in a loop
#   levels        compares a level of security with none
#   fan           writes to more peers with a level of security
#   cut, cutpoke  write while the cable is cut
# The test "memory", and those below it in this list, create their own devices and links.
#
# The output begins with "node NAME=VALUE...", the properties of the kernel. Each job then prints lines
# "result KEY VARIANT ROUND NAME=NUMBER...", or "failed KEY", or "skipped KEY REASON".

set -uo pipefail

port=7100
server=10.56.0.1
user_iterations=5000
krping_port=7950
blk_port=7960
failures=0

# kb COMMAND...: run a command of krdma_bench in this process, and print its output.
kb() {
	local fd status=0
	exec {fd}<>/proc/krdma_bench || return 1
	echo "$*" >&"$fd" || status=1
	cat <&"$fd"
	exec {fd}>&-
	return "$status"
}

describe() {
	local mtu
	mtu=$(ibv_devinfo -d "$RDMADEV" | sed -n 's/.*active_mtu:[^0-9]*\([0-9]*\).*/\1/p')
	echo "node release=$(uname -r) mtu=$mtu"
}

# Provide a processor speed for perftest, because /proc/cpuinfo of User-mode Linux has none. The value does not matter,
# because perftest uses its own measurement if the two differ much.
say_speed() {
	grep -q "cpu MHz" /proc/cpuinfo && return
	echo "cpu MHz : 1" >/tmp/cpuinfo
	mount --bind /tmp/cpuinfo /proc/cpuinfo
}

user_server() {
	while :; do
		timeout 30 ib_write_bw -d "$RDMADEV" -F -s "$1" -n "$user_iterations" || sleep 0.1
	done >/dev/null 2>&1
}

# user_turn SIZE: run ib_write_bw, and print "n=N ns=NS". Retry if it fails, because its server restarts after each run.
user_turn() {
	local try
	for ((try = 0; try < 3; try++)); do
		timeout 10 ib_write_bw -d "$RDMADEV" -F -s "$1" -n "$user_iterations" "$server" 2>/dev/null |
			awk -v size="$1" '$1 == size && $4 > 0 {
				printf "n=%d ns=%.0f\n", $2, $2 * size / ($4 * 1048576) * 1e9; good = 1
			} END { exit !good }' && return
		sleep 0.5
	done
	return 1
}

# user ROUNDS [NAME=NUMBER]...: measure the variants krdma and user, and print lines as kb does.
user() {
	local round rounds=$1 line
	shift
	for ((round = 1; round <= rounds; round++)); do
		kb stream krdma "$server" "$port" rounds=1 "$@" | sed "s/^krdma 1 /krdma $round /" || return
		line=$(user_turn "$user_size") || { echo "skip ib_write_bw does not work here"; return; }
		echo "user $round $line"
	done
}

# krping_turn TEST SIZE DEPTH: print "n=N ns=NS p50=NS" from the result of krping.
krping_turn() {
	local fd line
	exec {fd}<>/proc/krping || return
	echo "client,addr=$server,port=$krping_port,$1,size=$2,txdepth=$3,duration=1" >&"$fd" && read -r line <&"$fd"
	exec {fd}>&-
	[[ $line =~ \ ops=([0-9]+)\ .*\ time_ns=([0-9]+) ]] && echo -n "n=${BASH_REMATCH[1]} ns=${BASH_REMATCH[2]}" || return
	# krping prints no latency for tests with several operations in flight.
	[[ ! $line =~ \ p50_ns=([0-9]+) ]] || echo -n " p50=${BASH_REMATCH[1]}"
	echo
}

# krping TEST ROUNDS [NAME=NUMBER]...: measure the variants raw and krping, and print lines as kb does. Both sides are on
# this node.
krping() {
	local test=$1 rounds=$2 size=64 depth=1 same round word line status=0
	shift 2
	for word in "$@"; do
		case $word in
		size=*) size=${word#*=} ;;
		depth=*) depth=${word#*=} ;;
		esac
	done
	case $test in
	bw) same="stream" ;;
	slat) same="echo" ;;
	esac
	echo "server,addr=0.0.0.0,port=$krping_port,$test,size=$size,txdepth=$depth,duration=1,accept=0,bg" >/proc/krping || return
	for ((round = 1; round <= rounds && !status; round++)); do
		kb "$same" raw "$server" "$port" rounds=1 "$@" | sed "s/^raw 1 /raw $round /" || status=1
		line=$(krping_turn "$test" "$size" "$depth") || status=1
		echo "krping $round $line"
	done
	echo stop=all >/proc/krping
	return "$status"
}

# --- disks of krping_blk. Node 1 has the server, which stores nothing, as the target of raw stores nothing ---

# disk_options VARIANT: print the options of a disk. The requests of "none" do not go to the server.
disk_options() {
	case $1 in
	none) echo bio_mode=tap,bio_ops=r ;;
	nocrc) echo bio_mode=async,bio_nocrc ;;
	*) echo "bio_mode=$1" ;;
	esac
}

# disk_store VARIANT US: create a block device that completes each request after US microseconds, and stores nothing. Prints
# the local storage of the disk of VARIANT: this device, or memory if US is 0.
disk_store() {
	local dir=/sys/kernel/config/nullb/nullb$1
	(($2)) || { echo "ram:8M"; return; }
	mkdir "$dir" && echo 8 >"$dir/size" && echo 2 >"$dir/irqmode" && echo "${2}000" >"$dir/completion_nsec" &&
		echo 1 >"$dir/power" && echo "stack:/dev/$(disk_store_name "$dir")"
}

# Linux 6.1 numbers the devices, and newer ones name them as the folder.
disk_store_name() {
	local name=${1##*/}
	[[ -b /dev/$name ]] || name=nullb$(<"$1/index")
	echo "$name"
}

# has_disk_stores: succeed if the kernel has such block devices.
has_disk_stores() {
	modprobe -q null_blk nr_devices=0
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config 2>/dev/null
	[[ -d /sys/kernel/config/nullb ]]
}

# disk_turn VARIANT SIZE DEPTH: print "n=N ns=NS": writes of SIZE bytes to the disk of VARIANT for about a second. fio submits
# them in batches and does not read the clock for each of them, because system calls are slow on User-mode Linux.
disk_turn() {
	local words
	IFS=\; read -ra words < <(disk_fio "$1" "$2" --ioengine=libaio --iodepth="$3" --iodepth_batch=8 \
		--iodepth_batch_complete_min=4 --gtod_reduce=1)
	# The fields are the written KiB, and the time in ms.
	((${#words[@]} > 49 && words[4] == 0 && words[49] > 0)) || return
	echo "n=$((words[46] * 1024 / $2)) ns=$((words[49] * 1000000))"
}

# disk_pause VARIANT SIZE: print "p50=NS": the time of a write of SIZE bytes to the disk of VARIANT, with a pause of 20 ms
# after each, and of 150 ms after 1 MiB. A tap sends in the pause.
disk_pause() {
	local words pause=$((20000 + $2 / 8))
	IFS=\; read -ra words < <(disk_fio "$1" "$2" --ioengine=psync --thinktime=$pause --percentile_list=50 \
		--runtime=$((1 + pause / 50000)))
	# The field of a percentile, whose time is in us, is "50.000000%=TIME".
	((${#words[@]} > 58 && words[4] == 0)) && [[ ${words[58]} == 50.000000%=* && ${words[58]#*=} != 0 ]] || return
	echo "p50=$((${words[58]#*=} * 1000))"
}

# disk_fio VARIANT SIZE OPTIONS...: let fio write SIZE bytes at a time for a second, and print its figures.
disk_fio() {
	fio --name=disk --filename="/dev/krpblk$1" --size=8M --rw=write --bs="$2" --direct=1 --thread --time_based --runtime=1 \
		--output-format=terse --terse-version=3 "${@:3}"
}

# blk VARIANTS ROUNDS [NAME=NUMBER]...: measure the variants, and print lines as kb does. With pause=1, measure single writes.
# With store=US, the local storage of the disks needs US microseconds for a request.
blk() {
	local kinds numbers rounds=$2 size=4096 depth=1 pause=0 store=0 round word line status=0
	IFS=, read -ra kinds <<<"$1"
	shift 2
	for word in "$@"; do
		case $word in
		size=*) size=${word#*=} ;;
		depth=*) depth=${word#*=} ;;
		pause=*) pause=${word#*=} ;;
		store=*) store=${word#*=} ;;
		esac
	done
	((!store)) || has_disk_stores || { echo "skip the kernel has no null_blk"; return; }
	for word in "${kinds[@]}"; do
		[[ $word != raw && $word != summed ]] || continue
		line=bio_dev=$(disk_store "$word" "$store"),bio_slot=$size,bio_depth=$depth,bio_name=krpblk$word,$(disk_options "$word")
		echo "client,addr=$server,port=$blk_port,$line" >/proc/krping_blk || return
	done
	for ((round = 0; round <= rounds && !status; round++)); do
		for word in "${kinds[@]}"; do
			if [[ $word == raw || $word == summed ]]; then
				line=$(kb stream "$word" "$server" "$port" rounds=1 "$@" | sed -n "s/^$word 1 //p") || status=1
			elif ((pause)); then
				line=$(disk_pause "$word" "$size") || status=1
			else
				line=$(disk_turn "$word" "$size" "$depth") || status=1
			fi
			# The first round is not counted: in it, the disks get their memory.
			((!round)) || echo "$word $round $line"
		done
	done
	# With one node, the list of this kernel also has the server, which stays.
	mapfile -t numbers < <(awk '$2 == "client" { print $1 }' /proc/krping_blk)
	for word in "${numbers[@]}"; do
		echo "stop=$word" >/proc/krping_blk || status=1
	done
	((!store)) || rmdir /sys/kernel/config/nullb/nullb*
	return "$status"
}

# --- reflective memory. Device N has node id N + 1 and port 5565 + N. Its name is rfm2g(N % 8), because a node has at
# --- most eight devices. vbench.c lists the devices of its variants ---

vrfm_config=/sys/kernel/config/vrfm
# Level of security of the devices of tests that set none themselves.
vrfm_security=none
# Level of security of new devices, and how they write blocks directly.
vrfm_level=none
vrfm_direct=auto

# vrfm_make NUMBER SIZE [FLUSH_US]: create the device NUMBER, without peers.
vrfm_make() {
	local dir=$vrfm_config/rfm2g$(($1 % 8))
	mkdir "$dir" || return
	echo $(($1 + 1)) >"$dir/node_id"
	echo "$2" >"$dir/size"
	echo "10.56.0.$NODE" >"$dir/listen"
	echo $((5565 + $1)) >"$dir/port"
	[[ ! ${3:-} ]] || echo "$3" >"$dir/flush_us"
	[[ $vrfm_level == none ]] || { echo "$vrfm_level" >"$dir/security" && echo vrfm:bench >"$dir/key"; } || return
	echo "$vrfm_direct" >"$dir/direct" && echo 1 >"$dir/enable"
}

# vrfm_peer_dir NUMBER OTHER: make device OTHER a peer of device NUMBER, without an address.
vrfm_peer_dir() {
	local dir=$vrfm_config/rfm2g$(($1 % 8))/peers/$(($2 + 1))
	mkdir "$dir" && echo $((5565 + $2)) >"$dir/port"
}

# vrfm_peer_addr NUMBER OTHER RIG-NODE: set the address of the peer OTHER of device NUMBER to that of the node RIG-NODE.
# This starts the link.
vrfm_peer_addr() {
	echo "10.56.0.$3" >"$vrfm_config/rfm2g$(($1 % 8))/peers/$(($2 + 1))/addr"
}

vrfm_peer() {
	vrfm_peer_dir "$1" "$2" && vrfm_peer_addr "$@"
}

# vrfm_link NUMBER OTHER: link the devices NUMBER and OTHER, which are both on this node.
vrfm_link() {
	vrfm_peer "$1" "$2" "$NODE" && vrfm_peer "$2" "$1" "$NODE"
}

# vrfm_ready N: wait until N ends of links are ready. A link between two devices of this node counts as two ends.
vrfm_ready() {
	local i
	for ((i = 0; i < 300; i++)); do
		(($(grep -c "peer .* ready .*peer_synced 1" /proc/rfm2g) < $1)) || return 0
		sleep 0.1
	done
	echo "vrfm: timeout: links are not ready" >&2
	return 1
}

vrfm_end() {
	local dir
	for dir in "$vrfm_config"/rfm2g*; do
		[[ ! -d $dir ]] || { find "$dir/peers" -mindepth 1 -maxdepth 1 -exec rmdir {} +; rmdir "$dir"; }
	done
}

# Create the devices for vbench. Device 0 is linked with device 1. Device 2 is linked with device 3, and both have
# flush_us=0. Device 4 has no peer. Device 5 is linked with devices 1, 6 and 7. With more than two nodes, device 0 is
# also linked with one device, 5 or higher, of each node in the middle.
vrfm_begin() {
	local i
	if ((NODES == 1)); then
		for i in 0 1 4 5 6 7; do vrfm_make "$i" 4M || return; done
		for i in 2 3; do vrfm_make "$i" 4M 0 || return; done
		vrfm_link 0 1 && vrfm_link 2 3 && vrfm_link 5 1 && vrfm_link 5 6 && vrfm_link 5 7 && vrfm_ready 10
	elif ((NODE == 1)); then
		vrfm_make 1 4M && vrfm_make 3 4M 0 && vrfm_peer 1 0 "$NODES" && vrfm_peer 3 2 "$NODES" && vrfm_ready 2
	elif ((NODE < NODES)); then
		vrfm_make $((NODE + 3)) 4M && vrfm_peer $((NODE + 3)) 0 "$NODES" && vrfm_ready 1
	else
		vrfm_make 0 4M && vrfm_make 2 4M 0 && vrfm_peer 0 1 1 && vrfm_peer 2 3 1 || return
		for ((i = 2; i < NODES; i++)); do vrfm_peer 0 $((i + 3)) "$i" || return; done
		vrfm_ready "$NODES"
	fi
}

vrfm_server() {
	while :; do
		/add/vbench serve "$RDMADEV" "$server" "$vrfm_port" /dev/rfm2g1 /dev/rfm2g3 || sleep 0.2
	done
}

# Wait until the available memory is stable, and print it in KiB. The per-CPU lists of free pages are added, because the
# kernel counts these pages as used.
available() {
	local last=0 now i
	for ((i = 0; i < 20; i++)); do
		sleep 0.4
		now=$(awk -v kib=$(($(getconf PAGE_SIZE) / 1024)) '/^MemAvailable/ { n += $2 } $1 == "count:" { n += $2 * kib }
			END { print n }' /proc/meminfo /proc/zoneinfo)
		((now - last > 128 || last - now > 128)) || break
		last=$now
	done
	echo "$now"
}

# Measure the memory, in bytes, of a device of 64 MiB, and of each end of a link. To measure the ends, create 8 small
# devices with 28 links. The first device is not measured, because it may allocate memory that all devices share.
memory() {
	local rounds=$1 round before device links i j
	for ((round = 1; round <= rounds; round++)); do
		vrfm_make 0 64M || return
		before=$(available)
		vrfm_make 1 64M || return
		device=$((before - $(available)))
		vrfm_end
		for i in {0..7}; do vrfm_make "$i" 1M || return; done
		before=$(available)
		for i in {0..7}; do
			for ((j = i + 1; j < 8; j++)); do vrfm_link "$i" "$j" || return; done
		done
		vrfm_ready 56 || return
		links=$((before - $(available)))
		vrfm_end
		echo "vrfm $round device=$((device * 1024)) link=$((links * 1024 / 56))"
	done
}

# --- joining: device 0 exists, device 2 has written every tenth page of its 64 MiB, and device 1 joins. Devices 6 and
# --- 7 exist only because "vbench serve" must open two devices, also for the variant raw ---

# joined: check whether device 1 has loaded an image and all its links are ready. Set $joined_at to the time of this
# check. The function starts no program, because starting one takes time.
joined() {
	local name value loads='' resync='' state
	read -r state </sys/class/rfm2g/rfm2g1/state
	joined_at=${EPOCHREALTIME/[.,]/}
	# Check the state first, because reading debugfs is slow: the driver then counts bits for all words of memory.
	[[ $state == ready ]] || return
	while read -r name value; do
		[[ $name != loads ]] || loads=$value
		[[ $name != resync ]] || resync=$value
	done </sys/kernel/debug/vrfm/rfm2g1/device
	((loads)) && [[ $resync == idle ]]
}

# join_once VARIANT ROUND: measure the time from setting the address of the peer until device 1 has joined. The memory
# of device 1 is allocated before this time begins, as in the variant raw. No program is started during the measurement.
join_once() {
	local begin i joined_at
	vrfm_make 1 64M && vrfm_peer 1 0 "$NODE" && vrfm_peer_dir 0 1 || return
	[[ $1 != alive ]] || { vrfm_peer_dir 2 1 && vrfm_peer_dir 1 2; } || return
	begin=${EPOCHREALTIME/[.,]/}
	vrfm_peer_addr 0 1 "$NODE" || return
	[[ $1 != alive ]] || { vrfm_peer_addr 2 1 "$NODE" && vrfm_peer_addr 1 2 "$NODE"; } || return
	for ((i = 0; i < 20000; i++)); do
		! joined || break
		read -r -t 0.001 <>"$join_pipe"
	done
	((i < 20000)) || { echo "join: timeout" >&2; return 1; }
	echo "$1 $2 n=1639 ns=$(((joined_at - begin) * 1000))"
}

join_writes() {
	python3 - <<'PYTHON'
import os
fd = os.open("/dev/rfm2g2", os.O_RDWR)
for page in range(0, 16384, 10):
    os.pwrite(fd, page.to_bytes(4, "little") * 1024, page * 4096)
os.fsync(fd)
PYTHON
}

vrfm_unmake() {
	local dir=$vrfm_config/rfm2g$1
	find "$dir/peers" -mindepth 1 -maxdepth 1 -exec rmdir {} + && rmdir "$dir"
}

# join_round ROUND: measure a join while the writer is connected, and one after the writer was removed.
join_round() {
	vrfm_make 0 64M && vrfm_make 2 64M && vrfm_peer 2 0 "$NODE" && vrfm_peer 0 2 "$NODE" && vrfm_ready 2 &&
		join_writes && join_once alive "$1" || return
	# Remove the device that has joined, then the writer, and measure again.
	vrfm_unmake 1 && rmdir $vrfm_config/rfm2g0/peers/2 && vrfm_unmake 2 && join_once gone "$1" || return
	vrfm_end
}

join() {
	local rounds=$1 round server_pid status=0
	join_pipe=/tmp/join.pipe
	mkfifo $join_pipe
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	vrfm_make 6 4M && vrfm_make 7 4M || return
	/add/vbench serve "$RDMADEV" "$server" $((vrfm_port + 1)) /dev/rfm2g6 /dev/rfm2g7 &
	server_pid=$!
	/add/vbench pages raw "$RDMADEV" "$server" $((vrfm_port + 1)) "$rounds" || status=1
	kill $server_pid
	wait $server_pid
	vrfm_end
	for ((round = 1; round <= rounds && !status; round++)); do
		join_round "$round" || status=1
	done
	return "$status"
}

# --- messages to the receiver of direct writes: device 0 writes, device 1 receives ---

# vrfm_count NUMBER OTHER NAME: print the counter NAME of the peer OTHER of device NUMBER, from /proc/rfm2g.
vrfm_count() {
	awk -v dev="rfm2g$(($1 % 8))" -v peer=$(($2 + 1)) -v name="$3" '/^[^ ]/ { mine = $1 == dev }
		mine && $1 == "peer" && $2 == peer { for (i = 3; i < NF; i++) if ($i == name) print $(i + 1) }' /proc/rfm2g
}

# remote ROUNDS [NAME=NUMBER]...: count the blocks that device 0 writes directly into the memory of device 1, and the
# messages that device 1 receives in the same round.
remote() {
	local rounds=$1 round directs received
	shift
	vrfm_make 0 4M && vrfm_make 1 4M && vrfm_link 0 1 && vrfm_ready 2 || return
	for ((round = 1; round <= rounds; round++)); do
		directs=$(vrfm_count 0 1 directs) received=$(vrfm_count 1 0 received)
		/add/vbench rate vrfm "$RDMADEV" "$server" "$vrfm_port" 1 "$@" >/dev/null || return
		directs=$(($(vrfm_count 0 1 directs) - directs)) received=$(($(vrfm_count 1 0 received) - received))
		((directs > 0)) || { echo "skip no direct writes here"; break; }
		echo "vrfm $round n=$directs received=$received"
	done
	vrfm_end
}

# sizes ROUNDS [NAME=NUMBER]...: measure writes between the small devices 0 and 1, and between the large ones, 2 and 3.
sizes() {
	vrfm_make 0 4M && vrfm_make 1 4M && vrfm_make 2 256M && vrfm_make 3 256M && vrfm_link 0 1 && vrfm_link 2 3 &&
		vrfm_ready 4 && /add/vbench rate small,large "$RDMADEV" "$server" "$vrfm_port" "$@" || return
	vrfm_end
}

# --- writes and stores on device 0, which device 1 receives. The measured loops run with real-time priority ---

# beside ROUNDS: measure writes while another process stores into many pages, and without this process. The order of
# the two measurements alternates.
beside() {
	local rounds=$1 round pid turn
	vrfm_make 0 8M && vrfm_make 1 8M && vrfm_link 0 1 && vrfm_ready 2 || return
	for ((round = 1; round <= rounds; round++)); do
		for turn in $((round % 2)) $((1 - round % 2)); do
			if ((turn)); then
				/add/vbench poker /dev/rfm2g0 2000 alone "$round" || return
				continue
			fi
			/add/vbench dirty /dev/rfm2g0 1000 &
			pid=$!
			sleep 0.3
			/add/vbench poker /dev/rfm2g0 2000 beside "$round" || return
			kill $pid
			wait $pid 2>/dev/null
			# Wait until vrfm has write-protected the pages into which "dirty" stored.
			sleep 0.3
		done
	done
	vrfm_end
}

# device_count NAME: print a counter of rfm2g0 in debugfs.
device_count() {
	awk -v name="$1" '$1 == name { print $2 }' /sys/kernel/debug/vrfm/rfm2g0/device
}

# claimed ROUNDS: count write faults, and pages that vrfm write-protects, during a thousand cycles of a loop. The count
# begins when the loop has run for half a second.
claimed() {
	local rounds=$1 round pid faults protected
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	vrfm_make 0 8M && vrfm_make 1 8M && vrfm_link 0 1 && vrfm_ready 2 || return
	for ((round = 1; round <= rounds; round++)); do
		/add/vbench cycle /dev/rfm2g0 100 60000 >/dev/null &
		pid=$!
		sleep 0.5
		faults=$(device_count write_faults) protected=$(device_count scanner_protected)
		sleep 1
		faults=$(($(device_count write_faults) - faults)) protected=$(($(device_count scanner_protected) - protected))
		kill $pid || return
		wait $pid 2>/dev/null
		echo "vrfm $round n=1000 faults=$faults protected=$protected"
	done
	vrfm_end
}

# option NAME ARGUMENT...: print the NUMBER of the argument NAME=NUMBER.
option() {
	local name=$1 word
	shift
	for word in "$@"; do
		[[ $word != "$name="* ]] || echo "${word#*=}"
	done
}

# reading ROUNDS [NAME=NUMBER]...: measure a writer with and without a program that reads /proc/rfm2g in a loop.
reading() {
	local rounds=$1 round pid turn ms
	shift
	ms=$(option ms "$@")
	vrfm_make 0 8M && vrfm_make 1 8M && vrfm_link 0 1 && vrfm_ready 2 || return
	for ((round = 1; round <= rounds; round++)); do
		for turn in $((round % 2)) $((1 - round % 2)); do
			if ((turn)); then
				/add/vbench poker /dev/rfm2g0 "$ms" alone "$round" || return
				continue
			fi
			while :; do cat /proc/rfm2g; done >/dev/null &
			pid=$!
			/add/vbench poker /dev/rfm2g0 "$ms" reading "$round" || return
			kill $pid
			wait $pid 2>/dev/null
		done
	done
	vrfm_end
}

# replay ROUNDS [NAME=NUMBER]...: record a program that writes 4 bytes every 100 us, and measure how late a replay repeats
# each write. vrfmctl prints times in us.
replay() {
	local rounds=$1 round ms pid file=/tmp/replay.pcapng line
	shift
	ms=$(option ms "$@")
	vrfm_make 0 4M && vrfm_make 1 4M && vrfm_link 0 1 && vrfm_ready 2 || return
	for ((round = 1; round <= rounds; round++)); do
		rm -f $file
		LD_LIBRARY_PATH=/add /add/vrfmctl record $file rfm2g0 &
		pid=$!
		until [[ -s $file ]]; do sleep 0.05; done
		sleep 0.5
		/add/vbench longest /dev/rfm2g0 4 "$ms" >/dev/null || return
		kill -INT $pid
		wait $pid || return
		line=$(LD_LIBRARY_PATH=/add /add/vrfmctl --rt replay $file rfm2g0) || return
		[[ $line =~ ^([0-9]+)\ batches.*p50\ ([0-9]+)\ p99\ ([0-9]+)\ max\ ([0-9]+) ]] || return
		echo "vrfm $round n=${BASH_REMATCH[1]} p50=${BASH_REMATCH[2]} p99=${BASH_REMATCH[3]} max=${BASH_REMATCH[4]}"
	done
	vrfm_end
}

# joining ROUNDS [NAME=NUMBER]...: measure writes to device 0 while device 2 joins and loads 64 MiB, and without this
# device.
joining() {
	local rounds=$1 round pid turn ms
	shift
	ms=$(option ms "$@")
	vrfm_make 0 64M && vrfm_make 1 64M && vrfm_link 0 1 && vrfm_ready 2 || return
	head -c 64M /dev/urandom >/dev/rfm2g0 || return
	for ((round = 1; round <= rounds; round++)); do
		for turn in $((round % 2)) $((1 - round % 2)); do
			if ((turn)); then
				/add/vbench poker /dev/rfm2g0 "$ms" alone "$round" || return
				continue
			fi
			/add/vbench poker /dev/rfm2g0 "$ms" joining "$round" &
			pid=$!
			vrfm_make 2 64M && vrfm_link 0 2 && wait $pid || return
			rmdir "$vrfm_config/rfm2g0/peers/3" && vrfm_unmake 2 || return
		done
	done
	vrfm_end
}

# Add the key of the devices to the keyring of the session.
levels_key() {
	python3 - <<'PYTHON'
import ctypes, sys
number = 248  # add_key on x86-64
libc = ctypes.CDLL(None, use_errno=True)
sys.exit(libc.syscall(number, b"logon", b"vrfm:bench", b"k" * 32, 32, -5) < 0)
PYTHON
}

# levels ROUNDS by=TEST level=LEVEL [direct=MODE] [NAME=NUMBER]...: measure TEST of vbench between the devices 0 and 1,
# which have no level of security, and between the devices 2 and 3, which have LEVEL. The order of the two alternates. With
# direct=MODE, the devices 0 and 1 write directly as MODE says. If the level seals, the variant "sealing" seals and opens
# messages of the size that the devices have sent.
levels() {
	local rounds=$1 by='' level='' direct=auto round name pid line words=() names
	local -A first=([none]=0) named=([none]=small)
	shift
	while (($#)); do
		case $1 in
		by=*) by=${1#*=} ;;
		level=*) level=${1#*=} ;;
		direct=*) direct=${1#*=} ;;
		*) words+=("$1") ;;
		esac
		shift
	done
	first[$level]=2 named[$level]=large names=(none "$level")
	vrfm_direct=$direct vrfm_level=none
	levels_key && vrfm_make 0 4M && vrfm_make 1 4M && vrfm_link 0 1 || return
	vrfm_direct=auto vrfm_level=$level
	vrfm_make 2 4M && vrfm_make 3 4M && vrfm_link 2 3 && vrfm_ready 4 || return
	vrfm_level=$vrfm_security
	for ((round = 1; round <= rounds; round++)); do
		for name in "${names[@]}"; do
			/add/vbench serve "$RDMADEV" "$server" $((vrfm_port + 1)) /dev/rfm2g$((first[$name] + 1)) \
				/dev/rfm2g$((first[$name] + 1)) &
			pid=$!
			line=$(/add/vbench "$by" "${named[$name]}" "$RDMADEV" "$server" $((vrfm_port + 1)) 1 "${words[@]}") || return
			kill $pid 2>/dev/null
			wait $pid 2>/dev/null
			echo "$name $round ${line#"${named[$name]} 1 "}"
			[[ $name == none || $name == auth ]] || levels_sealing "$round" "$name" "$line" "${words[@]}" || return
		done
		names=("${names[1]}" "${names[0]}")
	done
	vrfm_end
}

# Bytes of a message of vrfm that are not data: its header, and the header of a run.
vrfm_extra=48

# levels_sealing ROUND LEVEL LINE [NAME=NUMBER]...: seal and open messages as the devices did while vbench has measured
# LINE, and print a line of the variant "sealing". A round trip has a message in each direction.
levels_sealing() {
	local size messages=2 n=1
	[[ " ${*:4} " =~ \ size=([0-9]+)\  ]] && size=${BASH_REMATCH[1]} || return
	if [[ $3 =~ \ n=([0-9]+)\ .*\ messages=([0-9]+) ]]; then
		n=${BASH_REMATCH[1]} messages=${BASH_REMATCH[2]}
		size=$((n * size / messages))
	fi
	kb repeat "$2" "$server" "$port" rounds=1 ms=200 size=$((size + vrfm_extra)) |
		sed "s/^$2 1 \(.*\)/sealing $1 \1 messages=$messages for=$n/"
}

# fan ROUNDS level=LEVEL [NAME=NUMBER]...: write to one peer and to three peers of a level of security.
fan() {
	local rounds=$1 i
	vrfm_level=${2#level=}
	levels_key || return
	for i in 0 1 5 6 7; do vrfm_make "$i" 4M || return; done
	vrfm_link 0 1 && vrfm_link 5 1 && vrfm_link 5 6 && vrfm_link 5 7 && vrfm_ready 8 &&
		/add/vbench rate vrfm,three "$RDMADEV" "$server" "$vrfm_port" "$rounds" "${@:3}" || return
	vrfm_level=$vrfm_security
	vrfm_end
}

# --- more peers: devices 0 to 4 of the last node have 1, 2, 4, 8 and 16 peers. Their first eight peers are the devices
# --- 8 to 15 of node 1. Further peers are the devices 16 to 23 of node 2 ---

grow_begin() {
	local i j links=0
	if ((NODE == NODES)); then
		for i in {0..4}; do vrfm_make "$i" 4M || return; done
		for i in {0..4}; do
			for ((j = 0; j < 1 << i; j++)); do vrfm_peer "$i" $((j + 8)) $((j / 8 + 1)) || return; done
		done
		vrfm_ready 31
		return
	fi
	for ((j = 8 * NODE - 8; j < 8 * NODE; j++)); do
		vrfm_make $((j + 8)) 4M || return
		for i in {0..4}; do
			((j < 1 << i)) || continue
			vrfm_peer $((j + 8)) "$i" "$NODES" || return
			links=$((links + 1))
		done
	done
	vrfm_ready $links
}

grow() {
	/add/vbench rate one,two,four,eight,sixteen "$RDMADEV" "$server" "$vrfm_port" "$@"
}

# --- a cut cable: device 0 of the last node writes, device 1 of node 1 receives. netem is added before the links, and
# --- is not removed, because adding or removing a queueing discipline may end connections (see tests/vm/README.rst) ---

cable() {
	tc qdisc change dev "$NETDEV" root netem limit 100000 "$@"
}

cut_begin() {
	((NODE == 1)) || { modprobe -q sch_netem; tc qdisc replace dev "$NETDEV" root netem limit 100000; } || return
	((NODE != 1)) || { vrfm_make 1 "${1:-4M}" && vrfm_peer 1 0 "$NODES"; }
}

# cut ROUNDS size=NUMBER ...: measure the longest write while the cable is cut. Each round creates a device, because the
# peer falls behind in each round.
cut() {
	local rounds=$1 round size=${2#size=} pid overload_ms
	for ((round = 1; round <= rounds; round++)); do
		vrfm_make 0 4M && vrfm_peer 0 1 1 && vrfm_ready 1 || return
		overload_ms=$(<$vrfm_config/rfm2g0/overload_ms)
		/add/vbench longest /dev/rfm2g0 "$size" 3000 >/tmp/longest &
		pid=$!
		sleep 0.5
		cable loss 100%
		wait $pid || return
		cable
		vrfm_unmake 0 || return
		echo "vrfm $round $(</tmp/longest) overload_ms=$overload_ms"
	done
}

# cutpoke ROUNDS [NAME=VALUE]...: measure a control loop with and without a cut cable. Each turn creates a device. The
# option "by" names the command of vbench.
cutpoke() {
	local rounds=$1 round variant ms overload_us pid by
	shift
	ms=$(option ms "$@")
	overload_us=$(option overload_us "$@")
	by=$(option by "$@")
	for ((round = 1; round <= rounds; round++)); do
		for variant in alone cut; do
			vrfm_make 0 8M && echo "$overload_us" >$vrfm_config/rfm2g0/overload_us && vrfm_peer 0 1 1 &&
				vrfm_ready 1 || return
			/add/vbench "${by:-poker}" /dev/rfm2g0 "$ms" "$variant" "$round" &
			pid=$!
			sleep 0.2
			[[ $variant == alone ]] || cable loss 100%
			wait $pid || return
			[[ $variant == alone ]] || cable
			vrfm_unmake 0 || return
		done
	done
}

# wanted TEST "JOB"...: check whether there is a job for TEST.
wanted() {
	local test=$1
	shift
	[[ " $* " == *" $test "* ]]
}

# jobs_of TEST "JOB"...: run the jobs for TEST on the last node.
jobs_of() {
	local test=$1 words
	shift
	((NODE == NODES)) || return 0
	for words in "$@"; do
		read -ra words <<<"$words"
		[[ ${words[1]} != "$test" ]] || job "${words[@]}"
	done
}

job() {
	local key=$1 test=$2 variants=$3 rounds=$4 out line status=0
	shift 4
	if [[ $test == user ]]; then
		out=$(user "$rounds" "$@") || status=$?
	elif [[ $test == krping-* ]]; then
		out=$(krping "${test#krping-}" "$rounds" "$@") || status=$?
	elif [[ $test == blk ]]; then
		out=$(blk "$variants" "$rounds" "$@") || status=$?
	elif [[ $test == memory || $test == remote || $test == sizes || $test == beside ||
		$test == reading || $test == replay || $test == joining || $test == claimed || $test == grow || $test == cut ||
		$test == cutpoke || $test == levels || $test == fan ]]; then
		out=$("$test" "$rounds" "$@") || status=$?
	elif [[ $test == ntr-* ]]; then
		out=$(ntr "${test#ntr-}" "$variants" "$rounds" "$@") || status=$?
	elif [[ $test == join && $LINK != rxe ]]; then
		out="skip raw verbs need rxe here"
	elif [[ $test == join ]]; then
		out=$(join "$rounds") || status=$?
	elif [[ $test == vrfm-* && $LINK != rxe ]]; then
		out="skip raw verbs need rxe here"
	elif [[ $test == vrfm-* ]]; then
		out=$(/add/vbench "${test#vrfm-}" "$variants" "$RDMADEV" "$server" "$vrfm_port" "$rounds" "$@") || status=$?
	else
		out=$(kb "$test" "$variants" "$server" "$port" rounds="$rounds" "$@") || status=$?
	fi
	if ((status)); then
		echo "failed $key"
		failures=$((failures + 1))
	elif [[ $out == *"skip "* ]]; then
		echo "skipped $key ${out##*skip }"
	else
		while read -r line; do echo "result $key $line"; done <<<"$out"
	fi
}

vrfm_port=7900
if [[ ${1:-} == security=* ]]; then
	vrfm_security=${1#*=} vrfm_level=${1#*=}
	shift
	levels_key || exit
fi
vrfm=
[[ " $* " != *" vrfm-"* ]] || vrfm=yes
if [[ -d $vrfm_config || -d /sys/module/vrfm ]]; then
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
fi

# Size of the WRITEs of the test "user", which needs a server in user space; "" if there is no job for this test.
user_size=
for words in "$@"; do
	[[ $words =~ \ user\ .*size=([0-9]+) ]] && user_size=${BASH_REMATCH[1]}
done

ntr=
if [[ " $* " == *" ntr-"* ]]; then
	ntr=yes
	# shellcheck source=tests/bench/ntr.sh
	. /add/ntr.sh
	ntr_begin || exit
else
	far() { "$@"; }
fi

if ((NODE == 1)); then
	far kb serve "$port" || exit
	if [[ $user_size ]]; then
		say_speed
		user_server "$user_size" &
	fi
	! wanted blk "$@" || echo "server,addr=$server,port=$blk_port,bio_target=null" >/proc/krping_blk || exit
fi
barrier serving
# Run these tests before other devices exist, because memory and messages of other devices would also be measured.
lone="memory join remote sizes beside reading replay joining claimed levels fan grow cut cutpoke"
for test in memory join remote sizes beside reading replay joining claimed levels fan; do
	jobs_of $test "$@"
done
if wanted grow "$@"; then
	grow_begin || exit
	barrier grown
	jobs_of grow "$@"
	barrier grow-over
	vrfm_end
fi
if [[ $vrfm ]]; then
	vrfm_begin || exit
	if ((NODE == 1)); then
		vrfm_server &
		vrfm_server_pid=$!
	fi
fi
if ((NODE == NODES)); then
	((NODE == 1)) || [[ ! $user_size ]] || say_speed
	describe
	for words in "$@"; do
		read -ra words <<<"$words"
		[[ " $lone " == *" ${words[1]} "* ]] || job "${words[@]}"
	done
fi
barrier measured
if [[ $vrfm ]]; then
	if ((NODE == 1)); then
		kill "$vrfm_server_pid"
		pkill -P "$vrfm_server_pid" vbench
		wait "$vrfm_server_pid"
	fi 2>/dev/null
	vrfm_end
fi
if wanted cut "$@"; then
	cut_begin || exit
	barrier whole
	jobs_of cut "$@"
	barrier cut-over
	vrfm_end
fi
if wanted cutpoke "$@"; then
	cut_begin 8M || exit
	barrier poker-whole
	jobs_of cutpoke "$@"
	barrier poker-over
	vrfm_end
fi
if ((NODE == 1)); then
	if [[ $user_size ]]; then
		kill %1 2>/dev/null
		wait
		umount /proc/cpuinfo 2>/dev/null
	fi
	! wanted blk "$@" || echo "stop=all" >/proc/krping_blk || exit
	kb stop || exit
fi
[[ ! $ntr ]] || ntr_end || exit
((failures == 0))
