/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of the cards: the numbers and offsets that existing programs
 * use. This file does not include include/uapi/rfm2g.h, so that the tests
 * detect a mistake in that header. In programs of 32 bits, commands with an
 * address have a shorter structure and another number.
 */
#ifndef RFM2G_CARD_H
#define RFM2G_CARD_H

#include <stdint.h>

#ifdef __LP64__
typedef uint64_t card_address;
#define CARD_BITS(wide, narrow) (wide)
#else
typedef uint32_t card_address;
#define CARD_BITS(wide, narrow) (narrow)
#endif

/*
 * Argument of a command: unused, a value, or the address of a structure that
 * the driver reads (IN), writes (OUT), or both.
 */
enum card_mode { CARD_NOTHING, CARD_VALUE, CARD_IN, CARD_OUT, CARD_INOUT };

struct card_command {
	const char *name;
	uint32_t cmd;
	enum card_mode mode;
	int bytes;
};

static const struct card_command card_commands[] = {
	{ "ATOMIC_PEEK", 0xC010EB0A, CARD_INOUT, 16 },
	{ "ATOMIC_POKE", 0x4010EB0B, CARD_IN, 16 },
	{ "ENABLE_EVENT", CARD_BITS(0x4018EB14, 0x4014EB14), CARD_IN, CARD_BITS(24, 20) },
	{ "DISABLE_EVENT", CARD_BITS(0x4018EB15, 0x4014EB15), CARD_IN, CARD_BITS(24, 20) },
	{ "SEND_EVENT", CARD_BITS(0x4018EB16, 0x4014EB16), CARD_IN, CARD_BITS(24, 20) },
	{ "WAIT_FOR_EVENT", CARD_BITS(0xC018EB17, 0xC014EB17), CARD_INOUT, CARD_BITS(24, 20) },
	{ "CANCEL_EVENT", CARD_BITS(0x4018EB18, 0x4014EB18), CARD_IN, CARD_BITS(24, 20) },
	{ "GET_EVENT_STATS", 0xC018EB19, CARD_INOUT, 24 },
	{ "CLEAR_EVENT_STATS", 0x4001EB1A, CARD_VALUE, 0 },
	{ "FLUSH_QUEUE", 0x4001EB1D, CARD_VALUE, 0 },
	{ "GET_CONFIG", 0xC0F4EB1E, CARD_OUT, 244 },
	{ "GET_DMA_THRESHOLD", 0x8004EB21, CARD_OUT, 4 },
	{ "SET_DMA_THRESHOLD", 0x4004EB22, CARD_IN, 4 },
	{ "GET_DEBUG_FLAGS", 0x8004EB28, CARD_OUT, 4 },
	{ "SET_DEBUG_FLAGS", 0x4004EB29, CARD_VALUE, 0 },
	{ "SET_LED", 0x4001EB32, CARD_VALUE, 0 },
	{ "GET_LED", 0x8001EB33, CARD_OUT, 1 },
	{ "CHECK_RING_CONT", 0x8001EB34, CARD_NOTHING, 0 },
	{ "GET_DARK_ON_DARK", 0x8001EB35, CARD_OUT, 1 },
	{ "SET_DARK_ON_DARK", 0x4001EB36, CARD_VALUE, 0 },
	{ "CLEAR_OWN_DATA", 0x8001EB37, CARD_OUT, 1 },
	{ "GET_TRANSMIT_DISABLE", 0x8001EB38, CARD_OUT, 1 },
	{ "SET_TRANSMIT_DISABLE", 0x4001EB39, CARD_VALUE, 0 },
	{ "GET_LOOPBACK", 0x8001EB3A, CARD_OUT, 1 },
	{ "SET_LOOPBACK", 0x4001EB3B, CARD_VALUE, 0 },
	{ "GET_PARITY_ENABLE", 0x8001EB3C, CARD_OUT, 1 },
	{ "SET_PARITY_ENABLE", 0x4001EB3D, CARD_VALUE, 0 },
	{ "GET_MEMORY_OFFSET", 0x8004EB3E, CARD_OUT, 4 },
	{ "SET_MEMORY_OFFSET", 0x4004EB3F, CARD_VALUE, 0 },
	{ "SET_PCI_COMPATIBILITY", 0x4001EB40, CARD_NOTHING, 0 },
	{ "READ_REG", 0x8004EB41, CARD_INOUT, 16 },
	{ "WRITE_REG", 0x4004EB42, CARD_IN, 16 },
	{ "GET_DMA_BYTESWAP", 0x8001EB43, CARD_OUT, 1 },
	{ "SET_DMA_BYTE_SWAP", 0x4001EB44, CARD_VALUE, 0 },
	{ "GET_PIO_BYTESWAP", 0x8001EB45, CARD_OUT, 1 },
	{ "SET_PIO_BYTE_SWAP", 0x4001EB46, CARD_VALUE, 0 },
	{ "CLEAR_EVENT", 0x4002EB47, CARD_VALUE, 0 },
	{ "CLEAR_EVENT_COUNT", 0x4001EB48, CARD_VALUE, 0 },
	{ "READ", CARD_BITS(0x4008EB49, 0x4004EB49), CARD_IN, CARD_BITS(16, 12) },
	{ "WRITE", CARD_BITS(0x4008EB4A, 0x4004EB4A), CARD_IN, CARD_BITS(16, 12) },
	{ "CLEAR_REG", 0x4004EB4B, CARD_IN, 16 },
	{ "SET_REG", 0x4004EB4C, CARD_IN, 16 },
	{ "SET_SPECIAL_MMAP_OFFSET", 0x4008EB4D, CARD_IN, 8 },
	{ "CLEAR_DMA_MMAP_OFFSET", 0x4004EB4E, CARD_VALUE, 0 },
	{ "SET_SLIDING_WINDOW_OFFSET", 0x4004EB4F, CARD_VALUE, 0 },
};

#define CARD_COMMANDS ((int)(sizeof(card_commands) / sizeof(*card_commands)))

/* Structures that existing programs pass as arguments. */
struct card_atomic { uint64_t data; uint32_t offset; uint8_t width; uint8_t spare[3]; };
struct card_transfer { uint32_t offset, length; card_address buffer; };
struct card_event { uint32_t data, event, timeout; uint16_t node, pad; card_address spare; };
struct card_reg { uint32_t regset, offset, width, value; };

#endif /* RFM2G_CARD_H */
