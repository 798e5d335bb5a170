# shellcheck shell=bash disable=SC2034 # for those who read this file
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# For the scenarios of this folder, which say ". lib.sh": KTAP, addresses, and krdma_test's commands.
#
# The head of a scenario tells tools/check what it needs, one "# key: value" a line:
#   kernels   where it always runs: KERNEL or KERNEL/LINK, such as uml/siw
#   long      where it runs with --long as well, with the others of that place in one boot, unless it is named
#   alone     where it runs with --long in a boot of its own
#   lasting   where it runs with --long for ten minutes, in a boot of its own: its first argument is 600
#   nodes, load, append, mem, timeout: as for tools/vm; nodes is 2 if it is not said, append and mem do not count in a
#             boot with others, and a scenario of more nodes than 2 is always alone
#   add       files of this folder that it wants in /add; lib.sh is always there
#   programs  C programs of this folder, without ".c", that it wants compiled in /add
#   narrow    the same for 32 bits, as NAME-32
#   previous  modules of the previous version that it wants in /add, as NAME-previous.ko: that of the newest tag, or of the
#             commit in the file "previous"
#
# A case fails, and the scenario goes on: the exit status tells.

set -uo pipefail

# shellcheck source=tests/vm/node/lib
. /rig/lib

# To start a program takes up to a second where the processor is emulated and the kernel checks itself: waiting is done by
# the shell. The pipe that it waits at is opened here, once for all subshells.
pause 0

sleep() {
	pause "$1"
}

barrier() {
	meet "$1"
}

# As the rig's, without a shell of its own.
dmesg_node() {
	dmesg "$@"
}

cases=0
failures=0
declare -A errno=(
	[0]=0 [EIO]=-5 [EACCES]=-13 [EAGAIN]=-11 [EINTR]=-4 [E2BIG]=-7 [ENOMEM]=-12 [EBUSY]=-16 [ENFILE]=-23 [ENODEV]=-19 [EINVAL]=-22 [EPROTO]=-71
	[EBADMSG]=-74 [EMSGSIZE]=-90 [EOPNOTSUPP]=-95 [EADDRINUSE]=-98 [EADDRNOTAVAIL]=-99 [ENETUNREACH]=-101 [ECONNABORTED]=-103
	[ECONNRESET]=-104 [EISCONN]=-106 [EALREADY]=-114 [EDQUOT]=-122 [ENOBUFS]=-105 [ENOTCONN]=-107 [ESHUTDOWN]=-108 [ETIMEDOUT]=-110 [ECONNREFUSED]=-111
	[EHOSTUNREACH]=-113 [EREMOTEIO]=-121 [ENOENT]=-2 [EACCES]=-13
)

# ok STATUS DESCRIPTION...: one result.
ok() {
	local word=ok
	(($1 == 0)) || { word="not ok"; failures=$((failures + 1)); }
	cases=$((cases + 1))
	shift
	echo "$word $cases $*"
}

# check DESCRIPTION COMMAND...: a result that is the status of a command.
check() {
	local text=$1 status=0
	shift
	"$@" || status=$?
	ok "$status" "$text"
}

# results PROGRAM...: its lines "0 what" and "1 what"; it may not end in any other way
results() {
	local status line
	while read -r status line; do
		if [[ $status == end ]]; then
			ok "$line" "${1##*/} ends by itself: $line"
		elif [[ $status == [01] ]]; then
			ok "$status" "$line"
		else
			echo "$status $line"
		fi
	done < <("$@"; echo "end $?")
}

skip() {
	cases=$((cases + 1))
	echo "ok $cases $1 # SKIP $2"
}

# The last line of a scenario.
finish() {
	echo "1..$cases"
	((failures == 0))
	exit
}

# network_ready: before there is a connection, for who calls network() later.
#
# rxe of 6.12 and 7.3 gives up a queue pair for good when the interface does not take its packet (see tests/vm/README.rst).
# If that is QP 1, which all connecting goes through, the node is cut off from everybody until its RDMA device is made
# anew, and nothing says so. While a qdisc takes the place of another nothing is taken; while it is changed, it is.
network_ready() {
	modprobe -q sch_netem
	if [[ $(tc qdisc show dev "$NETDEV" root) == *" netem "* ]]; then
		# A scenario before this one has left it there.
		network_rate=$network_no_rate
		network
	else
		tc qdisc add dev "$NETDEV" root netem limit $network_limit
	fi
}

network_limit=100000
network_rate=
# Only another rate takes the place of a rate. One that is none keeps packets from overtaking each other.
network_no_rate="rate 1000gbit"

# network RULES...: what netem does from now on with what leaves this node; without rules nothing.
network() {
	[[ " $* " != *" rate "* ]] || network_rate=$network_no_rate
	# shellcheck disable=SC2086 # two words
	tc qdisc change dev "$NETDEV" root netem limit $network_limit $network_rate "$@"
}

is_one_of() {
	local wanted=$1 word
	shift
	for word in "$@"; do
		[[ $word == "$wanted" ]] && return 0
	done
	return 1
}

addr4() { echo "10.56.0.$1"; }
addr6() { echo "fd56::$1"; }

# interface_down, interface_up: with Linux 6.1 only, see remove.sh; network_ready must come before. Who sends goes on, but
# what was sent is out before the interface goes down: virtio_net keeps the packets that it has then, they keep their QP of
# rxe, and who destroys that waits for 50 s (rxe_pool.c: __rxe_cleanup()).
interface_down() {
	network loss 100% && sleep 0.5 && ip link set "$NETDEV" down
}

interface_up() {
	ip link set "$NETDEV" up && network && ip addr replace "$(addr6 "$NODE")/64" dev "$NETDEV" nodad
}

# A debug kernel, or an emulated processor, needs more patience: times are multiplied by this.
case $KERNEL in
uml) slow=1 ;;
stock-*) slow=2 ;;
*) slow=4 ;;
esac

# An iWARP connect that is in flight cannot be called back: destroying it waits for siw's own limit of the MPA reply
# (iw_cm: IWCM_F_CONNECT_WAIT; siw: MPAREP_TIMEOUT, 10 s; Linux 6.1 and 7.3).
unanswered_ms=0
[[ $LINK != siw ]] || unanswered_ms=11000

# kt COMMAND...: run a command of krdma_test in this very process. Sets kt_ret, kt_ms and kt_text.
kt() {
	local fd
	kt_ret=-1 kt_ms=0 kt_text=
	exec {fd}<>/proc/krdma_test || return 1
	{ echo "$*" >&"$fd"; } 2>/dev/null
	read -r kt_ret kt_ms kt_text <&"$fd"
	exec {fd}>&-
	((kt_ret >= 0))
}

# Where a background kt leaves its result.
results=$(mktemp -d)

# kt_start JOB COMMAND...: run it in a process of its own, whose number is then in kt_pid, and its name in kt_job.
kt_start() {
	local job=$1
	kt_job=$1
	shift
	: >"$results/$job"
	(
		trap - EXIT
		kt "$@"
		echo "$kt_ret $kt_ms $kt_text" >"$results/$job"
	) &
	kt_pid=$!
}

# kt_result JOB [SECONDS]: wait for it; sets kt_ret, kt_ms and kt_text. False: it hangs.
kt_result() {
	local job=$1 end=$((SECONDS + ${2:-60}))
	kt_ret=-1 kt_ms=0 kt_text="still running"
	# A line is written at once: who finds something finds all of it.
	until [[ -s $results/$job ]]; do
		((SECONDS < end)) || return 1
		sleep 0.02
	done
	read -r kt_ret kt_ms kt_text <"$results/$job"
}

# kt_is ERRNO DESCRIPTION: did the last kt end with that?
kt_is() {
	local wanted=${errno[$1]:-$1}
	if [[ $kt_ret == "$wanted" ]]; then
		ok 0 "$2"
	else
		ok 1 "$2: $kt_ret instead of $wanted (after $kt_ms ms: $kt_text)"
	fi
}

# kt_within FROM TO DESCRIPTION: did the last kt take that many milliseconds? The limit grows on slow kernels. There
# jiffies, which a wait is counted in, may be late, and catch up in it: it is that much shorter.
kt_within() {
	local limit=$(($2 * slow)) from=$1
	((slow == 1)) || from=$(($1 * 3 / 4))
	if ((kt_ms >= from && kt_ms <= limit)); then
		ok 0 "$3"
	else
		ok 1 "$3: $kt_ms ms, not $from to $limit"
	fi
}

# expect ERRNO COMMAND...: one case out of one command.
expect() {
	local wanted=$1
	shift
	kt "$@"
	kt_is "$wanted" "$* gives $wanted"
}

# with_workers QUEUE N COMMAND...: run it while that workqueue runs N works at a time, as it does when memory is short.
with_workers() {
	local file=/sys/devices/virtual/workqueue/$1/max_active n=$2 was status=0
	was=$(<"$file")
	echo "$n" >"$file"
	shift 2
	"$@" || status=$?
	echo "$was" >"$file"
	return "$status"
}

# kt_state SLOT: the state of its connection, "-" if there is none.
kt_state() {
	local name state rest
	while read -r name _ state rest; do
		[[ $name == "$1" ]] && echo "$state" && return
	done </proc/krdma_test
	echo -
}

# krping_run COMMAND: a krping command in this very process. Its status is that of write(); "said" has what went wrong,
# and "line" what can be read from the same descriptor.
krping_run() {
	local fd status=0
	exec {fd}<>/proc/krping || return 1
	said=$({ echo "$1" >&"$fd"; } 2>&1) || status=$?
	line=
	read -r line <&"$fd"
	exec {fd}>&-
	return $status
}

# krping_try COMMAND: a client's, again until somebody listens there
krping_try() {
	local end=$((SECONDS + 10 * slow))
	until krping_run "$1"; do
		[[ $said == *"refused"* ]] && ((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# Nothing of krping runs in this kernel; a server waits for clients.
krping_idle() { [[ -z $(</proc/krping) ]]; }
krping_listens() { [[ $(</proc/krping) == *listen* ]]; }

# What "rdma resource" counts on this node; a few of them go a little late.
resources() {
	rdma resource show 2>/dev/null | grep "$RDMADEV" | sed 's/^[0-9]*: //'
}

# same_resources BEFORE DESCRIPTION
same_resources() {
	local now end=$((SECONDS + 5 * slow)) since=$EPOCHREALTIME
	until now=$(resources) && [[ $now == "$1" ]]; do
		if ((SECONDS >= end)); then
			ok 1 "$2: was $1, is $now"
			rdma resource show qp 2>/dev/null | sed 's/^/# /'
			rdma resource show cm_id 2>/dev/null | sed 's/^/# /'
			return
		fi
		look_again "$since"
		since=$EPOCHREALTIME
	done
	ok 0 "$2"
}

# Numbers out of a seed that is printed, so that a run can be repeated: random MAX sets "random".
seed() {
	RANDOM=$1
	echo "# seed $1"
}

random() {
	random=$(((RANDOM * 32768 + RANDOM) % $1))
}

# --- reflective memory: $RFM is this node's device, rfm what programs do with it ---

rfm_config=/sys/kernel/config/vrfm

# rfm COMMAND...: see rfm2g/rfm.c
rfm() {
	/add/rfm "$RFM" "$@"
}

# rfm_make SIZE [ATTRIBUTE=VALUE]...: this node's device with all others as peers; node ids are those of the rig. Nodes of
# one kernel have an address each, and so may have the same port.
rfm_make() {
	local dir=$rfm_config/${RFM#/dev/} size=$1 word
	shift
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	mkdir "$dir" && echo "$NODE" >"$dir/node_id" && echo "$size" >"$dir/size" && echo "$(addr4 "$NODE")" >"$dir/listen" ||
		return
	for word in "$@"; do
		echo "${word#*=}" >"$dir/${word%%=*}" || return
	done
	rfm_peers && echo 1 >"$dir/enable"
}

rfm_peers() {
	local i
	for ((i = 1; i <= NODES; i++)); do
		((i != NODE)) || continue
		rfm_peer "$i" || return
	done
}

# rfm_peer NODE: from now on it is one.
rfm_peer() {
	mkdir "$rfm_config/${RFM#/dev/}/peers/$1" && addr4 "$1" >"$rfm_config/${RFM#/dev/}/peers/$1/addr"
}

rfm_unmake() {
	local dir=$rfm_config/${RFM#/dev/}
	find "$dir/peers" -mindepth 1 -maxdepth 1 -exec rmdir {} + && rmdir "$dir"
}

# rfm_find WORDS: sets rfm_line to what /proc/rfm2g says of this node's device in the first line that begins with WORDS.
# No other process: waits look here again and again, and to start one takes tens of milliseconds on uml.
rfm_find() {
	local text nl=$'\n'
	text=$nl$(</proc/rfm2g)
	rfm_line=
	[[ $text == *"$nl${RFM#/dev/} "* ]] || return
	text=${text#*"$nl${RFM#/dev/} "}
	text=${text%%"$nl"[! ]*}
	[[ $text == *"$nl  $1 "* ]] || return
	text=${text#*"$nl  $1 "}
	rfm_line="  $1 ${text%%"$nl"*}"
}

# rfm_peer_line NODE: what /proc/rfm2g says of a peer
rfm_peer_line() {
	! rfm_find "peer $1" || echo "$rfm_line"
}

# This node has a whole image, and is not about to load one.
rfm_complete() {
	rfm_find image && [[ $rfm_line == *" complete" ]]
}

# rfm_is STATE [NODE]...: of all peers, or these
rfm_is() {
	local state=$1 i
	shift
	(($# > 0)) || eval "set -- {1..$NODES}"
	for i in "$@"; do
		((i != NODE)) || continue
		rfm_find "peer $i"
		# This node has sent all that the peer lacked, and the other way round.
		[[ $rfm_line == *" $state "* ]] && [[ $state != ready || $rfm_line == *"peer_synced 1"* ]] || return 1
	done
}

# look_again SINCE: pause between two looks at something that took from SINCE, by EPOCHREALTIME, until now. Who waits rests
# four times as long as he works, up to half a second, and so leaves the processors to those he waits for.
look_again() {
	local us=$((4 * (${EPOCHREALTIME/[.,]/} - ${1/[.,]/})))
	((us > 50000)) || us=50000
	((us < 500000)) || us=500000
	printf -v us 0.%06d $us
	sleep $us
}

# within SECONDS COMMAND...: it becomes true in time, for this kernel.
within() {
	local end=$((SECONDS + $1 * slow)) since=$EPOCHREALTIME
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		look_again "$since"
		since=$EPOCHREALTIME
	done
}

# rfm_settle [NODE]...: all peers, or these, have what this node wrote; who was too slow for it gets it some time.
rfm_settle() {
	rfm sync && within 60 rfm_is ready "$@" && rfm sync
}
