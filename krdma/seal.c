// SPDX-License-Identifier: GPL-2.0
/*
 * Seal: seals and opens the messages of a connection.
 */
#include <crypto/chacha20poly1305.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "seal.h"

/* Numbers of control messages have this bit. */
#define KRDMA_SEAL_CONTROL BIT_ULL(63)

enum krdma_seal_row {
	KRDMA_SEAL_NONE,
	KRDMA_SEAL_SECRET,
	KRDMA_SEAL_CLEAR,
	KRDMA_SEAL_BARE,
};

/*
 * Parameters of the algorithm for one message. The tag covers @ad and @secret.
 * For a control message, @ad is @bound.
 */
struct krdma_seal_form {
	enum krdma_seal_row row;
	u64 nonce;
	const void *ad;
	size_t ad_len;
	void *secret;
	size_t secret_len;
	struct {
		struct krdma_wire_hdr hdr;
		__le64 messages;
	} __packed bound;
};

/* The type is the only field that is believed before the tag was checked. */
static enum krdma_seal_row krdma_seal_row(u8 type, bool encrypt)
{
	switch (type) {
	case KRDMA_WIRE_START:
		return KRDMA_SEAL_SECRET;
	case KRDMA_WIRE_DATA:
		return encrypt ? KRDMA_SEAL_SECRET : KRDMA_SEAL_CLEAR;
	case KRDMA_WIRE_CREDIT:
	case KRDMA_WIRE_PING:
	case KRDMA_WIRE_PONG:
	case KRDMA_WIRE_BYE:
		return KRDMA_SEAL_BARE;
	default:
		return KRDMA_SEAL_NONE;
	}
}

/*
 * Describe how the next message of a direction is sealed. @len is the number of
 * bytes between its header and its tag. Return false if there is no such
 * message.
 */
static bool krdma_seal_form(struct krdma_seal_form *form,
			    const struct krdma_seal_half *half, bool encrypt,
			    void *msg, size_t len)
{
	const struct krdma_wire_hdr *hdr = msg;

	form->row = krdma_seal_row(hdr->type, encrypt);
	form->nonce = half->messages;
	form->ad = msg;
	form->ad_len = sizeof(*hdr);
	form->secret = msg + sizeof(*hdr);
	form->secret_len = 0;
	switch (form->row) {
	case KRDMA_SEAL_SECRET:
		form->secret_len = len;
		return true;
	case KRDMA_SEAL_CLEAR:
		form->ad_len += len;
		form->secret += len;
		return true;
	case KRDMA_SEAL_BARE:
		form->nonce = KRDMA_SEAL_CONTROL + half->control;
		form->bound.hdr = *hdr;
		form->bound.messages = cpu_to_le64(half->messages);
		form->ad = &form->bound;
		form->ad_len = sizeof(form->bound);
		return !len;
	default:
		return false;
	}
}

/* Count a message. Return true if the key was replaced. */
static bool krdma_seal_advance(struct krdma_seal_half *half,
			       enum krdma_seal_row row)
{
	if (row == KRDMA_SEAL_BARE) {
		half->control++;
		return false;
	}
	half->messages++;
	if (!krdma_seal_is_rekeyed(half))
		return false;
	krdma_noise_rekey(half->key);
	return true;
}

static bool *krdma_seal_pending(struct krdma_seal *seal,
				enum krdma_seal_row row)
{
	return row == KRDMA_SEAL_BARE ? &seal->sealed_control : &seal->sealed;
}

/**
 * krdma_seal_alloc - allocate the keys of a connection
 * @gfp: flags of the allocation
 *
 * Context: as @gfp permits.
 * Return: keys for krdma_seal_free(), all 0, or NULL.
 */
struct krdma_seal *krdma_seal_alloc(gfp_t gfp)
{
	return kzalloc(sizeof(struct krdma_seal), gfp);
}

/**
 * krdma_seal_free - erase and free the keys of a connection
 * @seal: keys, or NULL
 *
 * Context: any.
 */
void krdma_seal_free(struct krdma_seal *seal)
{
	kfree_sensitive(seal);
}

/**
 * krdma_seal_start - take the keys of a handshake that has succeeded
 * @seal: keys; the handshake in @seal->noise is erased
 * @server: this end is the server, which is the initiator of Noise
 * @encrypt: encrypt DATA
 *
 * Context: any.
 */
void krdma_seal_start(struct krdma_seal *seal, bool server, bool encrypt)
{
	struct krdma_seal_half *first = server ? &seal->tx : &seal->rx;
	struct krdma_seal_half *second = server ? &seal->rx : &seal->tx;

	krdma_noise_split(&seal->noise, first->key, second->key);
	seal->encrypt = encrypt;
}

/**
 * krdma_seal_message - seal the next message to the peer
 * @seal: keys after krdma_seal_start()
 * @msg: header, which must be final, and room for KRDMA_SEAL_EXTRA + @len bytes
 *	with the header
 * @data: bytes behind the header, not in @msg
 * @len: number of bytes of @data
 *
 * @data may change while the call reads it. The peer then gets some of the old
 * and some of the new bytes, with a valid tag.
 *
 * Context: any for control messages. Otherwise task or softirq.
 * Return: number of bytes of the sealed message, or -EINVAL: messages of this
 * type are not sealed, or have no data, or krdma_seal_posted() has not counted
 * the message before this one.
 */
int krdma_seal_message(struct krdma_seal *seal, void *msg, const void *data,
		       size_t len)
{
	struct krdma_seal_form form;
	bool *pending;

	if (!krdma_seal_form(&form, &seal->tx, seal->encrypt, msg, len))
		return -EINVAL;
	pending = krdma_seal_pending(seal, form.row);
	if (*pending)
		return -EINVAL;
	*pending = true;
	if (form.row == KRDMA_SEAL_CLEAR)
		memcpy(msg + sizeof(struct krdma_wire_hdr), data, len);
	chacha20poly1305_encrypt(form.secret, data, form.secret_len, form.ad,
				 form.ad_len, form.nonce, seal->tx.key);
	return KRDMA_SEAL_EXTRA + len;
}

/**
 * krdma_seal_posted - count a message to the peer that is posted now
 * @seal: keys
 * @type: type of the message, which krdma_seal_message() has sealed
 *
 * The caller posts the message in the same step: no other message may be posted
 * between the two calls.
 *
 * Context: any.
 * Return: true if the key of later messages to the peer is a new one.
 */
bool krdma_seal_posted(struct krdma_seal *seal, u8 type)
{
	enum krdma_seal_row row = krdma_seal_row(type, seal->encrypt);

	*krdma_seal_pending(seal, row) = false;
	return krdma_seal_advance(&seal->tx, row);
}

/**
 * krdma_seal_open - open the next message of the peer in place
 * @seal: keys after krdma_seal_start()
 * @msg: received message; an error does not change it
 * @len: number of bytes of @msg
 *
 * After success the header is that of the peer, and the bytes of the peer
 * follow it. An error does not move the counters.
 *
 * Context: any for control messages. Otherwise task or softirq.
 * Return: number of bytes behind the header, or -EBADMSG: the message was
 * changed, repeated or injected, or one before it is missing.
 */
int krdma_seal_open(struct krdma_seal *seal, void *msg, size_t len)
{
	struct krdma_seal_form form;

	if (len < KRDMA_SEAL_EXTRA)
		return -EBADMSG;
	len -= KRDMA_SEAL_EXTRA;
	if (!krdma_seal_form(&form, &seal->rx, seal->encrypt, msg, len))
		return -EBADMSG;
	if (!chacha20poly1305_decrypt(form.secret, form.secret,
				      form.secret_len + KRDMA_SEAL_TAG, form.ad,
				      form.ad_len, form.nonce, seal->rx.key))
		return -EBADMSG;
	krdma_seal_advance(&seal->rx, form.row);
	return len;
}
