// SPDX-License-Identifier: GPL-2.0
/*
 * Test how a lane uses the memory of its rings, while the peer changes this
 * memory at the worst moment. The peer changes a header as soon as it was
 * checked. Stores that both sides make at the same time become visible at a full
 * barrier, as with the store buffer of a processor. The files frame.c, page.c and
 * ring.c are the real ones. All others are replaced by functions that count.
 */
#include <kunit/test.h>

#include <linux/percpu.h>

#include <asm/barrier.h>

#include "../../ntrdma/frame.c"
#include "../../ntrdma/page.c"
#include "../../ntrdma/ring.c"

static void store_buffers_drain(void);
static enum ntrdma_frame_fault
decode_and_overwrite(struct ntrdma_frame *frame,
		     const struct ntrdma_wire_hdr *hdr,
		     const struct ntrdma_frame_place *at);

#undef virt_mb
#define virt_mb store_buffers_drain /* the peer's stores become visible */
#define ntrdma_frame_decode decode_and_overwrite

/* The tracepoints of trace.h. */
#define NTRDMA_TRACE_H
#define trace_ntrdma_frame_sent(...) do { } while (0)
#define trace_ntrdma_frame_taken(...) do { } while (0)

#include "../../ntrdma/lane.c"

#define OURS 0x1234U
#define THEIRS 0x5678U
#define PEER 1
#define RING_BYTES NTRDMA_RING_MIN
#define CELLS (RING_BYTES / NTRDMA_CELL)
#define WINDOW (NTRDMA_PAGE_BYTES + RING_BYTES)
#define LONG_BYTES 100U

/* A device and the link to one peer, with one lane. */
struct fixture {
	struct ntrdma_dev dev;
	struct ntrdma_peer peer;
	struct ntrdma_wire_page *in;
	struct ntrdma_wire_page *out;
	struct ntrdma_quota quota;
	/* Word that the peer stores at the next barrier, and its value. */
	__le32 *late_word;
	u32 late_value;
	struct ntrdma_frame taken;
	u8 data[LONG_BYTES];
	u32 frames;
	u32 rings;
	enum ntrdma_reason fault;
};

static struct fixture *now;

/* --- what the other files and the peer do --- */

unsigned int ntrdma_idle_us = 1000;
unsigned int ntrdma_spin_us;
unsigned int ntrdma_storm_bells = 100;

static void store_buffers_drain(void)
{
	if (now->late_word)
		WRITE_ONCE(*now->late_word, cpu_to_le32(now->late_value));
	now->late_word = NULL;
}

static enum ntrdma_frame_fault
decode_and_overwrite(struct ntrdma_frame *frame,
		     const struct ntrdma_wire_hdr *hdr,
		     const struct ntrdma_frame_place *at)
{
	struct ntrdma_link_ring *ring = &now->peer.ring[0];
	u32 slot = ntrdma_ring_slot(&ring->rx, at->index);
	enum ntrdma_frame_fault fault;

#undef ntrdma_frame_decode
	fault = ntrdma_frame_decode(frame, hdr, at);
	memset(ring->in + (size_t)NTRDMA_CELL * slot, 0xff, NTRDMA_CELL);
	return fault;
}

void ntrdma_take(struct ntrdma_lane *lane, struct ntrdma_peer *peer,
		 const struct ntrdma_frame *frame, const void *data)
{
	now->taken = *frame;
	memcpy(now->data, data, min(frame->bytes, LONG_BYTES));
	now->frames++;
}

void ntrdma_link_fault(struct ntrdma_peer *peer, enum ntrdma_reason reason)
{
	now->fault = reason;
}

void ntrdma_link_kick(struct ntrdma_dev *dev)
{
}

void ntrdma_eth_take(struct ntrdma_lane *lane, const struct ntrdma_frame *frame,
		     const void *data)
{
}

void ntrdma_eth_wake(struct ntrdma_peer *peer)
{
}

bool ntrdma_send_naks(struct ntrdma_lane *lane, struct ntrdma_peer *peer)
{
	return true;
}

bool ntrdma_qp_hold(struct ntrdma_qp *qp)
{
	return false;
}

void ntrdma_qp_put(struct ntrdma_qp *qp)
{
}

void ntrdma_qp_finish(struct ntrdma_qp *qp)
{
}

enum ntrdma_turn ntrdma_qp_turn(struct ntrdma_qp *qp,
				struct ntrdma_peer **peer)
{
	return NTRDMA_TURN_IDLE;
}

int ntrdma_copies_init(struct ntrdma_dev *dev)
{
	return 0;
}

void ntrdma_copies_free(struct ntrdma_dev *dev)
{
}

bool ntrdma_copies_any(const struct ntrdma_lane *lane)
{
	return false;
}

bool ntrdma_copies_are_late(const struct ntrdma_lane *lane)
{
	return false;
}

bool ntrdma_copies_due(struct ntrdma_lane *lane)
{
	return false;
}

struct ntrdma_peer *ntrdma_copies_take(struct ntrdma_lane *lane, u32 *prod)
{
	return NULL;
}

struct ntrdma_copy_buf *ntrdma_copy_get(struct ntrdma_lane *lane,
					struct ntrdma_peer *peer, u32 bytes)
{
	return NULL;
}

bool ntrdma_copy_start(struct ntrdma_copy_buf *copy, struct ntrdma_peer *peer,
		       void __iomem *to, u32 bytes, u32 start)
{
	return false;
}

static void count_ring(struct ntrdma_dev *dev, u8 member, u8 lane)
{
	now->rings++;
}

static const struct ntrdma_backend_ops ops = {
	.name = "kunit",
	.flags = NTRDMA_COHERENT | NTRDMA_BELLS,
	.ring = count_ring,
};

/* --- the fixture --- */

static void init_peer(struct fixture *f)
{
	static const struct ntrdma_terms terms = {
		.lanes = 1,
		.ring_bytes = RING_BYTES,
		.chunk = NTRDMA_CHUNK_MIN,
	};
	struct ntrdma_peer *peer = &f->peer;

	peer->dev = &f->dev;
	peer->member = PEER;
	peer->window.in = f->in;
	peer->window.out = ntrdma_win_out(f->out);
	peer->window.size = WINDOW;
	peer->session.my = OURS;
	peer->session.yours = THEIRS;
	peer->session.terms = terms;
	INIT_LIST_HEAD(&peer->ring[0].waiting);
	mutex_lock(&f->dev.mutex);
	ntrdma_lane_open(peer, &terms);
	mutex_unlock(&f->dev.mutex);
}

/* The lane is closed, so no poll runs beside the cases. */
static int make_lane(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	now = f;
	f->in = kunit_kzalloc(test, WINDOW, GFP_KERNEL);
	f->out = kunit_kzalloc(test, WINDOW, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->in);
	KUNIT_ASSERT_NOT_NULL(test, f->out);
	f->dev.stats = alloc_percpu(struct ntrdma_stats);
	KUNIT_ASSERT_NOT_NULL(test, f->dev.stats);
	f->quota = (struct ntrdma_quota){ .frames = 16, .bytes = SZ_64K };
	mutex_init(&f->dev.mutex);
	f->dev.config.ops = &ops;
	f->dev.lanes = 1;
	f->dev.lane[0].dev = &f->dev;
	spin_lock_init(&f->dev.lane[0].lock);
	set_bit(NTRDMA_LANE_CLOSED, &f->dev.lane[0].flags);
	init_peer(f);
	return 0;
}

static void free_lane(struct kunit *test)
{
	struct fixture *f = test->priv;

	free_percpu(f->dev.stats);
}

/* The peer sends a frame with @bytes bytes of payload. Return the frame. */
static struct ntrdma_frame arrives(struct fixture *f, u32 bytes)
{
	struct ntrdma_link_ring *ring = &f->peer.ring[0];
	u32 prod = le32_to_cpu(f->in->rings[0].prod);
	u32 slot = ntrdma_ring_slot(&ring->rx, prod);
	struct ntrdma_wire_hdr *hdr = ring->in + (size_t)NTRDMA_CELL * slot;
	struct ntrdma_frame frame = {
		.kind = NTRDMA_SEND,
		.flags = NTRDMA_FIRST | NTRDMA_LAST,
		.cells = ntrdma_frame_cells(bytes),
		.bytes = bytes,
		.dest_qp = 5,
		.src_qp = 6,
		.msn = 7,
		.total = bytes,
	};

	ntrdma_frame_encode(hdr, &frame, prod, OURS);
	memset(bytes <= NTRDMA_SHORT ? hdr->data : (u8 *)(hdr + 1), 0x77,
	       bytes);
	f->in->rings[0].prod = cpu_to_le32(prod + frame.cells);
	return frame;
}

static void take_all(struct fixture *f)
{
	local_bh_disable();
	rcu_read_lock();
	ntrdma_rx_take_some(&f->dev.lane[0], &f->peer, &f->quota);
	rcu_read_unlock();
	local_bh_enable();
}

/*
 * The peer stores @value to @word at the same time as this side does something
 * that needs a barrier.
 */
static void stored_late(struct fixture *f, __le32 *word, u32 value)
{
	f->late_word = word;
	f->late_value = value;
}

/* --- cases --- */

static void header_that_changes_is_read_once(struct kunit *test)
{
	static const u32 sizes[] = { 0, 8, NTRDMA_SHORT, LONG_BYTES };
	struct fixture *f = test->priv;
	struct ntrdma_frame frame;
	u32 i, cons = 0;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(f->data, 0, sizeof(f->data));
		frame = arrives(f, sizes[i]);
		take_all(f);
		cons += frame.cells;
		KUNIT_EXPECT_EQ(test, f->frames, i + 1);
		KUNIT_EXPECT_MEMEQ(test, &f->taken, &frame, sizeof(frame));
		KUNIT_EXPECT_NULL(test, memchr_inv(f->data, 0x77, sizes[i]));
		KUNIT_EXPECT_EQ(test, f->peer.ring[0].rx.cons, cons);
	}
	KUNIT_EXPECT_EQ(test, f->fault, NTRDMA_REASON_NONE);
}

static void invalid_header_is_not_taken(struct kunit *test)
{
	struct ntrdma_wire_hdr *hdr;
	struct fixture *f = test->priv;

	arrives(f, 8);
	hdr = f->peer.ring[0].in;
	hdr->kind = NTRDMA_KINDS;
	take_all(f);
	KUNIT_EXPECT_EQ(test, f->fault, NTRDMA_REASON_BAD_FRAME);
	arrives(f, 8);
	take_all(f);
	KUNIT_EXPECT_EQ(test, f->fault, NTRDMA_REASON_BAD_SEAL);
	KUNIT_EXPECT_EQ(test, f->frames, 0);
	KUNIT_EXPECT_EQ(test, f->peer.ring[0].rx.cons, 0);
}

static void prod_beyond_the_ring_is_not_followed(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->in->rings[0].prod = cpu_to_le32(CELLS + 1);
	take_all(f);
	KUNIT_EXPECT_EQ(test, f->fault, NTRDMA_REASON_BAD_INDEX);
	KUNIT_EXPECT_EQ(test, f->frames, 0);
}

static void frame_that_is_stored_while_the_lane_goes_to_sleep_is_seen(struct kunit *test)
{
	struct fixture *f = test->priv;

	arrives(f, 8);
	take_all(f);
	/* The barrier behind the store of cons is not the one that counts. */
	ntrdma_rx_tell(&f->peer, 0);
	stored_late(f, &f->in->rings[0].prod, 2);
	KUNIT_EXPECT_TRUE(test, ntrdma_rx_sleep(&f->peer, 0));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(f->out->rings[0].bell), 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(f->out->rings[0].cons), 1);
}

static void lane_without_frames_sleeps(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_FALSE(test, ntrdma_rx_sleep(&f->peer, 0));
}

static void bell_that_is_stored_while_a_frame_is_sent_is_rung(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->in->rings[0].bell = cpu_to_le32(100);
	ntrdma_tx_publish(&f->peer, 0, 0, 1);
	KUNIT_EXPECT_EQ(test, f->rings, 0);
	stored_late(f, &f->in->rings[0].bell, 1);
	ntrdma_tx_publish(&f->peer, 0, 1, 2);
	KUNIT_EXPECT_EQ(test, f->rings, 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(f->out->rings[0].prod), 2);
}

static void room_that_is_stored_while_a_sender_begins_to_wait_is_seen(struct kunit *test)
{
	struct fixture *f = test->priv;
	u32 pad;

	f->peer.ring[0].tx.prod = CELLS;
	KUNIT_EXPECT_FALSE(test, ntrdma_tx_place(&f->peer, 0, 1, &pad));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(f->out->rings[0].room), 1);
	stored_late(f, &f->in->rings[0].cons, 1);
	KUNIT_EXPECT_TRUE(test, ntrdma_tx_place(&f->peer, 0, 1, &pad));
}

static void sender_that_waits_while_cells_are_given_back_is_rung(struct kunit *test)
{
	struct fixture *f = test->priv;

	arrives(f, 8);
	take_all(f);
	ntrdma_rx_tell(&f->peer, 0);
	KUNIT_EXPECT_EQ(test, f->rings, 0);
	stored_late(f, &f->in->rings[0].room, 1);
	ntrdma_rx_tell(&f->peer, 0);
	KUNIT_EXPECT_EQ(test, f->rings, 1);
}

static struct kunit_case ntrdma_lane_cases[] = {
	KUNIT_CASE(header_that_changes_is_read_once),
	KUNIT_CASE(invalid_header_is_not_taken),
	KUNIT_CASE(prod_beyond_the_ring_is_not_followed),
	KUNIT_CASE(frame_that_is_stored_while_the_lane_goes_to_sleep_is_seen),
	KUNIT_CASE(lane_without_frames_sleeps),
	KUNIT_CASE(bell_that_is_stored_while_a_frame_is_sent_is_rung),
	KUNIT_CASE(room_that_is_stored_while_a_sender_begins_to_wait_is_seen),
	KUNIT_CASE(sender_that_waits_while_cells_are_given_back_is_rung),
	{}
};

static struct kunit_suite ntrdma_lane_suite = {
	.name = "ntrdma_lane",
	.init = make_lane,
	.exit = free_lane,
	.test_cases = ntrdma_lane_cases,
};

kunit_test_suite(ntrdma_lane_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of ntrdma's use of the rings");
MODULE_LICENSE("GPL");
