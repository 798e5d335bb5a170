// SPDX-License-Identifier: GPL-2.0
/* Commands for registers. */
#include <stdlib.h>

#include "util.h"

enum { UTIL_READREG, UTIL_WRITEREG, UTIL_SETREG, UTIL_CLEARREG };

static RFM2G_STATUS util_reg_change(RFM2GHANDLE rh, int which,
				    const RFM2G_UINT32 *args)
{
	switch (which) {
	case UTIL_WRITEREG:
		return RFM2gWriteReg(rh, args[0], args[1], args[2], args[3]);
	case UTIL_SETREG:
		return RFM2gSetReg(rh, args[0], args[1], args[2], args[3]);
	default:
		return RFM2gClearReg(rh, args[0], args[1], args[2], args[3]);
	}
}

static enum util_result util_reg(struct util *util,
				 const struct util_command *command, int argc,
				 char **argv)
{
	RFM2G_UINT32 args[4] = { 0 }, value = 0;
	RFM2G_STATUS ret;
	int i;

	for (i = 0; i < argc; i++)
		if (!util_number(argv[i], &args[i]))
			return UTIL_USAGE;
	if (command->which != UTIL_READREG)
		return util_status(util_reg_change(util->rh, command->which,
						   args));
	ret = RFM2gReadReg(util->rh, args[0], args[1], args[2], &value);
	if (!ret)
		printf("0x%0*x at 0x%08x of register set %u\n",
		       (int)args[2] * 2, value, args[1], args[0]);
	return util_status(ret);
}

static uint32_t util_reg_bytes(const struct util *util, RFM2G_UINT32 regset)
{
	if (regset == RFM2GCFGREGMEM)
		return util->rh->Config.PciConfig.rfm2gOrRegSize;
	if (regset == RFM2GCTRLREGMEM)
		return util->rh->Config.PciConfig.rfm2gCsRegSize;
	return util->rh->Config.MemorySize;
}

/* Map a register set and print registers from the mapping. */
static enum util_result util_displayreg(struct util *util,
					const struct util_command *command,
					int argc, char **argv)
{
	RFM2G_UINT32 args[4], bytes;
	volatile void *map;
	RFM2G_STATUS ret;
	int i;

	for (i = 0; i < 4; i++)
		if (!util_number(argv[i], &args[i]))
			return UTIL_USAGE;
	if (args[2] != 1 && args[2] != 2 && args[2] != 4) {
		fprintf(stderr, "width %u: 1, 2 or 4\n", args[2]);
		return UTIL_USAGE;
	}
	bytes = util_reg_bytes(util, args[0]);
	if (args[1] > bytes || (uint64_t)args[2] * args[3] > bytes - args[1]) {
		fprintf(stderr, "register set %u has %u bytes\n", args[0],
			bytes);
		return UTIL_FAILED;
	}
	ret = RFM2gMapDeviceMemory(util->rh, args[0], &map);
	if (ret)
		return util_status(ret);
	util_dump((const uint8_t *)map + args[1], args[1], args[2], args[3]);
	return util_status(RFM2gUnMapDeviceMemory(util->rh, args[0], &map));
}

/*
 * Report that there is no flash memory. The cards' tool has this command to
 * write the flash memory of a card.
 */
static enum util_result util_flashcard(struct util *util,
				       const struct util_command *command,
				       int argc, char **argv)
{
	fprintf(stderr, "this device has no flash memory\n");
	return UTIL_FAILED;
}

const struct util_command util_reg_commands[] = {
	{ .name = "readreg", .args = "REGSET OFFSET WIDTH",
	  .text = "read a register", .run = util_reg, .min = 3, .max = 3,
	  .which = UTIL_READREG, .hidden = true },
	{ .name = "writereg", .args = "REGSET OFFSET WIDTH VALUE",
	  .text = "write a register", .run = util_reg, .min = 4, .max = 4,
	  .which = UTIL_WRITEREG, .hidden = true },
	{ .name = "setreg", .args = "REGSET OFFSET WIDTH MASK",
	  .text = "set bits of a register", .run = util_reg, .min = 4, .max = 4,
	  .which = UTIL_SETREG, .hidden = true },
	{ .name = "clearreg", .args = "REGSET OFFSET WIDTH MASK",
	  .text = "clear bits of a register", .run = util_reg, .min = 4,
	  .max = 4,
	  .which = UTIL_CLEARREG, .hidden = true },
	{ .name = "displayreg", .args = "REGSET OFFSET WIDTH COUNT",
	  .text = "show registers in a mapping", .run = util_displayreg,
	  .min = 4,
	  .max = 4, .hidden = true },
	{ .name = "flashcard", .text = "report that there is no flash memory",
	  .run = util_flashcard, .hidden = true },
	{ }
};
