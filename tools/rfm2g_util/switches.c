// SPDX-License-Identifier: GPL-2.0
/* Commands for switches, LEDs and other settings. */
#include <string.h>
#include <strings.h>

#include "util.h"

static const struct {
	const char *text;
	RFM2G_STATUS (*get)(RFM2GHANDLE rh, RFM2G_BOOL *state);
	RFM2G_STATUS (*set)(RFM2GHANDLE rh, RFM2G_BOOL state);
} util_switches[] = {
	{ "status LED", RFM2gGetLed, RFM2gSetLed },
	{ "dark on dark", RFM2gGetDarkOnDark, RFM2gSetDarkOnDark },
	{ "loopback", RFM2gGetLoopback, RFM2gSetLoopback },
	{ "parity", RFM2gGetParityEnable, RFM2gSetParityEnable },
	{ "transmitter", RFM2gGetTransmit, RFM2gSetTransmit },
	{ "PIO byte swap", RFM2gGetPIOByteSwap, RFM2gSetPIOByteSwap },
	{ "DMA byte swap", RFM2gGetDMAByteSwap, RFM2gSetDMAByteSwap },
};

static enum util_result util_get(struct util *util,
				 const struct util_command *command, int argc,
				 char **argv)
{
	RFM2G_BOOL state;
	RFM2G_STATUS ret = util_switches[command->which].get(util->rh, &state);

	if (!ret)
		printf("%s %s\n", util_switches[command->which].text,
		       state ? "ON" : "OFF");
	return util_status(ret);
}

static enum util_result util_set(struct util *util,
				 const struct util_command *command, int argc,
				 char **argv)
{
	RFM2G_UINT32 state;
	RFM2G_STATUS ret;

	if (!util_below("state", argv[0], 2, &state))
		return UTIL_USAGE;
	ret = util_switches[command->which].set(util->rh, state);
	if (!ret)
		printf("%s %s\n", util_switches[command->which].text,
		       state ? "ON" : "OFF");
	return util_status(ret);
}

static enum util_result util_checkring(struct util *util,
				       const struct util_command *command,
				       int argc, char **argv)
{
	RFM2G_STATUS ret = RFM2gCheckRingCont(util->rh);

	if (!ret)
		puts("the ring is intact");
	return util_status(ret);
}

static enum util_result util_clearowndata(struct util *util,
					  const struct util_command *command,
					  int argc, char **argv)
{
	RFM2G_BOOL state;
	RFM2G_STATUS ret = RFM2gClearOwnData(util->rh, &state);

	if (!ret)
		printf("own data was %s\n", state ? "ON" : "OFF");
	return util_status(ret);
}

static enum util_result util_getmemoryoffset(struct util *util,
					     const struct util_command *command,
					     int argc, char **argv)
{
	RFM2G_MEM_OFFSETTYPE offset;
	RFM2G_STATUS ret = RFM2gGetMemoryOffset(util->rh, &offset);

	if (!ret)
		printf("memory offset 0x%08x\n", offset * 0x4000000U);
	return util_status(ret);
}

static enum util_result util_setmemoryoffset(struct util *util,
					     const struct util_command *command,
					     int argc, char **argv)
{
	RFM2G_UINT32 offset;

	if (!util_below("memory offset", argv[0], 4, &offset))
		return UTIL_USAGE;
	return util_status(RFM2gSetMemoryOffset(util->rh, offset));
}

static enum util_result util_getwindow(struct util *util,
				       const struct util_command *command,
				       int argc, char **argv)
{
	RFM2G_UINT32 offset, size;
	RFM2G_STATUS ret = RFM2gGetSlidingWindow(util->rh, &offset, &size);

	if (!ret)
		printf("sliding window of %u MByte at 0x%08x\n", size >> 20,
		       offset);
	return util_status(ret);
}

static enum util_result util_setwindow(struct util *util,
				       const struct util_command *command,
				       int argc, char **argv)
{
	RFM2G_UINT32 offset;

	if (!util_number(argv[0], &offset))
		return UTIL_USAGE;
	return util_status(RFM2gSetSlidingWindow(util->rh, offset));
}

static enum util_result util_getthreshold(struct util *util,
					  const struct util_command *command,
					  int argc, char **argv)
{
	RFM2G_UINT32 threshold;
	RFM2G_STATUS ret = RFM2gGetDMAThreshold(util->rh, &threshold);

	if (!ret)
		printf("DMA threshold %u\n", threshold);
	return util_status(ret);
}

static enum util_result util_setthreshold(struct util *util,
					  const struct util_command *command,
					  int argc, char **argv)
{
	RFM2G_UINT32 threshold;

	if (!util_number(argv[0], &threshold))
		return UTIL_USAGE;
	return util_status(RFM2gSetDMAThreshold(util->rh, threshold));
}

/* Names of the debug flags, indexed by bit number. NULL ends the list. */
const char * const util_debug_names[] = {
	"error", "init", "intr", "ioctl", "mmap", "open", "close", "read",
	"write", "peek", "poke", "strat", "timer", "trace", "mutex", "intr_not",
	"slow", "minphys", "dma", NULL
};

static enum util_result util_getdebug(struct util *util,
				      const struct util_command *command,
				      int argc, char **argv)
{
	RFM2G_UINT32 flags;
	RFM2G_STATUS ret = RFM2gGetDebugFlags(util->rh, &flags);
	int i;

	if (ret)
		return util_status(ret);
	printf("debug flags 0x%08x", flags);
	for (i = 0; util_debug_names[i]; i++)
		if (flags & 1U << i)
			printf(" %s", util_debug_names[i]);
	putchar('\n');
	return UTIL_OK;
}

static enum util_result util_setdebug(struct util *util,
				      const struct util_command *command,
				      int argc, char **argv)
{
	bool off = argv[0][0] == '-';
	const char *name = argv[0] + off;
	RFM2G_UINT32 flags, bit;
	RFM2G_STATUS ret;
	int i;

	for (i = 0; util_debug_names[i]; i++)
		if (!strcasecmp(util_debug_names[i], name))
			break;
	if (!util_debug_names[i]) {
		fprintf(stderr, "%s is not a debug flag\n", name);
		return UTIL_USAGE;
	}
	bit = 1U << i;
	ret = RFM2gGetDebugFlags(util->rh, &flags);
	if (!ret)
		ret = RFM2gSetDebugFlags(util->rh, off ? flags & ~bit :
					 flags | bit);
	return util_status(ret);
}

#define SWITCH(title, n) \
	{ .name = "get" title, .text = "show whether it is on", \
	  .run = util_get, .which = n }, \
	{ .name = "set" title, .args = "0|1", \
	  .text = "switch it off (0) or on (1)", .run = util_set, .which = n, \
	  .min = 1, .max = 1 }

const struct util_command util_switch_commands[] = {
	{ .name = "checkring", .text = "check that all ready nodes answer",
	  .run = util_checkring },
	{ .name = "clearowndata", .text = "switch the own-data LED off",
	  .run = util_clearowndata },
	SWITCH("led", 0),
	SWITCH("darkondark", 1),
	SWITCH("loopback", 2),
	SWITCH("parityenable", 3),
	SWITCH("transmit", 4),
	SWITCH("piobyteswap", 5),
	SWITCH("dmabyteswap", 6),
	{ .name = "getmemoryoffset", .text = "show the offset of the memory",
	  .run = util_getmemoryoffset },
	{ .name = "setmemoryoffset", .args = "0|1|2|3",
	  .text = "set the offset in steps of 64 MByte",
	  .run = util_setmemoryoffset,
	  .min = 1, .max = 1 },
	{ .name = "getslidingwindow",
	  .text = "show size and offset of the window",
	  .run = util_getwindow },
	{ .name = "setslidingwindow", .args = "OFFSET",
	  .text = "move the window",
	  .run = util_setwindow, .min = 1, .max = 1 },
	{ .name = "getthreshold",
	  .text = "show the minimum size of a DMA transfer",
	  .run = util_getthreshold },
	{ .name = "setthreshold", .args = "BYTES",
	  .text = "set the minimum size of a DMA transfer",
	  .run = util_setthreshold, .min = 1, .max = 1 },
	{ .name = "getdebug", .text = "show the debug flags",
	  .run = util_getdebug },
	{ .name = "setdebug", .args = "[-]FLAG",
	  .text = "set a debug flag; -: clear it",
	  .run = util_setdebug, .min = 1, .max = 1 },
	{ }
};
