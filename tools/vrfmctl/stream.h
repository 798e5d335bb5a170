/* SPDX-License-Identifier: GPL-2.0 */
/* Streams of records: taps of devices, and files of records. */
#ifndef VRFMCTL_STREAM_H
#define VRFMCTL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../../include/uapi/vrfm.h"

/* Largest number of bytes of a record with its payload. */
#define CTL_RECORD_MAX (sizeof(struct vrfm_record) + VRFM_RING_SNAP_MAX)

/**
 * struct ctl_choice - records that the user has chosen
 * @nodes: mask of nodes; all 0: every node
 * @offset: offset of the first byte of the part of the memory
 * @length: number of bytes of the part; 0: the whole memory
 * @kinds: mask of types of records; 0: all types
 * @snap: largest number of payload bytes; valid if @has_snap is set
 * @has_snap: the user has chosen @snap
 */
struct ctl_choice {
	uint64_t nodes[4];
	uint32_t offset;
	uint32_t length;
	uint32_t kinds;
	uint32_t snap;
	bool has_snap;
};

/**
 * struct ctl_tap - tap of a device
 * @fd: descriptor of the ring
 * @args: sizes of the two areas and number of slots
 * @user: area that this program writes
 * @kernel: area that the driver writes
 * @head: index of the next record
 */
struct ctl_tap {
	int fd;
	struct vrfm_ring args;
	struct vrfm_ring_user *user;
	const struct vrfm_ring_kernel *kernel;
	uint32_t head;
};

/**
 * struct ctl_source - the device that records are from
 * @name: name of the device
 * @network: number of its network
 * @node: id of its node
 * @size: bytes of its memory
 * @lineage: lineage of its image
 */
struct ctl_source {
	char name[16];
	uint32_t network;
	uint32_t node;
	uint64_t size;
	uint64_t lineage;
};

/* choice.c */
bool ctl_choose_nodes(const char *text, struct ctl_choice *choice);
bool ctl_choose_range(const char *text, struct ctl_choice *choice);
bool ctl_choose_kinds(const char *text, struct ctl_choice *choice);
bool ctl_choose_snap(const char *text, struct ctl_choice *choice);

/* show.c */
uint32_t ctl_payload(const struct vrfm_record *record, uint32_t snap);
const char *ctl_type_name(unsigned int type);
bool ctl_is_write(const struct vrfm_record *record);
void ctl_show_line(const struct vrfm_record *record, uint32_t len,
		   int64_t real_ns);
void ctl_show_json(const struct vrfm_record *record, uint32_t len,
		   int64_t real_ns);

/* stream.c */
bool ctl_tap_open(struct ctl_tap *tap, int fd, unsigned int unit,
		  const struct ctl_choice *choice, uint32_t slots,
		  uint32_t flags);
const struct vrfm_record *ctl_tap_next(struct ctl_tap *tap);
bool ctl_tap_wait(struct ctl_tap *tap, unsigned int unit);
void ctl_tap_close(struct ctl_tap *tap);
bool ctl_source_read(int fd, unsigned int unit, struct ctl_source *source);
void ctl_catch_signals(void);
bool ctl_is_stopped(void);

/* pcapng.c */
void ctl_pcapng_begin(FILE *file, const struct ctl_source *source);
void ctl_pcapng_record(FILE *file, const struct vrfm_record *record,
		       uint32_t len, int64_t real_ns);
void ctl_pcapng_end(FILE *file, uint64_t received, uint64_t dropped,
		    uint64_t now_ns);

#endif /* VRFMCTL_STREAM_H */
