#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# messages: messages arrive complete and in order; messages that are too long are refused.
#
#   node 1 (listens on 10.56.0.1 and fd56::1, port 7000) <--- krdma ---> node 2 (connects)
#
# kernels: uml stock-new uml/ntr uml-debug/ntr uml/ntr-ntb uml/ntr-uml
# long: uml/siw stock-6.1 uml-debug stock-6.12 debug-6.1 debug-6.1/siw uml/ntr-small uml/ntr-order stock-6.1/ntr-dma debug-6.1/ntr-dma stock-6.1/ntr-shm stock-6.1/ntr-bell
# load: krdma krdma_test krping
# timeout: 180

# shellcheck source=tests/e2e/lib.sh
. lib.sh

# Lengths of messages, in bytes: below and above the limit of one buffer (4096 less the header), and with several parts.
sizes="0 1 2 63 64 4079 4080 4081 8160 65535 131072"
before=$(resources)
barrier begun

server_messages() {
	local size
	kt accept a l 20000
	kt_is 0 "the server accepts over IPv$1"
	for size in $sizes; do
		kt receive a 200000 20000
		kt_is "$size" "the server receives $size bytes over IPv$1"
		kt send a "$size"
		kt_is 0 "the server sends back $size bytes over IPv$1"
	done
	server_pieces
	server_limits
	barrier "sent$1"
	kt receive a 64 20000
	kt_is ECONNRESET "the peer's disconnect ends a receive"
	expect ECONNRESET send a 64
	expect 0 release a
}

# The server receives with buffers that are too small. The message stays queued until the server passes a larger buffer.
server_limits() {
	kt peek a 20000
	kt_is 5000 "peek returns the length of the next message"
	expect EMSGSIZE receive a 4999 1000
	expect EMSGSIZE receive a 1 1000
	expect 5000 receive a 5000 1000
	kt receive a 64 200
	kt_is ETIMEDOUT "a receive with a timeout times out"
	kt_within 190 1200 "a receive with a timeout times out in time"
	kt send a 64
	kt_is 0 "the connection works after a receive has timed out"
}

client_messages() {
	local size
	kt connect c "$2" 7000
	kt_is 0 "the client connects over IPv$1"
	for size in $sizes; do
		kt send c "$size"
		kt_is 0 "the client sends $size bytes over IPv$1"
		kt receive c 200000 20000
		kt_is "$size" "the client gets $size bytes back over IPv$1"
	done
	pieces
	expect 0 send c 5000
	kt receive c 64 20000
	kt_is 64 "a message arrives after the server's receive has timed out"
	expect EMSGSIZE send c 200001
	# Wait until the last send of the server has returned. Its message has arrived here, and may not be acknowledged
	# yet.
	barrier "sent$1"
	expect 0 release c
	expect ENOENT send c 1
}

# Lengths of messages that the client sends, and options of the command longsendv, which describe the pieces of memory
# of a message. The server sends the messages back.
piece_sizes="1 4080 4081 65535 65536 150001"
piece_kinds=(piece=1000 "piece=1000000 skip=777" skip=777 bvec=1 "bvec=1 skip=4097 piece=300")

pieces() {
	local size how
	for size in $piece_sizes; do
		for how in "${piece_kinds[@]}"; do
			# shellcheck disable=SC2086 # words of a command
			kt longsendv c "$size" 20000 $how
			kt_is 0 "the client sends $size bytes, $how"
			kt receive c 200000 20000
			kt_is "$size" "the client gets $size bytes back, $how"
		done
	done
	expect EINVAL longsendv c 1000 20000 fill=1
	expect EMSGSIZE longsendv c 200001 20000
}

server_pieces() {
	local size i
	for size in $piece_sizes; do
		for ((i = 0; i < ${#piece_kinds[@]}; i++)); do
			kt receive a 200000 20000
			kt_is "$size" "the server receives $size bytes, ${piece_kinds[i]}"
			kt send a "$size"
		done
	done
}

server_exported() {
	kt accept a r 20000
	kt_is 0 "the server accepts a connection with an exported buffer"
	barrier written
	expect 0 exported a 100000 8192
	kt exported a 0 0
	local own=${kt_text%% *}
	own=${own#own=}
	expect 0 show a 5000 300001
	expect 0 show a 1 $((own - 1))
	expect EMSGSIZE show a 1 "$own"
	expect EMSGSIZE show a 2 $((own - 1))
	expect EMSGSIZE show a 64 4294967295
	barrier looked
	kt_start sink sink a
	kt_result sink 30
	kt_is ECONNRESET "the peer's disconnect ends a sink on a connection with an exported buffer"
	expect 0 release a
}

client_exported() {
	kt connect c "$(addr4 1)" 7001 rw=1
	kt_is 0 "the client connects with an exported buffer"
	expect 0 write c 100000 8192
	expect 0 read c 100000 8192
	barrier written
	barrier looked
	# Read data that the server has changed.
	expect 0 read c 5000 300001
	kt exported c 0 0
	local peer=${kt_text##*peer=}
	echo "# the peer shows $peer bytes"
	expect 0 write c 1 "$((peer - 1))"
	expect EMSGSIZE write c 1 "$peer"
	expect EMSGSIZE write c 2 "$((peer - 1))"
	expect EMSGSIZE read c 64 "$peer"
	expect EMSGSIZE read c 64 4294967295
	expect 0 rwpump c 65536 500
	echo "# rwpump: $kt_text"
	expect 0 release c
}

# Check that an exported buffer has the requested length, which need not be a multiple of the page size.
odd_exported() {
	local own=100 peer=12347 name=c
	if ((NODE == 1)); then
		own=12347 peer=100 name=a
		kt accept a o 20000
	else
		kt connect c "$(addr4 1)" 7003 rw=1 max_msg=100
	fi
	kt_is 0 "connected with buffers of $own and $peer bytes"
	kt exported $name 0 "$own"
	[[ $kt_text == "own=$own peer=$peer" ]]
	ok $? "the exported buffers have $own and $peer bytes ($kt_text)"
	expect EMSGSIZE exported $name 1 "$own"
	expect 0 write $name "$peer" 0
	expect 0 read $name "$peer" 0
	expect 0 write $name 1 $((peer - 1))
	expect EMSGSIZE write $name 1 "$peer"
	expect EMSGSIZE read $name 2 $((peer - 1))
	expect 0 async $name write virt 1 47 offset=$((peer - 47))
	expect EMSGSIZE async $name write virt 1 47 offset=$((peer - 46))
	barrier odd
	expect 0 release $name
}

# krdma_config() applies to the simple calls of one module: to listeners and connections that these calls create later,
# and to the buffers of krdma_receive().
server_config() {
	expect 0 config 5000
	# A length that is too large is ignored.
	expect 0 config 1073741825
	expect 0 listen roomy 0.0.0.0 7009 max_msg=200000
	expect 0 listen plain 0.0.0.0 7004 simple=1
	expect 0 listen usual 0.0.0.0 7005
	barrier configured
	expect 0 accept a roomy 20000
	expect 5000 plain a
	kt plain a
	kt_is EMSGSIZE "krdma_receive() refuses a message that is longer than configured"
	expect EMSGSIZE plain a
	expect 5001 peek a 20000
	expect 5001 receive a 5001 20000
	expect 1 plain a
	expect 0 config 0
	expect 0 accept b plain 20000
	expect 5000 plain b
	expect 0 accept d usual 20000
	expect 5001 plain d
	# A connection without rw=1 has no exported buffer.
	expect EINVAL show d 1 0
	barrier received
	for slot in a b d roomy plain usual; do expect 0 release $slot; done
}

client_config() {
	barrier configured
	expect 0 connect c "$1" 7009
	expect 0 send c 5000
	expect 0 send c 5001
	expect 0 send c 1
	expect 0 connect p "$1" 7004
	expect EMSGSIZE send p 5001
	expect 0 send p 5000
	expect 0 connect u "$1" 7005
	expect 0 send u 5001
	barrier received
	for slot in c p u; do expect 0 release $slot; done
}

# Node 2 loads and unloads another module, which calls krdma_config() with a larger length than krdma_test does.
server_other() {
	expect 0 listen m 0.0.0.0 7010 max_msg=200000
	barrier other
	expect 0 accept a m 20000
	kt send a 100001
	kt_is EMSGSIZE "a message longer than the other module has configured is refused"
	kt send a 100000
	# The send may fail, because the other module may release its connection before the message is acknowledged.
	is_one_of "$kt_ret" 0 "${errno[ECONNRESET]}"
	ok $? "a message of the length that the other module has configured is sent: $kt_ret"
	kt until a CLOSED 20000
	expect 0 release a
	expect 0 release m
	barrier other-over
}

client_other() {
	barrier other
	expect 0 config 5000
	insmod /modules/krdma_other.ko host="$1" port=7010 size=100000
	ok $? "the other module is loaded, and connects"
	(($(</sys/module/krdma_other/parameters/received) == 100000))
	ok $? "krdma_receive() of the other module returns 100000 bytes: $(</sys/module/krdma_other/parameters/received)"
	expect 0 listen mine 0.0.0.0 7011 simple=1
	kt_start taker accept a mine 20000
	expect 0 connect c "$(addr4 2)" 7011
	kt_result taker
	kt_is 0 "krdma_test accepts from itself"
	kt send c 5001
	kt_is EMSGSIZE "a message longer than krdma_test has configured is refused"
	rmmod krdma_other
	ok $? "the other module is unloaded"
	expect 0 send c 5000
	expect 5000 plain a
	expect 0 config 0
	for slot in c a mine; do expect 0 release $slot; done
	barrier other-over
}

# Print the link-local address of this node.
link_local() { ip -6 -o addr show dev "$NETDEV" scope link | sed -n 's|.* inet6 \([^/]*\)/.*|\1|p;q'; }

# pinged ADDRESS: one case: a run of krping over ADDRESS succeeds.
pinged() {
	check "krping over a link-local address" krping_try "client,addr6=$1,port=7007,count=10,validate"
}

server_local() {
	local own
	own=$(link_local)
	expect 0 listen local "$own%$NETDEV" 7006
	[[ $kt_text == "local=[$own]:7006" ]]
	ok $? "a listener on a link-local address reports its address: $kt_text"
	# A link-local address without a scope is ambiguous.
	kt listen none "$own" 7008
	((kt_ret < 0))
	ok $? "listening on a link-local address without a scope is refused: $kt_ret"
	kt release none
	krping_run "server,addr6=$own%$NETDEV,port=7007,count=10" &
	echo "$own" >/exchange/link-local
	barrier local
	expect 0 accept a local 20000
	[[ $kt_text == "peer=[fe80:"* ]]
	ok $? "a connection from a link-local address reports the address of its peer: $kt_text"
	expect 5000 receive a 5000 20000
	expect 0 send a 64
	wait $!
	ok $? "the server of krping on a link-local address succeeds"
	barrier local-over
	expect 0 release a
	expect 0 release local
}

client_local() {
	local server
	barrier local
	server=$(</exchange/link-local)%$NETDEV
	expect 0 connect c "$server" 7006
	expect 0 send c 5000
	expect 64 receive c 64 20000
	pinged "$server"
	barrier local-over
	expect 0 release c
}

if ((NODE == 1)); then
	expect 0 listen l 0.0.0.0 7000 max_msg=200000
	expect 0 listen one "$(addr4 1)" 7002
	expect EADDRINUSE listen again "$(addr4 1)" 7002
	expect 0 release one
	expect 0 release again
	expect 0 nothing
	expect 0 listen r 0.0.0.0 7001 rw=1
	expect 0 listen o 0.0.0.0 7003 rw=1 max_msg=12347
	barrier listening
	server_messages 4
	expect 0 release l
	barrier ipv6
	expect 0 listen l :: 7000 max_msg=200000
	barrier ipv6-listening
	server_messages 6
	server_exported
	odd_exported
	server_config
	server_other
	server_local
	expect 0 release l
	expect 0 release r
	expect 0 release o
else
	barrier listening
	client_messages 4 "$(addr4 1)"
	barrier ipv6
	barrier ipv6-listening
	client_messages 6 "$(addr6 1)"
	client_exported
	odd_exported
	client_config "$(addr4 1)"
	client_other "$(addr4 1)"
	client_local
fi
same_resources "$before" "resources are as before"
finish
