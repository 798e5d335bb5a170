/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations that the files of vrfmctl share. */
#ifndef VRFMCTL_CTL_H
#define VRFMCTL_CTL_H

#include <stdint.h>
#include <time.h>

#include "../../include/uapi/vrfm.h"

#include "conf.h"
#include "keyfile.h"
#include "stream.h"

/* Default path of the configuration. */
#define CTL_CONF "/etc/vrfm.conf"

/* Result of a command, and exit status of the program. */
enum ctl_result {
	CTL_OK,
	CTL_FAILED,
	CTL_USAGE,
	CTL_WITHOUT,
};

/**
 * struct ctl_options - options of the command line
 * @path: path of the configuration
 * @json: print JSON instead of text
 * @interval: time between two rounds of top, in seconds
 * @count: number of rounds of top or operations of bench; 0 means the default
 * @timeout: time limit of join or record in seconds; 0 means no limit
 * @block: size of a block of check in bytes, 0 means the default; or largest size
 *	of a file of record, 0 means no limit
 * @compare: file that check compares with, or NULL
 * @writes: true if bench may write the word at @offset
 * @offset: offset in the memory
 * @event: type of the events that bench may send; 0 means that it sends none
 * @all: true if down also removes devices that are not in the configuration, or
 *	if peers must not write directly while tap runs
 * @pcapng: file of packets that tap writes, or NULL
 * @choice: records that tap shows, record records or replay replays
 * @files: number of files that record keeps; 0: one file, without a number
 * @speed: speed of replay, as a factor; 0: as fast as possible
 * @from: time in the file at which replay begins to wait, in seconds
 * @to: time in the file at which replay ends, in seconds; 0: the end
 * @loop: repeat the replay
 * @shift: number that replay adds to each offset
 * @no_image: do not replay the content at the begin of the file
 * @events: replay events
 * @rt: replay in the real-time class
 * @late: largest lateness of replay without an error, in us; 0: no limit
 * @force: replay although a recorded writer is linked
 * @signals: file with the columns of export, or NULL
 * @now: key drop makes links again that use an old key
 * @links: rekey makes all links again
 */
struct ctl_options {
	const char *path;
	bool json;
	double interval;
	unsigned int count;
	double timeout;
	uint64_t block;
	const char *compare;
	bool writes;
	uint64_t offset;
	unsigned int event;
	bool all;
	const char *pcapng;
	struct ctl_choice choice;
	unsigned int files;
	double speed;
	double from;
	double to;
	bool loop;
	int64_t shift;
	bool no_image;
	bool events;
	bool rt;
	uint64_t late;
	bool force;
	const char *signals;
	bool now;
	bool links;
};

/**
 * struct ctl_view - state of a device and of its peers
 * @unit: N of rfm2gN
 * @all: state of the device
 * @peers: state of each peer
 */
struct ctl_view {
	unsigned int unit;
	struct vrfm_peers all;
	struct vrfm_peer_state peers[CONF_PEERS];
};

/**
 * struct ctl_rate - rates of the data sent to and received from a peer
 * @sent: bytes per second
 * @received: bytes per second
 * @known: true if the rates are valid, because an earlier state is known
 */
struct ctl_rate {
	double sent;
	double received;
	bool known;
};

/* Buffer for a number that is formatted for people. */
struct ctl_text {
	char text[24];
};

static inline const char *ctl_bool(bool value)
{
	return value ? "true" : "false";
}

/* Return the percentage of the image that the device has loaded. */
static inline unsigned int ctl_percent(const struct vrfm_peers *all)
{
	return all->size ? all->loaded * 100 / all->size : 0;
}

static inline double ctl_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static inline void ctl_pause(double seconds)
{
	const struct timespec t = {
		.tv_sec = seconds,
		.tv_nsec = (seconds - (time_t)seconds) * 1e9,
	};

	nanosleep(&t, NULL);
}

/* bench.c */
enum ctl_result ctl_bench(const struct ctl_options *options, const char *only);

/* cat.c */
enum ctl_result ctl_cat(const struct ctl_options *options, const char *path);
enum ctl_result ctl_export(const struct ctl_options *options, const char *path);

/* check.c */
enum ctl_result ctl_check(const struct ctl_options *options, const char *only);

/* configfs.c */
#define CTL_CONFIGFS "/sys/kernel/config/vrfm"

bool ctl_is_loaded(void);
bool ctl_load(void);
bool ctl_exists(unsigned int unit);
bool ctl_is_enabled(unsigned int unit);
bool ctl_is_foreign(unsigned int unit);
bool ctl_get(unsigned int unit, const char *name, char *value, size_t room);
bool ctl_make(unsigned int unit);
bool ctl_set(unsigned int unit, const char *name, const char *value);
bool ctl_add_peer(unsigned int unit, const struct conf_peer *peer,
		  const struct keyfile *keys);
bool ctl_keep_peers(const struct conf_device *device);
bool ctl_has_peer(unsigned int unit, unsigned int id);
bool ctl_remove(unsigned int unit);

/* join.c */
enum ctl_result ctl_join(const struct ctl_options *options, const char *only);

/* key.c */
bool ctl_read_keys(const struct conf_device *device, struct keyfile *keys);
bool ctl_hand_device(unsigned int unit, const struct keyfile *keys);
bool ctl_hand_peer(unsigned int unit, unsigned int id,
		   const struct keyfile *keys);
enum ctl_result ctl_genkey(const struct ctl_options *options, const char *path);
enum ctl_result ctl_key(const struct ctl_options *options, int argc, char **argv);
enum ctl_result ctl_keys(const struct ctl_options *options, const char *only);
enum ctl_result ctl_rekey(const struct ctl_options *options, const char *only);

/* main.c */
enum ctl_result ctl_conf(const char *path, struct conf *conf);

/* peers.c */
const char *ctl_state(const struct vrfm_peer_state *peer);
const char *ctl_why(const struct vrfm_peer_state *peer);
int ctl_open(unsigned int unit, int flags);
bool ctl_command(int fd, unsigned int unit, unsigned long command, void *arg);
bool ctl_look(int fd, unsigned int unit, struct ctl_view *view);
void ctl_no_device(void);
int ctl_devices(const char *only, unsigned int *units);
bool ctl_which(const char *only, unsigned int *unit);
const char *ctl_time(uint64_t ms, struct ctl_text *text);
void ctl_print_view(const struct ctl_view *view, const struct ctl_rate *rates);
void ctl_json_view(const struct ctl_view *view, const struct ctl_rate *rates);
enum ctl_result ctl_show_peers(const struct ctl_options *options, const char *only);

/* record.c */
enum ctl_result ctl_record(const struct ctl_options *options, const char *path,
			   const char *only);

/* replay.c */
enum ctl_result ctl_replay(const struct ctl_options *options, const char *path,
			   const char *only);

/* status.c */
enum ctl_result ctl_status(const struct ctl_options *options, const char *only);

/* tap.c */
enum ctl_result ctl_show_tap(const struct ctl_options *options, const char *only);

/* top.c */
enum ctl_result ctl_top(const struct ctl_options *options, const char *only);

/* up.c */
enum ctl_result ctl_up(struct conf_device *device);
enum ctl_result ctl_down(unsigned int unit);

#endif /* VRFMCTL_CTL_H */
