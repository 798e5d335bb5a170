#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# rotate: the key of a network is replaced while all nodes work: next, switch, drop, node by node. No update and no event is
# lost, and no step leaves two nodes that cannot connect, although node 2 restarts in each step. A node that was absent
# during the rotation is refused until it has the new key.
#
#   node 1 (writes, sends events) --- node 2 (restarts) --- node 3 (writes, counts events) --- node 1
#
# nodes: 3
# kernels: uml uml/siw
# alone: stock-6.1 uml-debug
# load: krdma vrfm
# tools: vrfmctl
# programs: rfm2g/rfm
# append: ncpus=1
# guarantees: G3 G8 S8
# timeout: 400

# shellcheck disable=SC2317 # functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

name=${RFM#/dev/}
dir=$rfm_config/$name
conf=$results/vrfm.conf
file=$results/device.key
events=0
network_ready
mount_configfs

ctl() {
	vrfmctl -f "$conf" "$@" >"$results/said" 2>&1
	local status=$?
	sed 's/^/# /' "$results/said"
	return $status
}

# share NAME: node 1 makes a key, and all nodes get the file NAME.
share() {
	((NODE != 1)) || vrfmctl genkey "/exchange/$1"
	barrier "made-$1"
	install -m 600 "/exchange/$1" "$results/$1"
}

links() {
	local line
	line=$(rfm_peer_line "$1")
	line=${line#* links }
	echo "${line%% *}"
}

# Node 1 sends 15 events to node 3, which counts them at the end.
send() {
	((NODE != 1)) || rfm burst 3 1 $((events + 1)) $((events + 15))
	events=$((events + 15))
}

# restarted: node 2 restarts its device, which connects to nodes that may be one step ahead or behind.
restarted() {
	on 2 check "$1: node 2 takes its device down" ctl down
	on 2 check "$1: node 2 brings its device up" ctl up
	check "$1: node $NODE is linked with all nodes" within 60 rfm_joined
	barrier "restarted-$1"
}

# step NAME WORD...: the nodes make a step one after the other. Node 2 restarts after each of them.
step() {
	local node
	for node in 1 2 3; do
		on $node check "$1: node $node makes its step" ctl "${@:2}"
		barrier "$1-made-$node"
		send
		restarted "$1-$node"
	done
}

# Nodes 1 and 3 write their own words all the time, in two areas.
begin_writing() {
	((NODE != 2)) || return 0
	/add/rfm "$RFM" churn $((4096 + 4 * (NODE - 1))) $((16 * 1024 / 4)) "$NODES" 100000 "$results/diary" &
	writer=$!
}

end_writing() {
	((NODE != 2)) || return 0
	kill -9 "$writer"
	{ wait "$writer"; } 2>/dev/null
	check "node $NODE has all words that it wrote" rfm churned $((4096 + 4 * (NODE - 1))) $((16 * 1024 / 4)) "$NODES" \
		"$results/diary"
}

# used ID: succeed if all links of this node were made with the key ID.
used() {
	rfm_joined && ! grep "^  peer .* key " /proc/rfm2g | grep -v " key $1$" >/dev/null
}

rotation() {
	local before
	! ctl key switch
	ok $? "node $NODE refuses to switch without a next key"
	step next key next "$results/two.key"
	[[ $(<"$dir/key") == "$one "???????? ]]
	ok $? "node $NODE has the next key behind the present one"
	two=$(<"$dir/key")
	two=${two#* }
	step switch key switch
	[[ $(<"$dir/key") == "$two $one" ]]
	ok $? "node $NODE has the next key first"
	barrier switched
	# The link of nodes 1 and 3 still has the old key.
	if ((NODE == 1)); then
		! ctl key drop
		ok $? "node 1 refuses to drop a key in use"
		[[ $(<"$results/said") == *"uses the old key: --now makes it again"* && $(<"$dir/key") == "$two $one" ]]
		ok $? "node 1 says how to drop the key, and keeps it"
		before=$(links 3)
		check "node 1 makes its links again, and drops the key" ctl --now key drop
		(($(links 3) == before + 1))
		ok $? "the link of nodes 1 and 3 was made again once"
	fi
	barrier dropped-1
	send
	restarted dropped
	((NODE == 1)) || check "node $NODE drops the key" ctl key drop
	barrier dropped
	[[ $(<"$dir/key") == "$two" && $(grep -c "^key = " "$file") == 1 ]]
	ok $? "node $NODE has the new key only"
	check "all links of node $NODE have the new key" within 30 used "$two"
	barrier rotated
}

# Node 2 misses a rotation.
absent() {
	on 2 check "node 2 is absent" ctl down
	barrier absent
	((NODE == 2)) || check "node $NODE adds a key" ctl key next "$results/three.key"
	barrier next-again
	((NODE == 2)) || check "node $NODE switches to the key" ctl key switch
	barrier switched-again
	on 1 check "node 1 drops the old key" ctl --now key drop
	barrier dropped-again
	on 3 check "node 3 drops the old key" ctl key drop
	barrier absent-over
	on 2 check "node 2 comes back with the old key" ctl up
	on 2 check "node 2 is refused because of its key" within 20 refused_for_key
	barrier refused
	if ((NODE == 2)); then
		install -m 600 "$results/three.key" "$file"
		check "node 2 reads the new key" ctl rekey
	fi
	check "node $NODE is linked with all nodes after the rotation" within 60 rfm_joined
	barrier back
}

refused_for_key() {
	vrfmctl peers "$name" >"$results/said" && grep "it has another key" "$results/said" >/dev/null
}

# New connections with the same key.
again() {
	local before
	before=$(links 3)
	on 1 check "node 1 makes its links again" ctl --links rekey
	on 1 test "$(links 3)" = $((before + 1))
	ok $? "the link of nodes 1 and 3 was made again"
	barrier again
	check "node $NODE is linked with all nodes again" within 60 rfm_joined
}

share one.key
share two.key
share three.key
install -m 600 "$results/one.key" "$file"
# The link of nodes 1 and 3 must last until the key is dropped, even if a busy machine stops a node for some seconds.
printf '%s\n' "[$name]" "node = $NODE" "size = 1M" "listen = $(addr4 "$NODE")" "keepalive_ms = 5000" "security = encrypt" \
	"key_file = $file" >"$conf"
for ((i = 1; i <= NODES; i++)); do
	((i == NODE)) || echo "peer = $i $(addr4 $i)" >>"$conf"
done
check "node $NODE brings its device up" ctl up
one=$(<"$dir/key")
check "node $NODE is linked with all nodes" within 30 rfm_joined
barrier linked
begin_writing
rotation
end_writing
if ((NODE == 3)); then
	got=$(rfm drain 1 $((300 * slow)))
	# Node 1 has sent 105 events: 15 in each of six steps, and 15 after it dropped the key.
	[[ $got == "$(seq -s ' ' 1 $events | sed 's/$/ /')" ]]
	ok $? "node 3 has all events in order: ${got:0:60}..."
fi
barrier counted
absent
again
check "the memories are equal after the rotations" rfm_equal rotated
! { dmesg; cat /proc/rfm2g; } | grep -F -f <(cut -d' ' -f3 "$results"/{one,two,three}.key) >/dev/null
ok $? "no key is in the log or in /proc/rfm2g"
check "node $NODE takes its device down" ctl down
finish
