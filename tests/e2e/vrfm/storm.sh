#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# storm: all nodes write all the time, by calls and through mappings. While they write, links are cut, the network loses and
# delays packets, programs are killed, and devices and RDMA devices are removed and recreated. Afterwards all memories
# become equal without intervention, and no node has lost a word that it wrote. With a level of security, the key of the
# network is replaced all the time. With the level encrypt, an attacker on the path changes, repeats, exchanges, delays and
# drops packets.
#
#   node 1 --- node 2
#       \       /
#        node 3
#
# nodes: 3
# kernels: uml
# alone: uml/siw stock-6.1 debug-6.1
# lasting: uml
# load: krdma vrfm
# programs: rfm2g/rfm
# append: ncpus=1
# guarantees: G5 G6 G8 S4 S8
# security: auth encrypt long
# attacked: encrypt
# timeout: 1000

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
seconds=${1:-60}
# Seconds of a step of the rotation, which has three steps.
step_seconds=$((seconds < 600 ? 7 : 20))
size=1M
diary=$results/diary
history=
declare -A events

begin_writing() {
	/add/rfm "$RFM" churn $((4096 + 4 * (NODE - 1))) $((64 * 1024 / 4)) "$NODES" 100000 "$diary" &
	writer=$!
	/add/rfm "$RFM" scrawl $((131072 * NODE)) 131072 100000 "$RANDOM" &
	scrawler=$!
}

end_writing() {
	kill -9 "$writer" "$scrawler"
	{ wait "$writer" "$scrawler"; } 2>/dev/null
}

make_device() {
	rfm_make $size keepalive_ms=2000 overload_ms=200
}

# The rotation: in step 3 * R the key R is in use, in the next step the key R + 1 comes as the next one, and then it is the
# first one. A node makes a step when the time of the step has come and it has no other trouble. So nodes may be more than a
# step apart for some seconds, and are then refused.
steps=0
rotated=0

# set_keys STEP: give this node's device the keys of this step, in the order in which it uses them.
set_keys() {
	local letters=ABCDEFGHIJ now next
	now=${letters:$1 / 3 % 10:1} next=${letters:($1 / 3 + 1) % 10:1}
	case $(($1 % 3)) in
	0) letters=$now ;;
	1) letters=$now$next ;;
	2) letters=$next$now ;;
	esac
	add_key logon vrfm:storm "$letters" && echo vrfm:storm >"$rfm_config/${RFM#/dev/}/key"
}

rfm_secure() {
	[[ $rfm_security != none ]] || return 0
	set_keys $steps && echo "$rfm_security" >"$rfm_config/${RFM#/dev/}/security"
}

rotate() {
	local due=$(((SECONDS - began) / step_seconds))
	[[ $rfm_security != none ]] || return 0
	while ((steps < due)); do
		steps=$((steps + 1))
		set_keys $steps || ok 1 "node $NODE makes step $steps of the rotation during the storm"
		rotated=$((rotated + 1))
	done
}

# Node 1 gives the attacker another rule when it has applied the one before.
attacks=0
attack() {
	local actions=("change,byte=90" drop hold repeat swap) action
	[[ $rfm_security == encrypt && $NODE == 1 && ! -e /exchange/.rig/meddle ]] || return 0
	random ${#actions[@]}
	action=${actions[random]}
	random "$NODES"
	meddle "$action,from=$((random + 1)),min=100"
	attacks=$((attacks + 1))
}

# trouble RULES...: apply RULES of netem for a while.
trouble() {
	network "$@"
	for_a_while 0 6
	network
}

killed() {
	end_writing
	for_a_while 0 1
	begin_writing
}

# Recreate the device. Remove the diary, the file in which the writer records its words, because words that were written
# without a link are lost with the device.
restarted() {
	end_writing
	rfm_unmake || ok 1 "node $NODE removes its device during the storm"
	for_a_while 0 3
	rm "$diary"
	make_device || ok 1 "node $NODE creates its device during the storm"
	begin_writing
}

adapter() {
	timeout 60 rdma link del "$RDMADEV" || { ok 1 "rdma link del succeeds during the storm"; return; }
	for_a_while 0 3
	rdma link add "$RDMADEV" type "$LINK" netdev "$NETDEV" || ok 1 "rdma link add succeeds during the storm"
}

kinds=(unplugged lossy killed adapter restarted)
# Kinds that have not happened on this node. They come first, in random order, because with chance alone, each of 50 storms
# lacks a kind.
due=("${kinds[@]}")
often=(unplugged unplugged unplugged lossy lossy killed killed adapter restarted restarted)

happen() {
	local what
	if ((${#due[@]})); then
		random ${#due[@]}
		what=${due[random]}
		unset "due[$random]"
		due=("${due[@]}")
	else
		random ${#often[@]}
		what=${often[random]}
	fi
	case $what in
	unplugged) trouble loss 100% ;;
	lossy) trouble loss 3% delay 2ms 1ms ;;
	killed) killed ;;
	adapter) adapter ;;
	restarted) restarted ;;
	esac
	events[$what]=$((${events[$what]:-0} + 1))
	history+="# until $(uptime_s): $what"$'\n'
}

# Print the time since boot in seconds, as in the kernel log.
uptime_s() {
	cut -d ' ' -f 1 /proc/uptime
}

# Print the state of a node that is not linked.
apart() {
	tc qdisc show dev "$NETDEV" | sed 's/^/# /'
	ip neigh | sed 's/^/# /'
	rdma resource show cm_id 2>/dev/null | sed 's/^/# /'
	rdma resource show qp | sed 's/^/# /'
	mount_debugfs
	grep -r . /sys/kernel/debug/krdma | sed 's/^/# /' | head -n 100
	sed 's/^/# /' /proc/rfm2g
}

# If the memories differ, print the words that differ, the events on this node, and the log of the device.
difference() {
	local i
	printf %s "$history"
	for ((i = 1; i <= NODES; i++)); do
		((i == NODE)) || cmp -l "/exchange/memory-$NODE" "/exchange/memory-$i" |
			awk -v i=$i '{ words[int(($1 - 1) / 4)] } END { for (w in words) print "# other than at node " i ": word at " w * 4 }' | sort -n -k 9 | head -n 40
	done
	dmesg_node | grep "${RFM#/dev/}" | tail -n 60 | sed 's/^/# /'
}

seed "${2:-$((10#$(date +%N) % 32768))}"
network_ready
check "node $NODE creates a device with two peers" make_device
check "node $NODE is linked and complete before the storm" within 30 rfm_joined
barrier linked
begin_writing
began=$SECONDS
end=$((SECONDS + seconds * slow))
while ((SECONDS < end)); do
	attack
	rotate
	happen
	for_a_while 0 2
done
barrier calm
# All nodes have the same key now, and nobody attacks.
began=$((SECONDS - (end - began)))
rotate
if [[ $rfm_security != none ]]; then
	echo "# node $NODE made $rotated steps of the rotation"
	ok $((rotated < 3)) "node $NODE replaced the key of the network during the storm"
fi
if [[ $rfm_security == encrypt ]] && ((NODE == 1)); then
	rm -f /exchange/.rig/meddle
	echo "# $attacks attacks"
	ok $((attacks < 3)) "the attacker was active during the storm"
fi
barrier safe
# The storm ends with a cut while writes are in flight. No later write repairs words that are lost by this cut.
on 1 check "node 1 is cut off while all nodes write" network loss 100%
sleep 0.2
end_writing
if ((NODE == 1)); then
	check "both links of node 1 go down" within 60 rfm_is down
	network
fi
for what in "${kinds[@]}"; do
	echo "# $what: ${events[$what]:-0} times"
	((${events[$what]:-0} > 0)) && echo "$what" >>"/exchange/all-happened"
done
barrier told
# Check the events of all nodes together, because a minute is too short for events of all kinds on each node.
for what in "${kinds[@]}"; do
	grep -qx "$what" /exchange/all-happened
	ok $? "the storm had an event of kind $what"
done
check "node $NODE is linked and complete after the storm" within 120 rfm_joined
rfm_joined || apart
barrier settled
check "all peers have the writes of node $NODE after the storm" rfm_settle
barrier synced
rfm sum >"/exchange/sum-$NODE"
cat "$RFM" >"/exchange/memory-$NODE"
barrier summed
sums=$(sort -u /exchange/sum-* | wc -l)
ok $((sums != 1)) "all nodes are equal after the storm: $(cat /exchange/sum-* | tr '\n' ' ')"
((sums == 1)) || difference
# A node without a diary was restarted at the end, and has written nothing since.
[[ ! -e $diary ]] || check "node $NODE has all words that it wrote" rfm churned $((4096 + 4 * (NODE - 1))) $((64 * 1024 / 4)) "$NODES" "$diary"
rfm_peer_line 1 && rfm_peer_line 2 && rfm_peer_line 3
barrier over
check "node $NODE removes its device" rfm_unmake
same_resources "$before" "no RDMA resource is left"
finish
