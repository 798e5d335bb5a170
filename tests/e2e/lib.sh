# shellcheck shell=bash disable=SC2034 # scenarios use the variables
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# Functions for the scenarios in the folders of tests/e2e, which source this file: results in KTAP, addresses and network
# of a node, commands of krdma_test and krping, and devices of vrfm.
#
# The head of a scenario lists what tools/check needs to run it, one "# key: value" a line:
#   kernels   kernels that also run it without --long: KERNEL or KERNEL/LINK, such as uml/siw
#   long      kernels that run it with --long, in one boot with other scenarios, or in its own boot if it is named
#   alone     kernels that run it with --long, in a boot of its own
#   lasting   kernels that run it with --long for ten minutes, in a boot of its own: its first argument is then 600
#   nodes, load, append, mem, timeout: options of tools/vm. The default of nodes is 2. A boot with other scenarios ignores
#             append and mem. A scenario of more than 2 nodes always has a boot of its own.
#   add       files of this folder that tools/check puts into /add, in addition to lib.sh
#   programs  C programs of this folder, without ".c", that tools/check compiles into /add
#   narrow    C programs that tools/check compiles for 32 bits, into /add/NAME-32
#   library   C programs that tools/check links with librfm2g, into /add: NAME (shared library) and NAME-static
#   tools     installed tools that tools/check puts into /add
#   samples   programs of samples/rfm2g that tools/check compiles into /add
#   previous  modules of the previous version that tools/check puts into /add, as NAME-previous.ko. The previous version is
#             the newest tag or, if there is no tag, the commit in the file "previous".
#   capture   file /exchange/NAME that gets all frames between the nodes, which are machines with links of rxe or siw. The
#             switch between them then also takes rules, see meddle(). For "kernels" and "alone" only
#   guarantees  guarantees that the scenario tests: G1 to G10 of vrfm, S1 to S10 of security
#   security  levels of security: for each LEVEL, the first of "kernels" runs the scenario once more, with devices of that
#             level. With the word "long" behind them, only with --long
#   attacked  levels of security: in runs with LEVEL the switch between the nodes takes rules, see meddle(). The longer run
#             of "lasting" is also made with LEVEL
#
# A scenario continues after a failed case, and exits with 1 at its end.

set -uo pipefail

# shellcheck source=tests/vm/node/lib
. /rig/lib

# The shell sleeps by a read with a timeout, because starting the program "sleep" takes up to a second on an emulated
# processor with a debug kernel. pause() opens the pipe for these reads at its first call. Call it here, so that all
# subshells share the pipe.
pause 0

sleep() {
	pause "$1"
}

barrier() {
	meet "$1"
}

# dmesg_node [OPTION]...: print the kernel log. This function replaces the script dmesg_node of tests/vm, and starts no
# shell.
dmesg_node() {
	dmesg "$@"
}

cases=0
failures=0
declare -A errno=(
	[0]=0 [EIO]=-5 [EACCES]=-13 [EAGAIN]=-11 [EINTR]=-4 [E2BIG]=-7 [ENOMEM]=-12 [EBUSY]=-16 [ENFILE]=-23 [ENODEV]=-19 [EINVAL]=-22 [EPROTO]=-71
	[EBADMSG]=-74 [EMSGSIZE]=-90 [EPROTONOSUPPORT]=-93 [EOPNOTSUPP]=-95 [EADDRINUSE]=-98 [EADDRNOTAVAIL]=-99 [ENETUNREACH]=-101 [ECONNABORTED]=-103
	[ECONNRESET]=-104 [EISCONN]=-106 [EALREADY]=-114 [EDQUOT]=-122 [ENOBUFS]=-105 [ENOTCONN]=-107 [ESHUTDOWN]=-108 [ETIMEDOUT]=-110 [ECONNREFUSED]=-111
	[EHOSTUNREACH]=-113 [EREMOTEIO]=-121 [ENOENT]=-2 [EPERM]=-1 [ENOKEY]=-126 [EKEYREVOKED]=-128 [EKEYREJECTED]=-129
)

# ok STATUS DESCRIPTION...: print the result of one case, which passes if STATUS is 0.
ok() {
	local word=ok
	(($1 == 0)) || { word="not ok"; failures=$((failures + 1)); }
	cases=$((cases + 1))
	shift
	echo "$word $cases $*"
}

# check DESCRIPTION COMMAND...: run COMMAND as one case, which passes if COMMAND succeeds.
check() {
	local text=$1 status=0
	shift
	"$@" || status=$?
	ok "$status" "$text"
}

# results PROGRAM...: run PROGRAM, which prints a line for each of its cases: "0 DESCRIPTION" if the case passes, or
# "1 DESCRIPTION" if it fails. Print the results of these cases, and of one more case for the exit status of PROGRAM.
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

# says STATUS PATTERN COMMAND...: run COMMAND as one case, which passes if COMMAND exits with STATUS and its output matches
# PATTERN.
says() {
	local wanted=$1 pattern=$2 said status=0
	shift 2
	said=$("$@" 2>&1) || status=$?
	# shellcheck disable=SC2053
	[[ $status == "$wanted" && $said == $pattern ]]
	ok $? "${*##*/}: $status, ${said//$'\n'/ / }"
}

# refused ERROR DESCRIPTION COMMAND...: run COMMAND as one case, which passes if COMMAND fails and prints the text ERROR.
refused() {
	local wanted=$1 text=$2 said
	shift 2
	said=$(LC_ALL=C "$@" 2>&1)
	[[ $? != 0 && $said == *"$wanted"* ]]
	ok $? "$text: ${said##*: }"
}

skip() {
	cases=$((cases + 1))
	echo "ok $cases $1 # SKIP $2"
}

# section NAME [COMMAND...]: run COMMAND, or without COMMAND the function NAME, as one section of a scenario. All nodes
# begin the section at the same time. One more case checks that the section leaves no RDMA resource. If the scenario has
# arguments, run only the sections that the arguments name.
sections=("$@")
section() {
	# The variables of COMMAND must not be hidden, so these have long names.
	local section_name=$1 section_before
	((${#sections[@]} == 0)) || is_one_of "$1" "${sections[@]}" || return 0
	(($# == 1)) || shift
	echo "# section $section_name"
	section_before=$(resources)
	barrier "$section_name-begins"
	"$@"
	same_resources "$section_before" "resources are as before the section $section_name"
}

# finish: print the number of cases, and exit with 1 if a case has failed. This is the last command of a scenario.
finish() {
	echo "1..$cases"
	((failures == 0))
	exit
}

# network_ready: add the qdisc netem, which network() changes later. Call it before the first connection.
#
# rxe of 6.12 and 7.3 stops a queue pair permanently when the interface rejects one of its packets (see
# tests/vm/README.rst). QP 1 sets up all connections: if it stops, the node is unreachable until its RDMA device is
# recreated, and no message reports that. The interface rejects packets while a qdisc is replaced, but accepts them while
# a qdisc is changed.
#
# The data of ntr devices does not pass the interface.
network_ready() {
	[[ $LINK != ntr ]] || return 0
	modprobe -q sch_netem
	if [[ $(tc qdisc show dev "$NETDEV" root) == *" netem "* ]]; then
		# An earlier scenario of this boot has added netem: remove the rules of that scenario.
		network_rate=$network_no_rate
		network
	else
		tc qdisc add dev "$NETDEV" root netem limit $network_limit
	fi
}

network_limit=100000
network_rate=
# Rules of netem that remove a rate limit: netem keeps a rate until it gets another one, so set a very high rate. Even
# with this rate, a variable delay does not reorder packets.
network_no_rate="rate 1000gbit"

# network [RULES]...: set the rules of netem for packets that leave this node; without RULES remove them. An ntr device can
# only be cut.
network() {
	if [[ $LINK == ntr ]]; then
		[[ $* == "" || $* == "loss 100%" ]] || { echo "ntr: cannot do: $*" >&2; return 1; }
		local cut=/sys/kernel/debug/ntrdma/$RDMADEV/cut
		# The folder has the first name of the device.
		[[ $TWIN == 0 ]] || cut=/sys/kernel/debug/ntrdma/ntr$((NODE - 1))/cut
		[[ -e $cut ]] || cut=/sys/kernel/debug/ntrdma/ntr0/cut
		echo $(($# > 0)) >"$cut"
		return
	fi
	[[ " $* " != *" rate "* ]] || network_rate=$network_no_rate
	# shellcheck disable=SC2086 # two words
	tc qdisc change dev "$NETDEV" root netem limit $network_limit $network_rate "$@"
}

# page_commands PAGE SECTION N: print the commands of the Nth block of "sh" in SECTION of a page of Documentation, which the
# key "add" brings.
page_commands() {
	awk -v section="$2" -v number="$3" '
		/^[=-]+$/ { inside = last == section; block = 0 }
		{ last = $0 }
		/^[^ \t]/ { on = inside && /^\.\. code-block:: sh$/; block += on; next }
		on && NF && block == number' "/add/$1" | sed -E 's/^\t//; s/\s+# .*$//'
}

# inject_failures: let allocations fail, of slabs and pages of any kind, for tasks that ask for it by fail-nth.
inject_failures() {
	local kind debug=/sys/kernel/debug
	for kind in failslab fail_page_alloc; do
		echo 0 >"$debug/$kind/probability"
		echo -1 >"$debug/$kind/times"
		echo N >"$debug/$kind/ignore-gfp-wait"
		echo 0 >"$debug/$kind/verbose"
	done
	echo 0 >"$debug/fail_page_alloc/min-order"
	echo N >"$debug/fail_page_alloc/ignore-gfp-highmem" 2>/dev/null
}

mount_debugfs() {
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
}

mount_configfs() {
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
}

# put FILE VALUE: write VALUE into FILE.
put() {
	echo "$2" >"$1"
}

# counter NAME: print a counter of krdma, which sums over all connections of this node so far. Call mount_debugfs first.
counter() {
	local name value
	while read -r name value; do
		[[ $name != "$1" ]] || echo "$value"
	done <<<"$(</sys/kernel/debug/krdma/counters)"
}

# read_until FILE PATTERN...: read all files that match the PATTERNs, again and again, until FILE exists. Write the number
# of rounds in which all of them could be read into FILE.rounds, and the names of the others into FILE.unreadable.
read_until() {
	local stop=$1 rounds=0 good pattern file
	shift
	: >"$stop.unreadable"
	until [[ -e $stop ]]; do
		good=1
		for pattern in "$@"; do
			# shellcheck disable=SC2086 # a pattern
			for file in $pattern; do
				cat "$file" >/dev/null 2>&1 || { good=0; echo "$file" >>"$stop.unreadable"; }
			done
		done
		rounds=$((rounds + good))
	done
	echo $rounds >"$stop.rounds"
}

# requests_counted: one case: krdma has counted one completion of each posted request of each kind, with or without an
# error.
requests_counted() {
	local wrong
	wrong=$(awk '{ split($1, name, "."); n[name[1], name[2]] = $2; kinds[name[2]] = 1 }
		END { for (kind in kinds) {
			left = n["posted", kind] - n["completed", kind] - n["failed", kind]
			if (left) printf " %s:%d", kind, left } }' \
		<(grep -E '^(posted|completed|failed)\.' /sys/kernel/debug/krdma/counters))
	[[ -z $wrong ]]
	ok $? "krdma counts one completion of each request$wrong"
}

# machine WORD N: let the host kill, boot, stop or continue (cont) machine N, which has no network adapter.
machine() {
	local ask=/exchange/.rig/ask.$2
	echo "$1" >"$ask.new"
	mv "$ask.new" "$ask"
	while [[ -e $ask ]]; do pause 0.05; done
}

# meddle RULE: let the switch between the machines apply a rule to one of the next packets, see "tools/vm" in testing.rst.
# The header of the scenario has a line "# capture: FILE".
meddle() {
	local file=/exchange/.rig/meddle
	echo "$1" >"$file.new"
	mv "$file.new" "$file"
}

# meddled DESCRIPTION: one case, which passes if the rule is applied within 20 s. Cancel the rule otherwise.
meddled() {
	within 20 test ! -e /exchange/.rig/meddle
	ok $? "$1"
	rm -f /exchange/.rig/meddle
}

# on N COMMAND...: run a command on node N only. Succeed on the other nodes.
on() {
	[[ $NODE != "$1" ]] || "${@:2}"
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

# interface_down, interface_up: take the interface of this node down, and bring it up again. Tasks may continue to send.
# Use these functions only with Linux 6.1 (network_down() of device-removal.sh says why), and call network_ready first.
#
# interface_down drops all packets for 0.5 s first, so that virtio_net keeps no packets in its queue. Each packet in
# that queue holds a reference to its QP of rxe, and destroying the QP would wait for 50 s (rxe_pool.c:
# __rxe_cleanup()).
interface_down() {
	network loss 100% && sleep 0.5 && ip link set "$NETDEV" down
}

interface_up() {
	ip link set "$NETDEV" up && network && ip addr replace "$(addr6 "$NODE")/64" dev "$NETDEV" nodad
}

# Factor by which timeouts are longer, and tests shorter, with a debug kernel or an emulated processor.
case $KERNEL in
uml) slow=1 ;;
stock-*) slow=2 ;;
*) slow=4 ;;
esac

# Additional time that a call may take if a connect is unanswered, in ms. An iWARP connect in flight cannot be cancelled:
# destroying its cm_id waits until siw gives up waiting for the MPA reply, after 10 s (iw_cm: IWCM_F_CONNECT_WAIT; siw:
# MPAREP_TIMEOUT; Linux 6.1 and 7.3).
unanswered_ms=0
[[ $LINK != siw ]] || unanswered_ms=11000

# kt COMMAND...: run a command of krdma_test in this process. Sets kt_ret to its result, kt_ms to its duration in ms, and
# kt_text to its text. Fails if the result is negative.
kt() {
	local fd
	kt_ret=-1 kt_ms=0 kt_text=
	exec {fd}<>/proc/krdma_test || return 1
	{ echo "$*" >&"$fd"; } 2>/dev/null
	read -r kt_ret kt_ms kt_text <&"$fd"
	exec {fd}>&-
	((kt_ret >= 0))
}

# kt_rejected COMMAND SLOT ARGUMENT...: run a command with a connect that the peer rejects. On siw a client can miss the
# reason (see krdma_quirk_reject_data()), and gets ECONNREFUSED. So repeat the command there, at most 20 times.
kt_rejected() {
	local tries=1
	[[ $LINK != siw ]] || tries=20
	kt "$@"
	while ((--tries > 0 && kt_ret == errno[ECONNREFUSED])); do
		kt release "$2"
		kt "$@"
	done
}

# Folder for the results of kt_start, and for other files of a scenario.
results=$(mktemp -d)

# kt_start JOB COMMAND...: run COMMAND of krdma_test in a background process. Sets kt_pid to the id of that process, and
# kt_job to JOB.
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
	# The job writes its line by one write(), so a file that is not empty has the complete line.
	until [[ -s $results/$job ]]; do
		((SECONDS < end)) || return 1
		sleep 0.02
	done
	read -r kt_ret kt_ms kt_text <"$results/$job"
}

# kt_is ERRNO DESCRIPTION: one case, which passes if the last kt returned ERRNO: the name of an error, or a number.
kt_is() {
	local wanted=${errno[$1]:-$1}
	if [[ $kt_ret == "$wanted" ]]; then
		ok 0 "$2"
	else
		ok 1 "$2: $kt_ret instead of $wanted (after $kt_ms ms: $kt_text)"
	fi
}

# kt_within FROM TO DESCRIPTION: one case, which passes if the last kt took FROM to TO ms. On slow kernels TO is
# multiplied by "slow", and FROM is reduced by a quarter. FROM is reduced because jiffies may fall behind before a wait
# and catch up during the wait, which makes the wait shorter.
kt_within() {
	local limit=$(($2 * slow)) from=$1
	((slow == 1)) || from=$(($1 * 3 / 4))
	if ((kt_ms >= from && kt_ms <= limit)); then
		ok 0 "$3"
	else
		ok 1 "$3: $kt_ms ms, not $from to $limit"
	fi
}

# expect ERRNO COMMAND...: run COMMAND of krdma_test as one case, which passes if COMMAND returns ERRNO: the name of an
# error, or a number.
expect() {
	local wanted=$1
	shift
	kt "$@"
	kt_is "$wanted" "$* returns $wanted"
}

# with_workers QUEUE N COMMAND...: run COMMAND while at most N work items of the workqueue QUEUE run at a time, as
# happens when memory is short.
with_workers() {
	local file=/sys/devices/virtual/workqueue/$1/max_active n=$2 was status=0
	was=$(<"$file")
	echo "$n" >"$file"
	shift 2
	"$@" || status=$?
	echo "$was" >"$file"
	return "$status"
}

# kt_state SLOT: print the state of the connection in SLOT, or "-" if SLOT has no connection.
kt_state() {
	local name state rest
	while read -r name _ state rest; do
		[[ $name == "$1" ]] && echo "$state" && return
	done </proc/krdma_test
	echo -
}

# logged PATTERN: succeed if a line of the kernel log matches PATTERN.
logged() { dmesg_node | grep "$1" >/dev/null; }

# device_counter NAME: print a counter of the RDMA device of this node.
device_counter() {
	local words
	words=$(rdma statistic show link "$RDMADEV/1")
	[[ $words == *" $1 "* ]] || { echo "no counter $1"; return; }
	words=${words#* "$1" }
	echo "${words%% *}"
}

# krping_run COMMAND: run a command of krping in this process. Succeeds if write() succeeds. Sets "said" to the error
# message, and "line" to the line that can be read from the same file descriptor.
krping_run() {
	local fd status=0
	exec {fd}<>/proc/krping || return 1
	said=$({ echo "$1" >&"$fd"; } 2>&1) || status=$?
	line=
	read -r line <&"$fd"
	exec {fd}>&-
	return $status
}

# krping_try COMMAND: run COMMAND, a client, and repeat it for some seconds while the server refuses the connection.
krping_try() {
	local end=$((SECONDS + 10 * slow))
	until krping_run "$1"; do
		[[ $said == *"refused"* ]] && ((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# krping_idle: succeed if no krping runs in this kernel. krping_listens: succeed if a krping server waits for clients.
krping_idle() { [[ -z $(</proc/krping) ]]; }
krping_listens() { [[ $(</proc/krping) == *listen* ]]; }

# resources: print the numbers of RDMA resources that are in use on this node.
resources() {
	rdma resource show 2>/dev/null | grep "$RDMADEV" | sed 's/^[0-9]*: //'
}

# same_resources BEFORE DESCRIPTION: one case, which passes if resources() prints BEFORE within some seconds. Some
# resources are freed a short time after their connection.
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

# seed N: set the seed of the random numbers to N, and print N, so that a run can be repeated.
# random MAX: set "random" to a random number less than MAX.
seed() {
	RANDOM=$1
	echo "# seed $1"
}

random() {
	random=$(((RANDOM * 32768 + RANDOM) % $1))
}

# for_a_while MIN MAX: sleep for a random time of MIN to MAX seconds.
for_a_while() {
	random $((($2 - $1) * 1000))
	sleep "$(($1 + random / 1000)).$(printf %03d $((random % 1000)))"
}

# --- reflective memory: $RFM is this node's device; the program rfm (rfm2g/rfm.c) accesses it ---

rfm_config=/sys/kernel/config/vrfm

# rfm COMMAND...: run a command of rfm2g/rfm.c on this node's device.
rfm() {
	/add/rfm "$RFM" "$@"
}

# rfm_own COMMAND...: run a command of rfm2g/own.c on this node's device. The program uses the ioctls that vrfm adds to those
# of cards.
rfm_own() {
	/add/own "$RFM" "$@"
}

# add_key TYPE DESCRIPTION LETTERS [LENGTH]: add a key to the keyring of the user's session, or replace its payload: LENGTH
# times (32) each of LETTERS. The function makes the system call, because keyctl may not be installed.
add_key() {
	python3 - "$@" <<'PYTHON'
import ctypes, sys
kind, name, letters, length = [*sys.argv[1:], "32"][:4]
number = 248  # add_key on x86-64
libc = ctypes.CDLL(None, use_errno=True)
payload = b"".join(letter.encode() * int(length) for letter in letters)
sys.exit(libc.syscall(number, kind.encode(), name.encode(), payload, len(payload), -5) < 0)
PYTHON
}

# key_id LETTER: print the id of the key that LETTER fills, see krdma_keys_ids().
key_id() {
	python3 -c "import hashlib, sys; print(hashlib.blake2s(b'krdma 2 id', key=sys.argv[1].encode() * 32, digest_size=4).hexdigest())" "$1"
}

# Level of security of devices that rfm_make creates: "none", or that of a line "# security: LEVEL".
rfm_security=none
[[ ! -e /add/security ]] || rfm_security=$(</add/security)

# rfm_secure: set the level and the key of this node's device, which is not enabled yet.
rfm_secure() {
	local dir=$rfm_config/${RFM#/dev/}
	[[ $rfm_security != none ]] || return 0
	add_key logon vrfm:test K && echo vrfm:test >"$dir/key" && echo "$rfm_security" >"$dir/security"
}

# rfm_make SIZE [ATTRIBUTE=VALUE]...: create this node's device with its peers. The node ids of vrfm are
# the numbers of the test nodes. All nodes can use the same port, because nodes that share a kernel have different
# addresses.
rfm_make() {
	local dir=$rfm_config/${RFM#/dev/} size=$1 word
	shift
	mount_configfs
	mkdir "$dir" && echo "$NODE" >"$dir/node_id" && echo "$size" >"$dir/size" && echo "$(addr4 "$NODE")" >"$dir/listen" ||
		return
	for word in "$@"; do
		echo "${word#*=}" >"$dir/${word%%=*}" || return
	done
	rfm_secure && rfm_peers && echo 1 >"$dir/enable"
}

# Nodes that rfm_make and rfm_peers add as peers. Without a value, they add all other nodes.
rfm_neighbours=
rfm_peers() {
	local i neighbours=$rfm_neighbours
	[[ $neighbours ]] || neighbours=$(seq "$NODES" | grep -vx "$NODE")
	for i in $neighbours; do
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

# rfm_find WORDS: set rfm_line to the first line about this node's device in /proc/rfm2g that begins with WORDS. The
# function starts no process, because polling functions call it, and starting a process takes tens of milliseconds on
# uml.
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

# rfm_peer_line NODE: print the line about the peer NODE in /proc/rfm2g.
rfm_peer_line() {
	! rfm_find "peer $1" || echo "$rfm_line"
}

# rfm_complete: succeed if this node has a complete image, and is not loading an image.
rfm_complete() {
	rfm_find image && [[ $rfm_line == *" complete" ]]
}

# rfm_is STATE [NODE]...: succeed if the peers NODE, or all peers, are in STATE.
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

# rfm_joined [NODE]...: succeed if this node has a complete image, and is linked with the peers NODE, or all peers, in both
# directions.
rfm_joined() {
	rfm_is ready "$@" && rfm_complete
}

# rfm_word_is OFFSET VALUE TEXT: one case, which passes if the word at OFFSET is VALUE.
rfm_word_is() {
	local value
	value=$(rfm peek "$1")
	[[ $value == "$2" ]]
	ok $? "$3: $value"
}

# rfm_value NAME: print a value of this node's device in debugfs. Call mount_debugfs first.
rfm_value() {
	local name value
	while read -r name value; do
		[[ $name == "$1" ]] && echo "$value" && return
	done <<<"$(<"/sys/kernel/debug/vrfm/${RFM#/dev/}/device")"
	return 1
}

# look_again SINCE: pause before the next poll. SINCE is the value of EPOCHREALTIME when the last poll began. The pause
# is four times as long as that poll, within 50 to 500 ms, so that polling leaves the processors to the other tasks.
look_again() {
	local us=$((4 * (${EPOCHREALTIME/[.,]/} - ${1/[.,]/})))
	((us > 50000)) || us=50000
	((us < 500000)) || us=500000
	printf -v us 0.%06d $us
	sleep $us
}

# within SECONDS COMMAND...: poll COMMAND until it succeeds. Fail after SECONDS, or after a longer time on a slow kernel.
within() {
	local end=$((SECONDS + $1 * slow)) since=$EPOCHREALTIME
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		look_again "$since"
		since=$EPOCHREALTIME
	done
}

# control_group NAME FILE CASE: make the control group NAME, and set group to its directory. If the group has no FILE, skip
# CASE and return 1: the kernels of User-mode Linux have no control groups.
control_group() {
	group=/tmp/cgroup/$1
	mkdir -p /tmp/cgroup
	mountpoint -q /tmp/cgroup || mount -t cgroup2 none /tmp/cgroup 2>/dev/null
	echo +memory 2>/dev/null >/tmp/cgroup/cgroup.subtree_control
	if mkdir "$group" 2>/dev/null && [[ -e $group/$2 ]]; then return 0; fi
	skip "$3" "the kernel has no control groups"
	return 1
}

# freeze_task PID SUBJECT: freeze the task PID by a control group, as "docker pause" does, and thaw it. The name of the case
# begins with SUBJECT. Returns 1 if the case was skipped.
freeze_task() {
	local group
	control_group "frozen-$1" cgroup.freeze "$2 is frozen within 5 s" || return 1
	echo "$1" >"$group/cgroup.procs"
	echo 1 >"$group/cgroup.freeze"
	check "$2 is frozen within 5 s" within 5 grep -q "frozen 1" "$group/cgroup.events"
	echo 0 >"$group/cgroup.freeze"
}

# rfm_settle [NODE]...: wait until the peers NODE, or all peers, have all writes of this node. A peer that fell behind has to
# catch up first.
rfm_settle() {
	rfm sync && within 60 rfm_is ready "$@" && rfm sync
}

# rfm_equal NAME [NODE]...: wait until no node writes any more, and until the peers NODE, or all peers, have all
# writes of this node. Succeed if the memories of all nodes are equal. All nodes must call this function with the same
# NAME, which no other call may use. If the memories differ, print the first difference from that of node 1.
rfm_equal() {
	local status=0 name=$1
	shift
	barrier "$name-quiet"
	rfm_settle "$@" || status=1
	barrier "$name-synced"
	rfm sum >"/exchange/sum.$name.$NODE"
	barrier "$name-summed"
	if [[ $(sort -u "/exchange/sum.$name."* | wc -l) != 1 ]]; then
		cat "$RFM" >"/exchange/copy.$name.$NODE"
		barrier "$name-copied"
		cmp "/exchange/copy.$name.1" "/exchange/copy.$name.$NODE"
		status=1
	fi
	return "$status"
}
