#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# storm: all nodes write all the time, by calls and through mappings, while cables are pulled, the network loses and delays,
# programs are killed, devices go and come as new ones, and the RDMA devices below them, too. Afterwards all memories are
# equal with no action by anybody, and no node has lost a word that it wrote.
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
# guarantees: G5 G6 G8
# timeout: 1000

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
seconds=${1:-60}
size=1M
diary=$results/diary
history=
declare -A events

settled() {
	rfm_is ready && rfm_complete
}

# for_a_while MIN MAX: seconds
for_a_while() {
	random $((($2 - $1) * 1000))
	sleep "$(($1 + random / 1000)).$(printf %03d $((random % 1000)))"
}

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

# trouble RULES...: until it is over
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

# What it wrote while it was alone is nobody's any more.
restarted() {
	end_writing
	rfm_unmake || ok 1 "the device goes"
	for_a_while 0 3
	rm "$diary"
	make_device || ok 1 "the device comes"
	begin_writing
}

adapter() {
	timeout 60 rdma link del "$RDMADEV" || { ok 1 "rdma link del"; return; }
	for_a_while 0 3
	rdma link add "$RDMADEV" type "$LINK" netdev "$NETDEV" || ok 1 "rdma link add"
}

happen() {
	local what
	random 10
	case $random in
	0 | 1 | 2) what=unplugged; trouble loss 100% ;;
	3 | 4) what=lossy; trouble loss 3% delay 2ms 1ms ;;
	5 | 6) what=killed; killed ;;
	7) what=adapter; adapter ;;
	*) what=restarted; restarted ;;
	esac
	events[$what]=$((${events[$what]:-0} + 1))
	history+="# until $(uptime_s): $what"$'\n'
}

# As the kernel's log has it.
uptime_s() {
	cut -d ' ' -f 1 /proc/uptime
}

# What to know of a node that is not linked.
apart() {
	tc qdisc show dev "$NETDEV" | sed 's/^/# /'
	ip neigh | sed 's/^/# /'
	rdma resource show cm_id 2>/dev/null | sed 's/^/# /'
	rdma resource show qp | sed 's/^/# /'
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	grep -r . /sys/kernel/debug/krdma | sed 's/^/# /' | head -n 100
	sed 's/^/# /' /proc/rfm2g
}

# What to know of a difference: which words it is, who wrote what, and when.
difference() {
	local i
	printf %s "$history"
	for ((i = 1; i <= NODES; i++)); do
		((i == NODE)) || cmp -l "/exchange/memory-$NODE" "/exchange/memory-$i" |
			awk -v i=$i '{ words[int(($1 - 1) / 4)] } END { for (w in words) print "# other than at node " i ": word at " w * 4 }' | sort -n -k 9 | head -n 40
	done
	dmesg_node | grep "${RFM#/dev/}" | tail -n 60 | sed 's/^/# /'
}

kinds=(unplugged lossy killed adapter restarted)

seed "${2:-$((10#$(date +%N) % 32768))}"
network_ready
check "a device with two peers" make_device
check "is linked" within 30 settled
barrier linked
begin_writing
end=$((SECONDS + seconds * slow))
while ((SECONDS < end)); do
	happen
	for_a_while 0 2
done
barrier calm
# Last, what is under way when a link breaks, and not written again.
((NODE != 1)) || check "a cable is pulled while all write" network loss 100%
sleep 0.2
end_writing
if ((NODE == 1)); then
	check "both links break" within 60 rfm_is down
	network
fi
for what in "${kinds[@]}"; do
	echo "# $what: ${events[$what]:-0} times"
	((${events[$what]:-0} > 0)) && echo "$what" >>"/exchange/all-happened"
done
barrier told
# Of all nodes together: a minute is too short for each to have seen all.
for what in "${kinds[@]}"; do
	grep -qx "$what" /exchange/all-happened
	ok $? "$what: it happened"
done
check "all are linked, and complete" within 120 settled
settled || apart
barrier settled
check "what was stored is sent" rfm_settle
barrier synced
rfm sum >"/exchange/sum-$NODE"
cat "$RFM" >"/exchange/memory-$NODE"
barrier summed
sums=$(sort -u /exchange/sum-* | wc -l)
ok $((sums != 1)) "all are equal: $(cat /exchange/sum-* | tr '\n' ' ')"
((sums == 1)) || difference
# Who was restarted at the end may have written nothing since.
[[ ! -e $diary ]] || check "what this node wrote is there" rfm churned $((4096 + 4 * (NODE - 1))) $((64 * 1024 / 4)) "$NODES" "$diary"
rfm_peer_line 1 && rfm_peer_line 2 && rfm_peer_line 3
barrier over
check "the device goes" rfm_unmake
same_resources "$before" "no RDMA resource is left"
finish
