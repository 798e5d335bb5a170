# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# Functions of node.sh for the tests "ntr-*", which measure ntrdma. One side of each connection is "far" and serves; the
# other side is "near" and measures. There are two topologies:
#
# - Two network namespaces of one kernel. The near one is that of this script. For each kind of RDMA device a veth pair
#   joins them, so that ntrdma, rxe and siw run in the same kernel, at the same time.
# - Two machines that share a memory. Node 1 is far. rxe uses the network adapter that the machines also have.
#
# Node i has the address 10.NET.0.i of each kind of device. The kinds are in $ntr_net.

declare -A ntr_net=([ntr]=58 [rxe]=57 [siw]=59)
ntr_debug=/sys/kernel/debug/ntrdma
# File with the options with which ntrdma is loaded. A variable would be lost, because a job runs in a subshell.
ntr_options=/tmp/ntr.options

if ((NODES == 1)); then
	ntr_near=ntr8 ntr_far=ntr9
	ntr_files=$ntr_debug/$ntr_near ntr_far_files=$ntr_debug/$ntr_far
else
	# The device of a machine has been renamed, its folder in debugfs has not.
	ntr_near=ntr$NODE ntr_far=$ntr_near
	ntr_files=$ntr_debug/ntr0 ntr_far_files=$ntr_files
	ntr_net[ntr]=56
fi

# far COMMAND...: run a command on the far side, which is this node in the topology of machines. "ip netns exec" would
# mount another /sys, which has neither configfs nor debugfs.
far() {
	if ((NODES > 1)); then
		"$@"
		return
	fi
	nsenter --net=/run/netns/far bash -c "$(declare -f); $(printf '%q ' "$@")"
}

# bare COMMAND...: run a command of ntrdma_bench, and print its result.
bare() {
	local run=/sys/module/ntrdma_bench/parameters/run
	if [[ ! -e $run ]]; then
		echo "skip a bare ring is in one kernel only"
		return
	fi
	echo "$*" >$run && cat $run
}

# ntr_add KIND: add the RDMA devices of both sides to the pair of this kind.
ntr_add() {
	rdma link add "$1"8 type "$1" netdev "${1}near" && far rdma link add "$1"9 type "$1" netdev "${1}far"
}

# ntr_join KIND: join both namespaces by a veth pair, with RDMA devices of this kind. Each interface has its own index,
# because siw tells the listeners of namespaces apart by the index only.
ntr_join() {
	local net=${ntr_net[$1]}
	ip link add "${1}near" index $((3000 + net)) mtu 9000 type veth \
		peer name "${1}far" index $((4000 + net)) netns far &&
		ip addr add "10.$net.0.2/24" dev "${1}near" && ip link set "${1}near" up &&
		ip -n far addr add "10.$net.0.1/24" dev "${1}far" && ip -n far link set "${1}far" mtu 9000 up && ntr_add "$1"
}

# ntr_has DEVICE KIND NODE: check whether an RDMA device is active and has the GID of its address.
ntr_has() {
	local gids=/sys/class/infiniband/$1/ports/1/gids gid wanted
	printf -v wanted ':ffff:0a%02x:00%02x' "${ntr_net[$2]}" "$3"
	[[ $(rdma link show "$1/1") == *"state ACTIVE"* ]] || return
	for gid in "$gids"/{0..7}; do
		[[ $(<"$gid") != *"$wanted" ]] || return 0
	done 2>/dev/null
	return 1
}

# ntr_until SECONDS COMMAND...: wait until a command succeeds.
ntr_until() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || return
		read -r -t 0.01 <>"$ntr_pipe" || :
	done
}

# ntr_without_bridge: print the option with which ntrdma leaves the bridge of ntr_bridge() alone.
ntr_without_bridge() {
	[[ ! -d /sys/module/ntr_twin ]] || echo ntb=off
}

# ntr_load [OPTION]...: let ntrdma be loaded with these options. Machines have only the defaults.
ntr_load() {
	[[ $(<$ntr_options) != "$*" ]] || return 0
	if ((NODES > 1)); then
		echo "ntrdma cannot be loaded again on machines" >&2
		return 1
	fi
	[[ ! -d /sys/module/ntrdma ]] || rmmod ntrdma || return
	# shellcheck disable=SC2046 # a word, or none
	insmod /modules/ntrdma.ko $(ntr_without_bridge) "$@" && ntr_add ntr && ntr_until 10 ntr_has ntr8 ntr 2 &&
		ntr_until 10 ntr_has ntr9 ntr 1 && echo "$*" >$ntr_options
}

ntr_namespaces() {
	local kind
	ip netns add far && ip -n far link set lo up && insmod /modules/ntrdma.ko && echo >$ntr_options || return
	for kind in ntr rxe siw; do
		# rxe of older kernels has devices in any namespace, but connects only in the first one.
		if [[ $kind != ntr && $KERNEL != uml* ]]; then
			ntr_net[$kind]=
		else
			ntr_join "$kind" || return
		fi
	done
	ntr_until 10 ntr_has ntr8 ntr 2 && ntr_until 10 ntr_has ntr9 ntr 1
}

ntr_machines() {
	echo >$ntr_options
	ntr_net[siw]=
	((NODE != 1)) || qperf &
	modprobe -q rdma_rxe && ip addr add "10.${ntr_net[rxe]}.0.$NODE/24" dev net0 && ip link set net0 mtu 9000 up &&
		rdma link add rxe8 type rxe netdev net0 && ntr_until 10 ntr_has rxe8 rxe "$NODE"
}

ntr_begin() {
	ntr_pipe=/tmp/ntr.pipe
	mkfifo $ntr_pipe
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	if ((NODES == 1)); then ntr_namespaces; else ntr_machines; fi
}

# The rig unloads the modules, and tries again while they are in use.
ntr_end() {
	((NODES > 1)) || ip netns del far
}

# ntr_ring: print the size of a ring and of a chunk of the link, as ntrdma_bench needs them.
ntr_ring() {
	[[ $(<"$ntr_files/status") =~ ring\ ([0-9]+),\ chunk\ ([0-9]+) ]] &&
		echo "${BASH_REMATCH[1]} ${BASH_REMATCH[2]}"
}

# ntr_kb TEST VARIANT KIND [NAME=NUMBER]...: run a turn of krdma_bench with devices of a kind.
ntr_kb() {
	local test=$1 variant=$2 net=${ntr_net[$3]} kind=$3
	shift 3
	if [[ ! $net ]]; then
		echo "skip $kind does not work in a network namespace of this kernel"
		return
	fi
	kb "$test" "$variant" "10.$net.0.1" "${port:?}" rounds=1 "$@"
}

# ntr_turn VARIANT TEST MS [NAME=NUMBER]...: run a turn, and print its numbers, or a reason to skip.
ntr_turn() {
	local variant=$1 test=$2 ms=$3
	shift 2
	set -- "ms=$1" "${@:2}"
	case $variant in
	ring) bare stream "$ms" "$(ntr_ring)" ;;
	memcpy | bell | line) bare "$variant" "$ms" ;;
	ntr | rxe | siw) ntr_kb "$test" raw "$variant" "$@" ;;
	read) ntr_kb stream read ntr "$@" ;;
	krdma_*) ntr_kb "$test" krdma "${variant#krdma_}" "$@" ;;
	one) ntr_kb crowd raw ntr n=1 depth=64 "$@" ;;
	many) ntr_kb crowd raw ntr n=64 depth=1 "$@" ;;
	alone) ntr_kb write raw ntr "$@" ;;
	beside) ntr_kb beside raw ntr "$@" ;;
	idle) ntr_idle "$@" ;;
	tcp_*) ntr_tcp "${variant#tcp_}" ;;
	ping_*) ntr_ping "${variant#ping_}" ;;
	pulled) ntr_cut ;;
	*) return 1 ;;
	esac
}

# ntr TEST VARIANTS ROUNDS [NAME=NUMBER]...: run the turns of a job, and print lines as kb does. In every other round the
# order of the variants is reversed. The option ring_kb=NUMBER or dead_ms=NUMBER is one of ntrdma.
ntr() {
	local test=$1 rounds=$3 ms=500 rest=() load=() variants round variant i out word
	IFS=, read -ra variants <<<"$2"
	shift 3
	for word in "$@"; do
		case $word in
		ms=*) ms=${word#ms=} ;;
		ring_kb=* | dead_ms=*) load+=("$word") ;;
		*) rest+=("$word") ;;
		esac
	done
	ntr_load "${load[@]}" || return
	case $test in
	vrfm | bridge)
		"ntr_$test" "$rounds" "ms=$ms" "${rest[@]}"
		return
		;;
	esac
	for ((round = 1; round <= rounds; round++)); do
		for ((i = 0; i < ${#variants[@]}; i++)); do
			variant=${variants[round % 2 ? ${#variants[@]} - 1 - i : i]}
			out=$(ntr_turn "$variant" "$test" "$ms" "${rest[@]}") || return
			if [[ $out == "skip "* ]]; then
				echo "$out"
				return
			fi
			sed "/^kernel /!s/^\([a-z]* 1 \)\?/$variant $round /" <<<"$out"
		done
	done
}

# --- turns that are not those of krdma_bench ---

# ntr_count NAME: print the sum of a counter of the devices of this kernel.
ntr_count() {
	local dev sum=0
	for dev in "$ntr_near" "$ntr_far"; do
		((sum += $(<"/sys/class/infiniband/$dev/ports/1/hw_counters/$1")))
		[[ $ntr_near != "$ntr_far" ]] || break
	done
	echo "$sum"
}

# ntr_idle ms=NUMBER: measure the processor time while all devices are up and idle, and count polls and doorbells.
ntr_idle() {
	local polls bells out
	sleep 2
	polls=$(ntr_count polls) bells=$(ntr_count doorbells_taken)
	out=$(ntr_kb rest raw ntr "$@") || return
	sed "/^raw /s/\$/ polls=$(($(ntr_count polls) - polls)) bells=$(($(ntr_count doorbells_taken) - bells))/" <<<"$out"
}

ntr_now() {
	echo "${EPOCHREALTIME/[.,]/}"
}

# Each device has two links: one to itself, and one to the other side.
ntr_is_up() {
	[[ $(<"$ntr_files/status") == *": up,"*": up,"* ]]
}

ntr_is_down() {
	! ntr_is_up
}

# ntr_cut: cut the far device off, until a stream has failed; then connect it again. Print both times. A machine cuts its
# own device.
ntr_cut() {
	local pid begin failed again
	ntr_kb stream raw ntr ms=60000 size=65536 depth=16 >/dev/null 2>&1 &
	pid=$!
	sleep 0.5
	[[ -d /proc/$pid ]] || { echo "cut: the stream has failed" >&2; return 1; }
	begin=$(ntr_now)
	echo 1 >"$ntr_far_files/cut"
	wait $pid
	failed=$(ntr_now)
	ntr_until 10 ntr_is_down || return
	sleep 1
	again=$(ntr_now)
	echo 0 >"$ntr_far_files/cut"
	ntr_until 10 ntr_is_up || return
	echo "n=1 ns=$(((failed - begin) * 1000)) up=$((($(ntr_now) - again) * 1000)) dead=$(</sys/module/ntrdma/parameters/dead_ms)"
	# Let the other side notice it as well.
	sleep 1
}

# ntr_tcp KIND: measure a TCP stream over the interface of a device, by a server that runs on the far side.
ntr_tcp() {
	timeout 30 qperf "10.${ntr_net[$1]}.0.1" -t 2 -uu tcp_bw | awk '$1 == "bw" { printf "n=%.0f ns=1000000000\n", $3; good = 1 }
		END { exit !good }'
}

# ntr_ping KIND: measure the median time of echo requests.
ntr_ping() {
	busybox ping -A -c 200 "10.${ntr_net[$1]}.0.1" | sed -n 's/.*time=\([0-9.]*\) ms$/\1/p' | sort -n |
		awk '{ time[NR] = $1 } END { if (NR < 100) exit 1; printf "n=%d ns=1 p50=%.0f\n", NR, time[int(NR / 2)] * 1e6 }'
}

# ntr_vrfm ROUNDS [NAME=NUMBER]...: compare writes to a device of vrfm whose link uses ntrdma with those of one that uses
# rxe. The devices 0 and 2 are near, 1 and 3 are far.
ntr_vrfm() {
	local rounds=$1 dir=/sys/kernel/config/vrfm kind number
	shift
	if [[ ! ${ntr_net[rxe]} ]] || ((NODES > 1)); then
		echo "skip vrfm needs rxe in a network namespace"
		return
	fi
	for number in 0 1 2 3; do
		kind=$([[ $number == [01] ]] && echo ntr || echo rxe)
		if ((number % 2)); then
			far ntr_vrfm_make "$number" $((number - 1)) "10.${ntr_net[$kind]}.0" 1 2
		else
			ntr_vrfm_make "$number" $((number + 1)) "10.${ntr_net[$kind]}.0" 2 1
		fi || return
	done
	vrfm_ready 4 && /add/vbench rate small,large none none 1 "$rounds" "$@" | sed 's/^small/vrfm_ntr/; s/^large/vrfm_rxe/'
	vrfm_end
}

# ntr_vrfm_make NUMBER OTHER NET OWN THEIRS: create a device with one peer. OWN and THEIRS complete the addresses.
ntr_vrfm_make() {
	local dir=/sys/kernel/config/vrfm/rfm2g$1 peer=/sys/kernel/config/vrfm/rfm2g$1/peers/$(($2 + 1))
	mkdir "$dir" && echo $(($1 + 1)) >"$dir/node_id" && echo 4M >"$dir/size" && echo "$3.$4" >"$dir/listen" &&
		echo $((5565 + $1)) >"$dir/port" && echo 1 >"$dir/enable" && mkdir "$peer" &&
		echo $((5565 + $2)) >"$peer/port" && echo "$3.$5" >"$peer/addr"
}

# --- a bridge, which User-mode Linux emulates ---

# ntr_bridge ROUNDS [NAME=NUMBER]...: measure a stream over both ends of a bridge, first by ntrdma, then by rxe on
# ntb_netdev. Both need the whole bridge, so they cannot take turns. The bridge stays, because its module cannot be
# unloaded, but ntr_load() does not use it.
ntr_bridge() {
	local before status=0
	if [[ ! -e /modules/ntb_netdev.ko ]] || ((NODES > 1)); then
		echo "skip no bridge is emulated on this kernel"
		return
	fi
	# Let the next job load ntrdma again.
	echo none >$ntr_options
	before=$(ls /sys/class/net)
	[[ ! -d /sys/module/ntrdma ]] || rmmod ntrdma || return
	[[ -d /sys/module/ntr_twin ]] || insmod /modules/ntr_twin.ko || return
	insmod /modules/ntrdma.ko && ntr_over bridge_ntr "$@" || status=$?
	rmmod ntrdma && insmod /modules/ntb_transport.ko && insmod /modules/ntb_netdev.ko || status=$?
	((status != 0)) || ntr_over bridge_rxe "$@" || status=$?
	rmmod ntb_netdev ntb_transport || status=$?
	return $status
}

ntr_has_interfaces() {
	(($(ls /sys/class/net | wc -l) == $(wc -l <<<"$before") + 2))
}

# ntr_over VARIANT ROUNDS [NAME=NUMBER]...: give both sides an end of the bridge, and run the turns of a variant. The two
# interfaces that are not in $before are the ends.
ntr_over() {
	local variant=$1 rounds=$2 near far round out
	local -A ntr_net=([bridge]=60)
	shift 2
	ntr_until 10 ntr_has_interfaces || return
	{ read -r near && read -r far; } < <(comm -13 <(sort <<<"$before") <(ls /sys/class/net | sort))
	ip addr add 10.60.0.2/24 dev "$near" && ip link set "$near" up && ip link set "$far" netns far &&
		far ip addr add 10.60.0.1/24 dev "$far" && far ip link set "$far" up || return
	if [[ $variant == bridge_rxe ]]; then
		rdma link add bridge8 type rxe netdev "$near" && far rdma link add bridge9 type rxe netdev "$far" || return
	fi
	ntr_until 10 busybox ping -c 1 -W 1 10.60.0.1 >/dev/null || return
	for ((round = 1; round <= rounds; round++)); do
		out=$(ntr_kb stream raw bridge "$@") || return
		sed "/^kernel /!s/^\([a-z]* 1 \)\?/$variant $round /" <<<"$out"
	done
	if [[ $variant == bridge_rxe ]]; then
		rdma link del bridge8 && far rdma link del bridge9
	fi
}
