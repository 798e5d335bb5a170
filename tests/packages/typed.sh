#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# typed.sh: type the commands of README and quick start verbatim. The root of the nodes has our packages, except
# librfm2g-dev, which is in /debs. A command of these pages that is neither typed nor excepted is a failure, and so is a
# typed command that the pages do not have.
#
#   node 1 (the first) <--- vrfm ---> node 2 (the second), and later node 3
#
# The Soft-RoCE device has the name of the adapter in these pages, mlx5_0, and the addresses are those of the pages.

# shellcheck disable=SC2317 # "on" calls functions
# shellcheck source=tests/e2e/lib.sh
. lib.sh

mine=/exchange/typed.$NODE
said=/tmp/said

# text NAME: print an installed page.
text() {
	zcat -f /usr/share/doc/krdma-dkms/"$1"* /usr/share/doc/rfm2g-tools/"$1"* 2>/dev/null
}

# Print the commands of the quick start: the lines of its blocks of "sh", without comments. If a comment has another
# command for users of the packages, print that command instead of the line.
of_quickstart() {
	text quickstart.rst | awk '/code-block::/ { sh = / sh$/; next } /^[^ \t]/ || /^ *[0-9]\./ { sh = 0 } sh && NF' |
		sed -E 's/^\s+//; s/^.*# with the packages: //; s/\s+# .*$//; s/\s+$//'
}

# Print the commands of README: indented lines that begin with the name of one of these programs. Other indented lines are
# output of commands.
of_readme() {
	text README.md | sed -nE 's/\s+# .*$//; s/^    ((sudo|make|modprobe|echo|head|cd|mkdir|cat|tools\/vm)( .*)?)$/\1/p'
}

stands() {
	[[ $'\n'"$commands"$'\n' == *$'\n'"$1"$'\n'* ]]
}

# taken COMMAND: record that COMMAND is typed, and fail if the page does not have COMMAND.
taken() {
	stands "$1" || ok 1 "the page has the command: $1"
	echo "$1" >>"$mine"
}

# typed COMMAND [WORD=VALUE]: run COMMAND of the page as one case, which passes if COMMAND succeeds. VALUE replaces WORD.
typed() {
	local status=0 command=$1
	taken "$1"
	(($# == 1)) || command=${1//"${2%%=*}"/"${2#*=}"}
	eval "$command" >"$said" 2>&1 || status=$?
	ok "$status" "$1"
	awk '{ print "#   " $0 }' "$said"
}

# says PATTERN: one case, which passes if the output of the last typed command contains PATTERN.
says() {
	[[ $(<"$said") == *$1* ]]
	ok $? "the output has ${1@Q}"
}

# typed_until PATTERN COMMAND: repeat COMMAND for up to a minute, until its output contains PATTERN.
typed_until() {
	local end=$((SECONDS + 60))
	until [[ $(eval "$2" 2>&1) == *$1* ]] || ((SECONDS >= end)); do sleep 1; done
	typed "$2"
	says "$1"
}

# serves COMMAND: start COMMAND, a server, in the background. Wait some seconds, because servers do not report that they
# listen.
serves() {
	taken "$1"
	eval "$1" >"$said" 2>&1 &
	server=$!
	sleep 3
}

# ended: wait up to two minutes until the server ends, and return its exit status.
ended() {
	local end=$((SECONDS + 120))
	while kill -0 "$server" 2>/dev/null && ((SECONDS < end)); do sleep 0.5; done
	kill "$server" 2>/dev/null
	wait "$server"
}

served() {
	ended
	ok $? "the server ends without an error"
}

# excepted REASON COMMAND...: except commands of the page that this test does not type. Each COMMAND is one case, which
# passes if the page has COMMAND.
excepted() {
	local command
	for command in "${@:2}"; do
		stands "$command"
		ok $? "not typed, $1: $command"
		echo "$command" >>"$mine"
	done
}

# on NODES COMMAND...: run COMMAND on these nodes only.
on() {
	[[ $1 != *$NODE* ]] || "${@:2}"
}

# file N: print the Nth /etc/vrfm.conf of the quick start.
file() {
	text quickstart.rst | awk -v n="$1" '/^\t\[rfm2g0\]/ { on = ++count == n } /^[^\t]/ { on = 0 } on' | sed 's/^\t//'
}

readme() {
	commands=$(of_readme)
	excepted "another part" "sudo tools/demo" "sudo tools/demo ntr" "sudo tools/check"
	# shellcheck disable=SC2016 # as in the page
	excepted "instead of packages" 'sudo apt-get install build-essential linux-headers-$(uname -r)' make \
		"sudo make install" "sudo apt-get install dkms" \
		"sudo dkms add . && sudo dkms install krdma/0.1"
	systemctl stop vrfm
	modprobe -qr vrfm
	typed "sudo modprobe rdma_rxe"
	typed "sudo rdma link add rxe0 type rxe netdev eth0"
	ip address add "10.0.0.$NODE/24" dev eth0
	barrier rxe0
	case $NODE in
	1) typed "modprobe vrfm node=1 size=64M listen=10.0.0.1 peers=2@10.0.0.2" ;;
	2) typed "modprobe vrfm node=2 size=64M listen=10.0.0.2 peers=1@10.0.0.1" ;;
	3) check "vrfm is loaded" modprobe vrfm ;;
	esac
	barrier loaded
	on 1 typed "echo hello | dd of=/dev/rfm2g0 conv=notrunc"
	barrier written
	on 2 typed_until hello "head -c 5 /dev/rfm2g0"
	barrier read
	check "vrfm can be unloaded" modprobe -r vrfm
	typed "modprobe krping"
	barrier krping
	on 1 serves "echo server,addr=10.56.0.1,port=9999,size=4096 >/proc/krping"
	barrier serves
	on 2 typed "echo client,addr=10.56.0.1,port=9999,count=100,size=4096,validate >/proc/krping"
	on 1 served
	barrier pinged
	modprobe -r krping
	rdma link delete rxe0
}

adapter_and_network() {
	typed "apt-get install rdma-core ibverbs-utils rdmacm-utils iproute2 ethtool"
	typed "rdma link"
	says "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0"
	ip link set eth0 mtu 1500
	typed "ip link set eth0 mtu 9000"
	barrier mtu
	typed "ibv_devinfo | grep active_mtu"
	says "4096 (5)"
	on 1 typed "ping -c 1 -M do -s 8972 10.0.0.2"
	typed "mkdir -p /sys/kernel/config/rdma_cm/mlx5_0"
	typed "echo 106 >/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos"
	excepted "an adapter" "dcb pfc set dev eth0 prio-pfc 3:on"
	barrier tos
	on 1 serves "rping -s -a 10.0.0.1 -C 3"
	barrier rping
	on 2 typed "rping -c -a 10.0.0.1 -C 3 -v"
	on 1 ended
	((NODE != 2)) || { [[ $(grep -c '^ping data: rdma-ping-' "$said") == 3 ]]; ok $? "rping prints three lines"; }
	barrier rping-over
}

two_nodes() {
	# shellcheck disable=SC2016 # as in the page
	excepted "instead of packages" 'apt-get install build-essential linux-headers-$(uname -r)' make \
		"make install"
	((NODE == 3)) || {
		file "$NODE" >/etc/vrfm.conf
		typed "vrfmctl conf"
		typed "systemctl restart vrfm"
		typed_until "peer $((3 - NODE)) ready missed 0 lag 0 peer_synced 1" "vrfmctl status"
	}
	barrier two
	on 1 typed "rfm2g_util poke32 42 0x100"
	barrier poked
	on 2 typed_until "0x0000002a at 0x00000100" "rfm2g_util peek32 0x100"
	barrier peeked
}

users() {
	((NODE == 1)) || return 0
	useradd --system friend
	runuser -u friend -- rfm2g_util peek32 0x100 >"$said" 2>&1
	says "rfm2g_util: only members of group rfm2g may open /dev/rfm2g0: adduser USER rfm2g, and log in again"
	typed "adduser USER rfm2g" USER=friend
	check "a new member of the group can read" runuser -u friend -- rfm2g_util peek32 0x100
}

programs() {
	((NODE != 3)) || { barrier made; return 0; }
	cd /debs/tree || ok 1 "/debs/tree exists"
	typed "apt-get install build-essential pkg-config"
	typed "apt-get install ../librfm2g-dev_*.deb"
	cat >program.c <<-'END'
		#include <stdio.h>
		#include <rfm2g_api.h>

		int main(void)
		{
			RFM2GHANDLE h;
			RFM2G_UINT32 value;

			if (RFM2gOpen("/dev/rfm2g0", &h) || RFM2gPeek32(h, 0x100, &value))
				return 1;
			printf("%u\n", value);
			return RFM2gClose(&h);
		}
	END
	# shellcheck disable=SC2016 # as in the page
	typed 'gcc -o program program.c $(pkg-config --cflags --libs librfm2g)'
	[[ $(./program) == 42 ]]
	ok $? "the program reads the value of node 1"
	mkdir samples
	cp -r /usr/share/doc/librfm2g-dev/examples/rfm2g samples
	typed "make -C samples/rfm2g"
	barrier made
	on 1 typed "samples/rfm2g/build/block_counter /dev/rfm2g0 write 5"
	on 2 typed "samples/rfm2g/build/block_counter /dev/rfm2g0 read 5"
}

third() {
	typed "systemctl enable vrfm"
	barrier third
	if ((NODE == 3)); then
		file 3 >/etc/vrfm.conf
		barrier others
		typed "systemctl restart vrfm"
		typed "vrfmctl join"
		typed "vrfmctl peers"
		[[ $(grep -c ready "$said") == 2 ]]
		ok $? "vrfmctl peers shows both peers as ready"
	else
		typed "echo 'peer = 3 10.0.0.3' >>/etc/vrfm.conf"
		typed "systemctl reload vrfm"
		barrier others
	fi
	barrier joined
}

# All three nodes get the key of node 1.
known() {
	typed "mkdir -p -m 700 /etc/vrfm"
	[[ $(stat -c %a /etc/vrfm) == 700 ]]
	ok $? "only root can enter /etc/vrfm"
	on 1 typed "vrfmctl genkey /etc/vrfm/rfm2g0.key"
	excepted "no ssh" "scp -p /etc/vrfm/rfm2g0.key 10.0.0.2:/etc/vrfm/"
	on 1 cp /etc/vrfm/rfm2g0.key /exchange/rfm2g0.key
	barrier key
	((NODE == 1)) || install -m 600 /exchange/rfm2g0.key /etc/vrfm/rfm2g0.key
	typed "sed -i 's|^\\[rfm2g0\\]|&\\nsecurity = encrypt\\nkey_file = /etc/vrfm/rfm2g0.key|' /etc/vrfm.conf"
	typed "systemctl restart vrfm"
	barrier known
	check "the nodes are linked with the key" vrfmctl -t 60 join
	typed "vrfmctl keys"
	says "rfm2g0: security encrypt, keys "
	[[ $(grep -c " ready " "$said") == 2 ]]
	ok $? "both links of node $NODE are ready"
	barrier keys
}

last_resort() {
	typed "modprobe krping"
	barrier modprobe
	on 1 serves "echo server,addr=10.0.0.1,port=9999,size=4096 >/proc/krping"
	barrier serves
	on 2 typed "echo client,addr=10.0.0.1,port=9999,count=100,size=4096,validate >/proc/krping"
	on 1 served
	barrier pings
}

# Check that all commands of both pages were typed or excepted.
all_typed() {
	local command
	((NODE == 1)) || return 0
	while read -r command; do
		grep -qxF "$command" /exchange/typed.*
		ok $? "typed or excepted: $command"
	done < <({ of_readme; of_quickstart; } | sort -u)
}

echo "127.0.1.1 $(hostname)" >>/etc/hosts		# sudo resolves this name
rdma link delete "$RDMADEV"
readme
barrier readme
rdma link add mlx5_0 type rxe netdev eth0
commands=$(of_quickstart)
adapter_and_network
two_nodes
users
programs
barrier programs
third
known
last_resort
all_typed
systemctl stop vrfm
rmdir /sys/kernel/config/rdma_cm/mlx5_0
rdma link delete mlx5_0
finish
