# shellcheck shell=bash disable=SC2034 # scenarios use the variables
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# Functions for scenarios that add this file. They configure this node's device step by step, with the node id and the
# peers that a case needs, and check links and log lines.

name=${RFM#/dev/}
dir=$rfm_config/$name
mount_configfs

# device ID [ATTRIBUTE=VALUE]...: create this node's device with the id ID, and do not enable it yet.
device() {
	local id=$1 word
	shift
	mkdir "$dir" && put "$dir/node_id" "$id" && put "$dir/listen" "$(addr4 "$NODE")" || return
	for word in size=1M "$@"; do
		put "$dir/${word%%=*}" "${word#*=}" || return
	done
}

# peer ID ADDRESS: add a peer with the id ID at ADDRESS.
peer() {
	mkdir "$dir/peers/$1" && put "$dir/peers/$1/addr" "$2"
}

enable_device() {
	put "$dir/enable" 1
}

# lines PATTERN: print the number of log lines about this device that match PATTERN.
lines() {
	dmesg_node | grep -c "$name: $1"
}

heard=0
mark() {
	heard=$(lines "$1")
}

said() {
	(($(lines "$1") > heard))
}

# once TEXT: succeed if exactly one line with TEXT was logged since "mark TEXT".
once() {
	(($(lines "$1") == heard + 1))
}

# links ID: print the number of links that peer ID has had so far.
links() {
	local line
	line=$(rfm_peer_line "$1")
	line=${line#* links }
	echo "${line%% *}"
}

# peer_is STATE ID: succeed if peer ID is in STATE.
peer_is() {
	rfm_find "peer $2" && [[ $rfm_line == *" $1 "* ]]
}
