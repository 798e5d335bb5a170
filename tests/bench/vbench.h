/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations that the files of vbench share. */
#ifndef VBENCH_H
#define VBENCH_H

#include <stdint.h>

#include <vrfm.h>

#include "quantiles.h"

#define PAGE 4096u
#define SAMPLES 100000
#define PATIENCE_NS 20000000000ull

/**
 * struct rfm - an open device
 * @fd: file descriptor
 * @size: bytes of the memory
 * @memory: mapping of its first part
 * @manual: manual mapping of this part
 */
struct rfm {
	int fd;
	uint64_t size;
	volatile uint8_t *memory;
	volatile uint8_t *manual;
};

/**
 * struct result - numbers of a turn
 * @n: number of operations
 * @ns: duration
 * @cpu_ns: sum of the busy times of all processors; 0: not measured
 * @calls: number of system calls for @n operations; 0: not counted
 * @messages: number of messages to the peer; 0: not counted
 * @min: shortest time of an operation, in ns
 * @quantiles: percentiles of these times
 * @max: longest of these times; 0: times of operations are not measured
 */
struct result {
	uint64_t n, ns, cpu_ns, calls, messages, min, quantiles[BENCH_QUANTILES], max;
};

struct job {
	uint32_t size;
	uint32_t stride;
	uint32_t ms;
	uint32_t rounds;
	int control;
};

/**
 * struct ring - a ring of a device, mapped
 * @args: arguments and results of VRFM_RING
 * @fd: file descriptor
 * @head: number of slots that the program has read
 * @user: area that the program writes
 * @kernel: area that the driver writes
 * @records: array of @args.slots records
 */
struct ring {
	struct vrfm_ring args;
	int fd;
	uint32_t head;
	struct vrfm_ring_user *user;
	const struct vrfm_ring_kernel *kernel;
	const struct vrfm_record *records;
};

extern uint64_t samples[SAMPLES];
/* Data that tests write. */
extern uint8_t block[1 << 20];

uint64_t now_ns(void);
struct rfm open_rfm(const char *path);
void rfm_send(const struct rfm *rfm, uint32_t event, uint32_t node, uint32_t value);
uint32_t rfm_wait(const struct rfm *rfm);

void ring_open_events(struct ring *ring, const struct rfm *rfm);
void ring_open_tap(struct ring *ring, const struct rfm *rfm, uint32_t kinds, uint32_t snap);
uint32_t ring_wait_event(struct ring *ring);
void ring_release_all(struct ring *ring);
void ring_close(struct ring *ring);

uint64_t messages_sent(const struct rfm *rfm);
void feed_begin(const struct rfm *rfm);
uint32_t feed_word(uint32_t offset, uint32_t value);

void publish(const struct rfm *rfm, uint32_t offset, uint32_t value);
void burst(const struct job *job, char letter, const struct rfm *rfm, struct result *result);
void cover(const struct job *job, char letter, const struct rfm *rfm, struct result *result);
void control(const struct job *job, char letter, const struct rfm *rfm, struct result *result);
void update(const struct job *job, char letter, const struct rfm *rfm, struct result *result);

#endif /* VBENCH_H */
