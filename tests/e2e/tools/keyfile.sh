#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# keyfile: vrfmctl brings a device with a level of security up only if its file of keys is safe and valid. It makes keys,
# shows their ids, and hands a changed file to a device that is up. The commands of the quick start link two nodes.
#
#   each node for itself: vrfm.conf, key file ---> vrfmctl ---> /sys/kernel/config/vrfm
#   node 1 --- node 2
#
# kernels: uml
# long: stock-6.1
# load: krdma vrfm
# tools: vrfmctl
# programs: rfm2g/rfm
# add: ../../Documentation/quickstart.rst
# guarantees: S9
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

name=${RFM#/dev/}
other=$((3 - NODE))
dir=$rfm_config/$name
conf=$results/vrfm.conf
file=$results/device.key
good="key = $(printf 'A%.0s' {1..43})="
network_ready
mount_configfs

# ctl STATUS PATTERN ARGUMENT...: run vrfmctl on the file $conf as one case, see says().
ctl() {
	says "$1" "$2" vrfmctl -f "$conf" "${@:3}"
}

# key LETTER: print the line of the key that LETTER fills.
key() {
	python3 -c "import base64, sys; print('key =', base64.b64encode(sys.argv[1].encode() * 32).decode())" "$1"
}

# configured LINE...: write the configuration with these lines.
configured() {
	printf '%s\n' "[$name]" "node = $NODE" "size = 1M" "listen = $(addr4 "$NODE")" "$@" >"$conf"
}

# content LINE...: write the file of keys.
content() {
	printf '%s\n' "$@" >"$file"
}

# unsafe WHAT MESSAGE: one case: vrfmctl up refuses the file with MESSAGE, shows no key, and creates no device.
unsafe() {
	local said
	! said=$(vrfmctl -f "$conf" up 2>&1) && [[ $said == *"$2"* && $said != *AAAA* && ! -e $dir ]]
	ok $? "$1 is refused: $said"
}

in_conf() {
	configured "security = secret"
	ctl 1 "*:5: security secret: none, auth, integrity or encrypt" conf
	configured "key_file = device.key"
	ctl 1 "*:5: key_file device.key: an absolute path" conf
	configured "key_file = $file" "key_file = $file"
	ctl 1 "*:6: key_file is there already" conf
	configured "security = auth"
	ctl 1 "*:1: $name: security needs a key_file" conf
	configured "security = auth" "key_file = $file"
	ctl 0 "*$name: node $NODE, size 1M, 0 peers, security auth" conf
}

modes() {
	local mode
	rm -f "$file"
	unsafe "an absent file" "No such file or directory"
	content "$good"
	for mode in 640 620 610 604 602 601 666; do
		chmod $mode "$file"
		unsafe "a file of mode $mode" "other users have rights: chmod 600"
	done
	chmod 600 "$file"
	chown 1234 "$file"
	unsafe "a file of another user" "belongs to user 1234, not to root"
	chown 0 "$file"
	mv "$file" "$file.real"
	ln -s "$file.real" "$file"
	unsafe "a symbolic link" "a file with keys is a regular file"
	rm "$file"
	mkfifo -m 600 "$file"
	unsafe "a FIFO" "a file with keys is a regular file"
	rm "$file"
	mkdir -m 700 "$file"
	unsafe "a folder" "a file with keys is a regular file"
	rmdir "$file"
	mv "$file.real" "$file"
}

contents() {
	local text
	content ""
	unsafe "an empty file" "has no key"
	content "# no key"
	unsafe "a file with comments only" "has no key"
	for text in "key = AAAA" "key = ${good#key = }A" "key =" "key = ${good:6:42}B=" "key = ${good:6:42}-=" "key = ${good:6:43}A"; do
		content "# first" "$text"
		unsafe "the key ${text//A/a}" ":2: a key is 44 characters of base64, for 32 bytes"
	done
	for text in key "lock = ${good#key = }" "peer = ${good#key = }" "peer 256 = ${good#key = }" "peer 01 = ${good#key = }" \
		"peers 1 = ${good#key = }" "peer -1 = ${good#key = }"; do
		content "$text"
		unsafe "the line ${text//A/a}" ":1: key = BASE64, or peer ID = BASE64"
	done
	content "$good" "$good"
	unsafe "the same key twice" ":2: this key is there already"
	content "$(key B)" "$(key C)" "$(key D)" "$(key E)" "$(key F)"
	unsafe "a file with five keys" ":5: at most 4 keys"
	printf '%s\0\n' "$good" >"$file"
	unsafe "a byte of 0" "a byte is 0"
	head -c 200000 /dev/zero | tr '\0' '#' >"$file"
	unsafe "a file of 200000 bytes" "too long"
}

# brought_up: bring the device up with two keys, and change the file while the device is up.
brought_up() {
	content "# of the network" "  $(key A)  # present" "$(key B)"
	ctl 0 "" up
	[[ $(<"$dir/security") == auth && $(<"$dir/key") == "$(key_id A) $(key_id B)" ]]
	ok $? "the device has the level and both keys: $(<"$dir/key")"
	says 0 "$name: security auth, keys $(key_id A) $(key_id B)*" vrfmctl keys "$name"
	says 0 '\[{"device":"'"$name"'","security":"auth","keys":\["'"$(key_id A)"'","'"$(key_id B)"'"\],"peers":\[\]}\]' \
		vrfmctl --json keys "$name"
	content "$(key C)" "peer $other = ${good#key = }"
	configured "security = auth" "key_file = $file" "peer = $other $(addr4 $other)"
	ctl 0 "" up
	[[ $(<"$dir/key") == "$(key_id C)" && $(<"$dir/peers/$other/key") != none ]]
	ok $? "up hands over a changed file with a key of a pair"
	content "$(key C)"
	ctl 0 "" up
	[[ $(<"$dir/peers/$other/key") == none ]]
	ok $? "up removes the key of a pair that the file does not have any more"
	content "peer $other = ${good#key = }"
	ctl 0 "" up
	[[ $(<"$dir/key") == none && $(<"$dir/peers/$other/key") != none ]]
	ok $? "up replaces the key of the device by a key of a pair"
	configured "security = none" "key_file = $file"
	ctl 1 "*$name is up with security auth, not none: vrfmctl down $name first" up
	says 0 "" vrfmctl down "$name"
}

made() {
	rm -f "$results/new.key"
	says 0 "" vrfmctl genkey "$results/new.key"
	[[ $(stat -c "%a %u" "$results/new.key") == "600 0" && $(<"$results/new.key") =~ ^"key = "[A-Za-z0-9+/]{43}=$ ]]
	ok $? "a new file has one key, and only root can read it"
	says 1 "*File exists" vrfmctl genkey "$results/new.key"
	[[ $(vrfmctl genkey) != "$(vrfmctl genkey)" ]]
	ok $? "two keys differ"
	says 0 "" vrfmctl --nodes=1-2,9 genkey "$results/pairs"
	[[ $(grep -h "^peer 9 =" "$results/pairs/1.key" | cut -d= -f2-) == "$(grep -h "^peer 1 =" "$results/pairs/9.key" | cut -d= -f2-)" &&
		$(cat "$results/pairs"/*.key | cut -d= -f2- | sort -u | wc -l) == 3 && $(stat -c %a "$results/pairs") == 700 ]]
	ok $? "both nodes of a pair have its key, and the keys of pairs differ"
	says 2 "*genkey --nodes=NODES needs a folder*" vrfmctl --nodes=1 genkey
	says 2 "*" vrfmctl key
	says 2 "*" vrfmctl key next
	says 2 "*" vrfmctl key forward
	says 2 "*" vrfmctl --now key switch
}

# The commands of the quick start, with other folders, addresses and node ids than on the page.
page() {
	local command commands i etc=$results/etc
	mkdir -p "$etc"
	conf=$etc/vrfm.conf
	configured "peer = $other $(addr4 $other)"
	ctl 0 "" up
	check "two nodes without a level are linked" within 20 rfm_joined $other
	barrier plain
	mapfile -t commands < <(page_commands quickstart.rst "Two machines that know each other" 1)
	for ((i = 0; i < ${#commands[@]}; i++)); do
		command=${commands[i]}
		barrier "typed-$i"
		[[ $command != "vrfmctl keys" ]] || check "both nodes are linked" within 30 rfm_joined $other
		[[ ($command != *genkey* && $command != scp*) || $NODE == 1 ]] || continue
		eval "${command//\/etc\//$etc/}" </dev/null >"$results/said" 2>&1
		ok $? "$command"
	done
	[[ $(<"$results/said") == *"security encrypt, keys "????????$'\n'*"ready"*"none" ]]
	ok $? "the last command shows the id of the key: $(<"$results/said")"
	[[ $(rfm_peer_line $other) == *" key $(<"$dir/key")" ]]
	ok $? "the link was made with the key"
	barrier linked
	says 0 "*, key $(<"$dir/key")" vrfmctl peers "$name"
	says 0 "*\"security\":3,\"key\":\"$(<"$dir/key")\"*" vrfmctl --json peers "$name"
	says 0 "*security encrypt*key $(<"$dir/key")*" vrfmctl status "$name"
	says 0 "*\"key\":\"$(<"$dir/key")\"*" vrfmctl --json status "$name"
	barrier shown
	says 0 "" vrfmctl down "$name"
}

# shellcheck disable=SC2317 # called by page()
vrfmctl() {
	# Node 2 has the copy of the file before its device comes up.
	[[ $1 != down || ! -e /exchange/copied.key || $NODE == 1 ]] || install -m 600 /exchange/copied.key "${conf%.conf}/rfm2g0.key"
	case $1 in
	up | down) command vrfmctl -f "$conf" "$@" ;;
	*) command vrfmctl "$@" ;;
	esac
}

# shellcheck disable=SC2317 # called by page(): copy the file to the other node
scp() {
	install -m 600 "$2" /exchange/copied.key
}

in_conf
modes
contents
brought_up
made
page
finish
