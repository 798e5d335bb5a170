// SPDX-License-Identifier: GPL-2.0
/*
 * Test the responder with frames as any peer may send them: from a stranger, with
 * other keys in later pieces, repeated, and after a NAK. The memory is checked by
 * mem.c. All other files are replaced by functions that count.
 */
#include <kunit/test.h>

#include <linux/percpu.h>

#include "../../ntrdma/emulate.c"
#include "../../ntrdma/mem.c"
#include "../../ntrdma/resp.c"
#include "../../ntrdma/take.c"

#define OWN_QP 0x11U
#define PEER_QP 0x22U
#define MSN 0xffffffU
#define WRITABLE 0x100U
#define READABLE 0x200U
#define IOVA 0x10000ULL
#define PIECE 64U
#define BYTES (4 * PIECE)
#define OLD 0x5a
#define RECVS 2

/*
 * A QP that is connected to QP PEER_QP of a peer, and two regions with the same
 * memory and different rights.
 */
struct fixture {
	struct ntrdma_dev dev;
	struct ntrdma_peer peer;
	struct ntrdma_peer stranger;
	struct ib_pd pd;
	struct ntrdma_qp qp;
	struct ntrdma_answer answer[NTRDMA_MAX_READS];
	struct ib_sge sge;
	struct ntrdma_mr writable;
	struct ntrdma_mr readable;
	u64 pages[1];
	u8 *memory;
	u8 data[BYTES];
	u32 recvs;
	u32 completed;
	bool placed;
	enum ib_event_type event;
};

static struct fixture *now;

/* --- what the other files do --- */

struct ntrdma_qp *ntrdma_qp_get(struct ntrdma_dev *dev, u32 number)
{
	return number == OWN_QP ? &now->qp : NULL;
}

void ntrdma_qp_put(struct ntrdma_qp *qp)
{
}

void ntrdma_qp_event(struct ntrdma_qp *qp, enum ib_event_type event)
{
}

void ntrdma_qp_fail(struct ntrdma_qp *qp, enum ib_wc_status status,
		    enum ib_event_type event)
{
	qp->state = IB_QPS_ERR;
	now->event = event;
}

void ntrdma_lane_kick(struct ntrdma_qp *qp)
{
}

bool ntrdma_slot_reserve(struct ntrdma_slot *slot, struct ntrdma_peer *peer,
			 u8 lane, u32 bytes)
{
	return false;
}

void ntrdma_slot_commit(struct ntrdma_slot *slot, struct ntrdma_frame *frame,
			const void *data)
{
}

bool ntrdma_rq_is_empty(const struct ntrdma_rq *rq)
{
	return !now->recvs;
}

bool ntrdma_rq_take(struct ntrdma_rq *rq, struct ntrdma_recv *recv,
		    struct ib_sge *sge)
{
	if (!now->recvs)
		return false;
	now->recvs--;
	*sge = (struct ib_sge){ .addr = IOVA, .length = BYTES,
				.lkey = WRITABLE };
	*recv = (struct ntrdma_recv){ .num_sge = 1, .bytes = BYTES,
				      .sge = sge };
	return true;
}

bool ntrdma_srq_take(struct ntrdma_srq *srq, struct ntrdma_recv *recv,
		     struct ib_sge *sge)
{
	return false;
}

void ntrdma_wc_recv(struct ntrdma_qp *qp, struct ib_wc *wc, bool solicited,
		    struct ntrdma_note *note)
{
	qp->resp.has_recv = false;
	now->completed++;
	now->placed = !memcmp(now->memory, now->data, wc->byte_len);
}

void ntrdma_notify(struct ntrdma_qp *qp, const struct ntrdma_note *note)
{
}

bool ntrdma_mr_invalidate(struct ntrdma_dev *dev, struct ib_pd *pd, u32 key,
			  bool remote)
{
	return true;
}

void ntrdma_ud_take(struct ntrdma_qp *qp, const struct ntrdma_frame *frame,
		    const void *data)
{
}

void ntrdma_comp_take(struct ntrdma_qp *qp, const struct ntrdma_frame *frame,
		      const void *data)
{
}

/* --- the fixture --- */

static int add_region(struct fixture *f, struct ntrdma_mr *mr, u32 key,
		      int access)
{
	rwlock_init(&mr->lock);
	mr->dev = &f->dev;
	mr->ib.pd = &f->pd;
	mr->valid = true;
	mr->key = key;
	mr->access = access;
	mr->iova = IOVA;
	mr->length = BYTES;
	mr->page_shift = PAGE_SHIFT;
	mr->pages = f->pages;
	return xa_err(xa_store(&f->dev.mrs, key >> 8, mr, GFP_KERNEL));
}

static void init_qp(struct fixture *f)
{
	struct ntrdma_qp *qp = &f->qp;

	spin_lock_init(&qp->lock);
	spin_lock_init(&qp->rq.lock);
	INIT_LIST_HEAD(&qp->srq_entry);
	qp->ib.qp_type = IB_QPT_RC;
	qp->ib.pd = &f->pd;
	qp->dev = &f->dev;
	qp->number = OWN_QP;
	qp->state = IB_QPS_RTS;
	qp->lane = &f->dev.lane[0];
	qp->attr.dest_qp_num = PEER_QP;
	qp->attr.qp_access_flags = IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_ATOMIC;
	RCU_INIT_POINTER(qp->peer, &f->peer);
	qp->resp = (struct ntrdma_resp){
		.msn = MSN,
		.done = MSN - 1,
		.dropping = true,
		.sge = &f->sge,
		.answer = f->answer,
		.max_answers = 2,
	};
}

static int make_qp(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	now = f;
	f->memory = (u8 *)get_zeroed_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->memory);
	f->pages[0] = (uintptr_t)f->memory;
	f->dev.stats = alloc_percpu(struct ntrdma_stats);
	KUNIT_ASSERT_NOT_NULL(test, f->dev.stats);
	memset(f->memory, OLD, BYTES);
	for (i = 0; i < BYTES; i++)
		f->data[i] = i + 1;
	for (i = 0; i < 2; i++) {
		f->dev.lane[i].dev = &f->dev;
		f->dev.lane[i].number = i;
	}
	xa_init(&f->dev.mrs);
	init_qp(f);
	return add_region(f, &f->writable, WRITABLE,
			  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			  IB_ACCESS_REMOTE_ATOMIC) ?:
	       add_region(f, &f->readable, READABLE, IB_ACCESS_REMOTE_READ);
}

static void free_qp(struct kunit *test)
{
	struct fixture *f = test->priv;

	xa_destroy(&f->dev.mrs);
	free_percpu(f->dev.stats);
	free_page((unsigned long)f->memory);
}

static struct ntrdma_frame message(u8 kind, u32 msn, u32 bytes)
{
	struct ntrdma_frame frame = {
		.kind = kind,
		.flags = NTRDMA_ACK_REQ,
		.dest_qp = OWN_QP,
		.src_qp = PEER_QP,
		.msn = msn & NTRDMA_NUMBER_MASK,
		.total = bytes,
		.addr = IOVA,
		.rkey = kind == NTRDMA_READ ? READABLE : WRITABLE,
	};

	if (kind == NTRDMA_SEND || kind == NTRDMA_WRITE)
		frame.flags |= NTRDMA_FIRST | NTRDMA_LAST;
	if (kind != NTRDMA_READ)
		frame.bytes = bytes;
	return frame;
}

/* Piece @i of a message of BYTES bytes. */
static struct ntrdma_frame piece(u8 kind, u32 i)
{
	struct ntrdma_frame frame = message(kind, MSN, BYTES);

	frame.offset = i * PIECE;
	frame.bytes = PIECE;
	if (i)
		frame.flags &= ~NTRDMA_FIRST;
	if (frame.offset + PIECE < BYTES)
		frame.flags &= ~(NTRDMA_LAST | NTRDMA_ACK_REQ);
	return frame;
}

static void take_from(struct fixture *f, struct ntrdma_peer *peer, u8 lane,
		      const struct ntrdma_frame *frame)
{
	local_bh_disable();
	rcu_read_lock();
	ntrdma_take(&f->dev.lane[lane], peer, frame, f->data + frame->offset);
	rcu_read_unlock();
	local_bh_enable();
}

static void take(struct fixture *f, struct ntrdma_frame frame)
{
	take_from(f, &f->peer, 0, &frame);
}

static bool is_untouched(struct fixture *f, u32 from)
{
	return !memchr_inv(f->memory + from, OLD, BYTES - from);
}

static u8 nak_of(const struct fixture *f)
{
	return f->qp.resp.nak & 0xff;
}

/* --- cases --- */

static void frames_of_strangers_are_dropped(struct kunit *test)
{
	struct ntrdma_frame frame = message(NTRDMA_WRITE, MSN, BYTES);
	struct fixture *f = test->priv;

	take_from(f, &f->stranger, 0, &frame);
	KUNIT_EXPECT_TRUE(test, is_untouched(f, 0));
	take_from(f, &f->peer, 1, &frame);
	KUNIT_EXPECT_TRUE(test, is_untouched(f, 0));
	frame.src_qp = PEER_QP + 1;
	take_from(f, &f->peer, 0, &frame);
	KUNIT_EXPECT_TRUE(test, is_untouched(f, 0));
	KUNIT_EXPECT_EQ(test, f->qp.resp.msn, MSN);
	frame.src_qp = PEER_QP;
	take_from(f, &f->peer, 0, &frame);
	KUNIT_EXPECT_MEMEQ(test, f->memory, f->data, BYTES);
	KUNIT_EXPECT_EQ(test, f->qp.resp.msn, 0);
}

static void write_in_pieces_is_stored_and_acknowledged_once(struct kunit *test)
{
	struct fixture *f = test->priv;
	u32 i;

	for (i = 0; i < BYTES / PIECE; i++) {
		KUNIT_EXPECT_FALSE(test, f->qp.resp.ack);
		KUNIT_EXPECT_TRUE(test, is_untouched(f, i * PIECE));
		take(f, piece(NTRDMA_WRITE, i));
	}
	KUNIT_EXPECT_MEMEQ(test, f->memory, f->data, BYTES);
	KUNIT_EXPECT_TRUE(test, f->qp.resp.ack);
	KUNIT_EXPECT_EQ(test, f->qp.resp.done, MSN);
}

/* A peer may name another key, address or end in each piece. */
static void each_piece_needs_the_right_to_write(struct kunit *test)
{
	struct ntrdma_frame frame = piece(NTRDMA_WRITE, 1);
	struct fixture *f = test->priv;

	frame.rkey = READABLE;
	take(f, piece(NTRDMA_WRITE, 0));
	take(f, frame);
	KUNIT_EXPECT_TRUE(test, is_untouched(f, PIECE));
	KUNIT_EXPECT_EQ(test, nak_of(f), NTRDMA_NAK_ACCESS);
	KUNIT_EXPECT_EQ(test, f->event, IB_EVENT_QP_ACCESS_ERR);
}

static void each_piece_needs_a_valid_region(struct kunit *test)
{
	struct fixture *f = test->priv;

	take(f, piece(NTRDMA_WRITE, 0));
	f->writable.valid = false;
	take(f, piece(NTRDMA_WRITE, 1));
	KUNIT_EXPECT_TRUE(test, is_untouched(f, PIECE));
	KUNIT_EXPECT_EQ(test, nak_of(f), NTRDMA_NAK_ACCESS);
}

static void address_of_a_piece_does_not_wrap(struct kunit *test)
{
	struct ntrdma_frame frame = piece(NTRDMA_WRITE, 1);
	struct fixture *f = test->priv;

	frame.addr = U64_MAX;
	take(f, piece(NTRDMA_WRITE, 0));
	take(f, frame);
	KUNIT_EXPECT_TRUE(test, is_untouched(f, PIECE));
	KUNIT_EXPECT_EQ(test, nak_of(f), NTRDMA_NAK_ACCESS);
}

static void refused_message_is_not_acknowledged(struct kunit *test)
{
	struct ntrdma_frame frame = message(NTRDMA_WRITE, MSN, BYTES);
	struct fixture *f = test->priv;

	frame.rkey = READABLE;
	take(f, frame);
	KUNIT_EXPECT_FALSE(test, f->qp.resp.ack);
	KUNIT_EXPECT_EQ(test, f->qp.resp.done, MSN - 1);
	KUNIT_EXPECT_EQ(test, f->qp.resp.nak_msn, MSN);
}

static void receive_completes_after_its_data_is_stored(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->recvs = 1;
	take(f, message(NTRDMA_SEND, MSN, BYTES));
	KUNIT_EXPECT_EQ(test, f->completed, 1);
	KUNIT_EXPECT_TRUE(test, f->placed);
}

/* ntrdma_send_one() sends an ACK only after all answers. */
static void answers_are_executed_in_order(struct kunit *test)
{
	struct fixture *f = test->priv;

	take(f, message(NTRDMA_READ, MSN, BYTES));
	take(f, message(NTRDMA_ATOMIC, MSN + 1, 16));
	KUNIT_EXPECT_EQ(test, f->qp.resp.answer_head, 2);
	KUNIT_EXPECT_EQ(test, f->answer[0].msn, MSN);
	KUNIT_EXPECT_EQ(test, f->answer[1].msn, 0);
	KUNIT_EXPECT_FALSE(test, f->qp.resp.fatal);
}

static void more_answers_than_agreed_end_the_qp(struct kunit *test)
{
	struct fixture *f = test->priv;

	take(f, message(NTRDMA_READ, MSN, BYTES));
	take(f, message(NTRDMA_READ, MSN + 1, BYTES));
	take(f, message(NTRDMA_ATOMIC, MSN + 2, 16));
	KUNIT_EXPECT_TRUE(test, is_untouched(f, 0));
	KUNIT_EXPECT_EQ(test, nak_of(f), NTRDMA_NAK_REQUEST);
	KUNIT_EXPECT_EQ(test, f->qp.resp.answer_head, 2);
	KUNIT_EXPECT_EQ(test, f->event, IB_EVENT_QP_REQ_ERR);
}

static void repeated_atomic_is_executed_once(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 *word = (u64 *)f->memory;

	*word = 0;
	memset(f->data, 0, 16);
	f->data[0] = 5;
	take(f, message(NTRDMA_ATOMIC, MSN, 16));
	KUNIT_EXPECT_EQ(test, *word, 5);
	f->qp.resp.ack = false;
	take(f, message(NTRDMA_ATOMIC, MSN, 16));
	KUNIT_EXPECT_EQ(test, *word, 5);
	KUNIT_EXPECT_EQ(test, f->qp.resp.answer_head, 1);
	KUNIT_EXPECT_TRUE(test, f->qp.resp.ack);
}

static void repeated_send_takes_one_receive(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->recvs = RECVS;
	take(f, message(NTRDMA_SEND, MSN, BYTES));
	take(f, message(NTRDMA_SEND, MSN, BYTES));
	KUNIT_EXPECT_EQ(test, f->recvs, RECVS - 1);
	KUNIT_EXPECT_EQ(test, f->completed, 1);
	KUNIT_EXPECT_EQ(test, f->qp.resp.msn, 0);
}

/*
 * The messages behind one without a receive are dropped until it is repeated from
 * its first piece.
 */
static void message_without_receive_is_executed_when_it_is_repeated(struct kunit *test)
{
	struct fixture *f = test->priv;
	u32 i;

	take(f, piece(NTRDMA_SEND, 0));
	KUNIT_EXPECT_EQ(test, nak_of(f), NTRDMA_NAK_RNR);
	f->recvs = RECVS;
	for (i = 1; i < BYTES / PIECE; i++)
		take(f, piece(NTRDMA_SEND, i));
	take(f, message(NTRDMA_WRITE, MSN + 1, BYTES));
	KUNIT_EXPECT_TRUE(test, is_untouched(f, 0));
	KUNIT_EXPECT_EQ(test, f->recvs, RECVS);
	for (i = 0; i < BYTES / PIECE; i++)
		take(f, piece(NTRDMA_SEND, i));
	KUNIT_EXPECT_EQ(test, f->completed, 1);
	KUNIT_EXPECT_TRUE(test, f->placed);
	KUNIT_EXPECT_FALSE(test, f->qp.resp.fatal);
}

static void missing_message_ends_the_qp(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->qp.resp.dropping = false;
	take(f, message(NTRDMA_WRITE, MSN + 1, BYTES));
	KUNIT_EXPECT_TRUE(test, is_untouched(f, 0));
	KUNIT_EXPECT_EQ(test, nak_of(f), NTRDMA_NAK_SEQUENCE);
	KUNIT_EXPECT_EQ(test, f->event, IB_EVENT_QP_REQ_ERR);
}

/* A piece that does not follow, one of another length, and one of another kind. */
static void pieces_that_do_not_fit_end_the_qp(struct kunit *test)
{
	struct fixture *f = test->priv;
	struct ntrdma_frame frame;
	u32 i;

	for (i = 0; i < 3; i++) {
		init_qp(f);
		f->recvs = 1;
		frame = piece(NTRDMA_WRITE, i ? 1 : 2);
		if (i == 1)
			frame.total = BYTES - 1;
		else if (i == 2)
			frame.kind = NTRDMA_SEND;
		take(f, piece(NTRDMA_WRITE, 0));
		take(f, frame);
		KUNIT_EXPECT_EQ(test, nak_of(f), NTRDMA_NAK_REQUEST);
		KUNIT_EXPECT_TRUE(test, is_untouched(f, PIECE));
	}
}

static struct kunit_case ntrdma_resp_cases[] = {
	KUNIT_CASE(frames_of_strangers_are_dropped),
	KUNIT_CASE(write_in_pieces_is_stored_and_acknowledged_once),
	KUNIT_CASE(each_piece_needs_the_right_to_write),
	KUNIT_CASE(each_piece_needs_a_valid_region),
	KUNIT_CASE(address_of_a_piece_does_not_wrap),
	KUNIT_CASE(refused_message_is_not_acknowledged),
	KUNIT_CASE(receive_completes_after_its_data_is_stored),
	KUNIT_CASE(answers_are_executed_in_order),
	KUNIT_CASE(more_answers_than_agreed_end_the_qp),
	KUNIT_CASE(repeated_atomic_is_executed_once),
	KUNIT_CASE(repeated_send_takes_one_receive),
	KUNIT_CASE(message_without_receive_is_executed_when_it_is_repeated),
	KUNIT_CASE(missing_message_ends_the_qp),
	KUNIT_CASE(pieces_that_do_not_fit_end_the_qp),
	{}
};

static struct kunit_suite ntrdma_resp_suite = {
	.name = "ntrdma_resp",
	.init = make_qp,
	.exit = free_qp,
	.test_cases = ntrdma_resp_cases,
};

kunit_test_suite(ntrdma_resp_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of ntrdma's responder");
MODULE_LICENSE("GPL");
