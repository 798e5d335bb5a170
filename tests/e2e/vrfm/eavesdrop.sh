#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# eavesdrop: a listener on the path finds data that a node writes, by write(), through a mapping, and in an image,
# unless the level is encrypt. The listener finds neither the network key nor the key of the tags
# of requests. Packets are dropped, so that the capture also contains what adapters send again.
#
#   node 1 --- listener --- node 2 (writes markers)
#
# kernels: uml uml/siw
# alone: stock-6.1 stock-new
# load: krdma vrfm
# programs: rfm2g/rfm
# capture: /exchange/capture
# append: ncpus=1
# guarantees: S5 S9
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

network_ready
size=$((1 << 20))
# The rig drops packets of RoCE only. siw sends nothing again: TCP repeats bytes that it has.
drops=1
[[ $LINK != siw ]] || drops=0

# marker LEVEL WAY: print the hexadecimal digits of a marker of 16 bytes, which is the same on both nodes.
marker() { python3 -c "import hashlib, sys; print(hashlib.md5(repr(sys.argv).encode()).hexdigest())" "$(</exchange/salt)" "$@"; }

# shellcheck disable=SC2317 # called by check and by within
# at WORD OFFSET HEX [MAPPED]: "put" bytes at OFFSET of the device, by write() or through a mapping. "has": succeed if they
# are there.
at() {
	python3 - "$RFM" "$@" <<'PYTHON'
import mmap, os, sys
name, word, offset, text, *mapped = sys.argv[1:]
offset, data = int(offset), bytes.fromhex(text)
fd = os.open(name, os.O_RDWR)
if word == "has":
    sys.exit(os.pread(fd, len(data), offset) != data)
if mapped:
    with mmap.mmap(fd, offset + len(data)) as memory:
        memory[offset:] = data
else:
    os.pwrite(fd, data, offset)
os.fsync(fd)
PYTHON
}

# heard HEX: succeed if the capture contains these bytes, in any byte order of words of 2 to 16 bytes.
heard() {
	python3 - "$@" <<'PYTHON'
import sys
data, capture = bytes.fromhex(sys.argv[1]), open("/exchange/capture", "rb").read()
orders = {b"".join(data[i:i + size][::-1] for i in range(0, len(data), size)) for size in (1, 2, 4, 8, 16)}
sys.exit(not any(order in capture for order in orders))
PYTHON
}

# Secrets that must not be in a capture: the network key, and the key of the tags of requests.
secrets() { python3 -c "import hashlib; print('4b' * 16, hashlib.blake2s(b'krdma 2 door', key=b'K' * 32).hexdigest())"; }

# judge WAY WHAT OFFSET: node 1 has received the marker, and the listener has it only if the level is not encrypt.
judge() {
	local mark status=0
	mark=$(marker "$level" "$1")
	on 1 check "$level: node 1 receives $2" within 20 at has "$3" "$mark"
	barrier "$level-$1-received"
	((NODE == 1)) || return 0
	heard "$mark" || status=1
	if [[ $level == encrypt ]]; then
		((status == 1))
		ok $? "$level: the listener does not have $2"
	else
		ok "$status" "$level: the listener has $2"
	fi
}

# Node 2 is alone at first, so node 1 receives the first marker in an image.
listen_to() {
	local secret
	level=$1 rfm_security=$1
	if ((NODE == 2)); then
		check "$level: node 2 enables its device" rfm_make $size keepalive_ms=500
		check "$level: node 2 writes data before it has a peer" at put 4096 "$(marker "$level" image)"
	fi
	barrier "$level-begins"
	on 1 check "$level: node 1 enables its device" rfm_make $size keepalive_ms=500
	check "$level: the nodes are linked" within 30 rfm_joined $((3 - NODE))
	judge image "data in an image" 4096
	((NODE == 1 || !drops)) || meddle drop,from=2,min=20
	on 2 check "$level: node 2 writes data by write()" at put 8192 "$(marker "$level" call)"
	judge call "data of write()" 8192
	((NODE == 1 || !drops)) || meddled "$level: a packet is dropped"
	on 2 check "$level: node 2 writes data through a mapping" at put 16384 "$(marker "$level" mapping)" mapped
	judge mapping "data from a mapping" 16384
	for secret in $(secrets); do
		! heard "$secret"
		ok $? "$level: the listener does not have a secret key"
	done
	barrier "$level-over"
	rfm_unmake
	barrier "$level-removed"
}

((NODE != 1)) || head -c 16 /dev/urandom | base64 >/exchange/salt
barrier salt
for level in none auth integrity encrypt; do listen_to $level; done
finish
