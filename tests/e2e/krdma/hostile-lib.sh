# shellcheck shell=bash disable=SC2034,SC2154 # for those who read this file
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# Functions for scenarios that add this file. They build messages of krdma's protocol as bytes, and run commands of
# krdma_hostile, which sends such messages.

# Node 2 attacks node 1.
victim=$(addr4 1)
here=$(addr4 2)
# Maximum length of a message in bytes.
max_msg=65536

# ---- bytes ----

# le SIZE VALUE: append VALUE to "hex", as SIZE bytes in little-endian order.
le() {
	local i byte
	for ((i = 0; i < $1; i++)); do
		printf -v byte %02x $((($2 >> 8 * i) & 255))
		hex+=$byte
	done
}

# hello [FIELD=VALUE]...: set "hex" to a HELLO that is valid except for these fields. HELLO is the private data of a
# connect request. With cut=N, it has only its first N bytes. With more=N, N zero bytes follow it.
hello() {
	local magic=0x616d646b version=1 min=1 mode=0 user=0 buf=4096 max=$max_msg depth=64 features=0 session=1 cut=24 more=0
	(($# == 0)) || local "$@"
	hex=
	le 4 $magic; le 1 $version; le 1 $min; le 1 $mode; le 1 $user
	le 4 "$buf"; le 4 "$max"; le 2 "$depth"; le 2 "$features"; le 4 "$session"
	hex=${hex:0:2 * cut}
	[[ $more == 0 ]] || hex+=+$more
	hex=${hex:--}
}

# tag KEY CLIENT PORT HEX: print the tag of a request to the host in "victim". KEY is a letter, which fills the key.
tag() {
	python3 - "$@" "$victim" <<'PYTHON'
import hashlib, ipaddress, sys
key, client, port, req, server = sys.argv[1:]
door = hashlib.blake2s(b"krdma 2 door", key=key.encode() * 32).digest()
ends = b"".join(bytes(10) + b"\xff\xff" + ipaddress.ip_address(host).packed for host in (client, server))
print(hashlib.blake2s(bytes.fromhex(req) + ends + int(port).to_bytes(2, "big"), key=door, digest_size=8).hexdigest())
PYTHON
}

# request [FIELD=VALUE]...: set "hex" to a hello of version 2 with the level auth, which is valid except for these fields.
request() { hello version=2 min=2 mode=16 session=7 "$@"; }

# message WORD,...: set "hex" to a message. FIELD=VALUE sets a field of its header. Other words append to the message:
# body=N: N bytes that krdma_test accepts as data. shown=LEN/NSEGS: the head of a description of memory.
# seg=ADDR/KEY/LEN: a segment of a description. more=N: N zero bytes. cut=N keeps only the first N bytes of the message.
message() {
	local version=1 type=1 credits=0 len=0 id=0 offset=0 cut=9999 more=0 body=0 item i parts
	local rest=()
	for item in ${1//,/ }; do
		case $item in
		shown=* | seg=*) rest+=("$item") ;;
		*) local "${item?}" ;;
		esac
	done
	hex=
	le 1 $version; le 1 $type; le 2 $credits; le 4 $len; le 4 $id; le 4 $offset
	for ((i = 0; i < body; i++)); do le 1 $((i * 7 + (i >> 8) + body)); done
	for item in "${rest[@]}"; do
		IFS=/ read -ra parts <<<"${item#*=}"
		case $item in
		shown=*) le 8 "${parts[0]}"; le 4 "${parts[1]}"; le 4 0 ;;
		seg=*) le 8 "${parts[0]}"; le 4 "${parts[1]}"; le 4 "${parts[2]}" ;;
		esac
	done
	hex=${hex:0:2 * cut}
	hex=${hex:--}
	[[ $more == 0 ]] || hex+=+$more
}

# translate STEP...: set "steps" to these steps of krdma_hostile. In each step, {WORD,...} is replaced by the bytes of
# the message that message() builds from WORD,...
translate() {
	local step head
	steps=()
	for step; do
		head=${step%%\{*}
		if [[ $step == *"{"* ]]; then
			message "${step:${#head}+1:-1}"
			step=$head$hex
		fi
		steps+=("$step")
	done
}

# ht COMMAND...: run COMMAND in krdma_hostile. Set ht_ret to its result, and got[NAME] for each NAME=VALUE in its answer.
declare -A got
ht() {
	local fd word answer
	got=()
	exec {fd}<>/proc/krdma_hostile
	{ echo "$*" >&"$fd"; } 2>/dev/null
	read -ra answer <&"$fd"
	exec {fd}>&-
	ht_ret=${answer[0]}
	for word in "${answer[@]:2}"; do got[${word%%=*}]=${word#*=}; done
	ht_text=${answer[*]}
}
