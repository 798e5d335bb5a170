# shellcheck shell=bash disable=SC2034 # for those who read this file
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# For the scenarios of this folder, which say ". lib.sh": KTAP, addresses, and krdma_test's commands.
#
# The head of a scenario lists what tools/check needs to run it, one "# key: value" a line:
#   kernels   kernels that always run it: KERNEL or KERNEL/LINK, such as uml/siw
#   long      kernels that run it with --long, in one boot with other scenarios, unless it is named
#   alone     kernels that run it with --long in a boot of its own
#   lasting   kernels that run it with --long for ten minutes, in a boot of its own: its first argument is 600
#   nodes, load, append, mem, timeout: as for tools/vm; the default of nodes is 2; append and mem are ignored in a boot
#             with other scenarios; a scenario of more than 2 nodes always has a boot of its own
#   add       files of this folder to put into /add; lib.sh is always there
#   programs  C programs of this folder, without ".c", to compile into /add
#   narrow    C programs to compile for 32 bits, into /add/NAME-32
#   previous  modules of the previous version to put into /add, as NAME-previous.ko: that of the newest tag, or of the
#             commit in the file "previous"
#
# A scenario continues after a failed case; its exit status is 1 then.

set -uo pipefail

# shellcheck source=tests/vm/node/lib
. /rig/lib

# Starting a program takes up to a second on an emulated processor with a debug kernel, so the shell itself sleeps, by a
# read with a timeout. Open the pipe of that read here, once for all subshells.
pause 0

sleep() {
	pause "$1"
}

barrier() {
	meet "$1"
}

# As the function of the rig, without a subshell.
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

# results PROGRAM...: a result for each line "0 DESCRIPTION" or "1 DESCRIPTION" of PROGRAM, and one for its exit status.
results() {
	local status line
	while read -r status line; do
		if [[ $status == end ]]; then
			ok "$line" "${1##*/} exits with status 0: $line"
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

# network_ready: prepare network(). Call it before the first connection.
#
# rxe of 6.12 and 7.3 stops a queue pair permanently when the interface rejects its packet (see tests/vm/README.rst). If
# that is QP 1, which sets up all connections, the node is unreachable until its RDMA device is recreated, and no message
# says so. The interface rejects packets while a qdisc is replaced, and accepts them while a qdisc is changed.
network_ready() {
	modprobe -q sch_netem
	if [[ $(tc qdisc show dev "$NETDEV" root) == *" netem "* ]]; then
		# An earlier scenario of this boot has added it.
		network_rate=$network_no_rate
		network
	else
		tc qdisc add dev "$NETDEV" root netem limit $network_limit
	fi
}

network_limit=100000
network_rate=
# netem replaces a rate only by another rate. A rate that is no limit also keeps packets from overtaking each other.
network_no_rate="rate 1000gbit"

# network [RULES]...: set the rules of netem for packets that leave this node; without RULES remove them.
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

# interface_down, interface_up: with Linux 6.1 only, see device-removal.sh; call network_ready first. Tasks may continue to send.
# Drop all packets for 0.5 s before the interface goes down: virtio_net would keep packets in its queue, each of them holds
# its QP of rxe, and destroying that QP would wait for 50 s (rxe_pool.c: __rxe_cleanup()).
interface_down() {
	network loss 100% && sleep 0.5 && ip link set "$NETDEV" down
}

interface_up() {
	ip link set "$NETDEV" up && network && ip addr replace "$(addr6 "$NODE")/64" dev "$NETDEV" nodad
}

# Factor of timeouts for a debug kernel or an emulated processor.
case $KERNEL in
uml) slow=1 ;;
stock-*) slow=2 ;;
*) slow=4 ;;
esac

# An iWARP connect in flight cannot be cancelled: destroying it waits for siw's own timeout of the MPA reply
# (iw_cm: IWCM_F_CONNECT_WAIT; siw: MPAREP_TIMEOUT, 10 s; Linux 6.1 and 7.3).
unanswered_ms=0
[[ $LINK != siw ]] || unanswered_ms=11000

# kt COMMAND...: run a command of krdma_test in this process. Sets kt_ret, kt_ms and kt_text.
kt() {
	local fd
	kt_ret=-1 kt_ms=0 kt_text=
	exec {fd}<>/proc/krdma_test || return 1
	{ echo "$*" >&"$fd"; } 2>/dev/null
	read -r kt_ret kt_ms kt_text <&"$fd"
	exec {fd}>&-
	((kt_ret >= 0))
}

# Folder for the results of kt_start.
results=$(mktemp -d)

# kt_start JOB COMMAND...: run COMMAND in a background process. Sets kt_pid to its number and kt_job to JOB.
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

# kt_result JOB [SECONDS]: wait for the result of JOB; sets kt_ret, kt_ms and kt_text. Fails if JOB is still running.
kt_result() {
	local job=$1 end=$((SECONDS + ${2:-60}))
	kt_ret=-1 kt_ms=0 kt_text="still running"
	# The job writes its line by one write(): if the file is not empty, the line is complete.
	until [[ -s $results/$job ]]; do
		((SECONDS < end)) || return 1
		sleep 0.02
	done
	read -r kt_ret kt_ms kt_text <"$results/$job"
}

# kt_is ERRNO DESCRIPTION: one case: did the last kt return that error, or number?
kt_is() {
	local wanted=${errno[$1]:-$1}
	if [[ $kt_ret == "$wanted" ]]; then
		ok 0 "$2"
	else
		ok 1 "$2: $kt_ret instead of $wanted (after $kt_ms ms: $kt_text)"
	fi
}

# kt_within FROM TO DESCRIPTION: one case: did the last kt take FROM to TO milliseconds? TO grows on slow kernels. FROM
# shrinks there, because jiffies may fall behind before a wait and catch up during it, which makes the wait shorter.
kt_within() {
	local limit=$(($2 * slow)) from=$1
	((slow == 1)) || from=$(($1 * 3 / 4))
	if ((kt_ms >= from && kt_ms <= limit)); then
		ok 0 "$3"
	else
		ok 1 "$3: $kt_ms ms, not $from to $limit"
	fi
}

# expect ERRNO COMMAND...: one case: does the command of krdma_test return that error, or number?
expect() {
	local wanted=$1
	shift
	kt "$@"
	kt_is "$wanted" "$* returns $wanted"
}

# with_workers QUEUE N COMMAND...: run COMMAND while at most N works of the workqueue run at a time, as when memory is short.
with_workers() {
	local file=/sys/devices/virtual/workqueue/$1/max_active n=$2 was status=0
	was=$(<"$file")
	echo "$n" >"$file"
	shift 2
	"$@" || status=$?
	echo "$was" >"$file"
	return "$status"
}

# kt_state SLOT: print the state of the connection in SLOT, "-" if there is none.
kt_state() {
	local name state rest
	while read -r name _ state rest; do
		[[ $name == "$1" ]] && echo "$state" && return
	done </proc/krdma_test
	echo -
}

# krping_run COMMAND: run a command of krping in this process. The status is that of write(). Sets "said" to the error
# message, and "line" to the line that can be read from the same descriptor.
krping_run() {
	local fd status=0
	exec {fd}<>/proc/krping || return 1
	said=$({ echo "$1" >&"$fd"; } 2>&1) || status=$?
	line=
	read -r line <&"$fd"
	exec {fd}>&-
	return $status
}

# krping_try COMMAND: run a client, and repeat it while the server refuses the connection.
krping_try() {
	local end=$((SECONDS + 10 * slow))
	until krping_run "$1"; do
		[[ $said == *"refused"* ]] && ((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# krping_idle: no krping runs in this kernel. krping_listens: a server waits for clients.
krping_idle() { [[ -z $(</proc/krping) ]]; }
krping_listens() { [[ $(</proc/krping) == *listen* ]]; }

# Print the counts of "rdma resource" for this node. Some resources are freed shortly after their connection.
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

# seed N: print the seed, so that a run can be repeated. random MAX: set "random" to a number less than MAX.
seed() {
	RANDOM=$1
	echo "# seed $1"
}

random() {
	random=$(((RANDOM * 32768 + RANDOM) % $1))
}

# --- reflective memory: $RFM is this node's device; rfm calls it as programs do ---

rfm_config=/sys/kernel/config/vrfm

# rfm COMMAND...: see rfm2g/rfm.c
rfm() {
	/add/rfm "$RFM" "$@"
}

# rfm_make SIZE [ATTRIBUTE=VALUE]...: create this node's device with all other nodes as peers. Node ids are those of the
# rig. Nodes of one kernel have an address each, so they can use the same port.
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

# rfm_peer NODE: add NODE to the peers of this node's device.
rfm_peer() {
	mkdir "$rfm_config/${RFM#/dev/}/peers/$1" && addr4 "$1" >"$rfm_config/${RFM#/dev/}/peers/$1/addr"
}

rfm_unmake() {
	local dir=$rfm_config/${RFM#/dev/}
	find "$dir/peers" -mindepth 1 -maxdepth 1 -exec rmdir {} + && rmdir "$dir"
}

# rfm_find WORDS: set rfm_line to the first line in /proc/rfm2g on this node's device that begins with WORDS. Starts no
# process: waits poll this function, and starting a process takes tens of milliseconds on uml.
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

# rfm_peer_line NODE: print the line in /proc/rfm2g on the peer NODE.
rfm_peer_line() {
	! rfm_find "peer $1" || echo "$rfm_line"
}

# This node has a complete image and loads none.
rfm_complete() {
	rfm_find image && [[ $rfm_line == *" complete" ]]
}

# rfm_is STATE [NODE]...: all peers, or these, are in STATE.
rfm_is() {
	local state=$1 i
	shift
	(($# > 0)) || eval "set -- {1..$NODES}"
	for i in "$@"; do
		((i != NODE)) || continue
		rfm_find "peer $i"
		# ready: this node has sent all that the peer lacked. peer_synced: the peer has sent all that this node lacked.
		[[ $rfm_line == *" $state "* ]] && [[ $state != ready || $rfm_line == *"peer_synced 1"* ]] || return 1
	done
}

# look_again SINCE: pause between two polls, of which the last one began at SINCE, by EPOCHREALTIME. The pause is four times
# as long as the poll took, up to half a second, so that polling leaves the processors to the other tasks.
look_again() {
	local us=$((4 * (${EPOCHREALTIME/[.,]/} - ${1/[.,]/})))
	((us > 50000)) || us=50000
	((us < 500000)) || us=500000
	printf -v us 0.%06d $us
	sleep $us
}

# within SECONDS COMMAND...: poll COMMAND until it succeeds; fail after SECONDS, or longer on a slow kernel.
within() {
	local end=$((SECONDS + $1 * slow)) since=$EPOCHREALTIME
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		look_again "$since"
		since=$EPOCHREALTIME
	done
}

# rfm_settle [NODE]...: wait until all peers, or these, have this node's writes, including peers that fell behind.
rfm_settle() {
	rfm sync && within 60 rfm_is ready "$@" && rfm sync
}
