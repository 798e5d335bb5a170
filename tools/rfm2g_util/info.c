// SPDX-License-Identifier: GPL-2.0
/* Commands for properties of the device. */
#include <string.h>

#include "util.h"

/* Return the name of the card with a board ID. */
static const char *util_board(RFM2G_UINT8 id)
{
	return id == 0x65 ? "5565" : "unknown";
}

static enum util_result util_boardid(struct util *util,
				     const struct util_command *command,
				     int argc, char **argv)
{
	RFM2G_UINT8 id;
	RFM2G_STATUS ret = RFM2gBoardID(util->rh, &id);

	if (!ret)
		printf("board id 0x%02x (%s)\n", id, util_board(id));
	return util_status(ret);
}

static enum util_result util_nodeid(struct util *util,
				    const struct util_command *command,
				    int argc, char **argv)
{
	RFM2G_NODE id;
	RFM2G_STATUS ret = RFM2gNodeID(util->rh, &id);

	if (!ret)
		printf("node id 0x%02x\n", id);
	return util_status(ret);
}

static enum util_result util_size(struct util *util,
				  const struct util_command *command, int argc,
				  char **argv)
{
	RFM2G_UINT32 size;
	RFM2G_STATUS ret = RFM2gSize(util->rh, &size);

	if (!ret)
		printf("size %u (0x%x)\n", size, size);
	return util_status(ret);
}

static enum util_result util_first(struct util *util,
				   const struct util_command *command, int argc,
				   char **argv)
{
	RFM2G_UINT32 first;
	RFM2G_STATUS ret = RFM2gFirst(util->rh, &first);

	if (!ret)
		printf("first offset 0x%08x\n", first);
	return util_status(ret);
}

/* Values of util_command.which that select the text for util_text(). */
enum { UTIL_DEVNAME, UTIL_DLLVERSION, UTIL_DRIVERVERSION };

static enum util_result util_text(struct util *util,
				  const struct util_command *command, int argc,
				  char **argv)
{
	static const struct {
		RFM2G_STATUS (*get)(RFM2GHANDLE rh, char *text);
		const char *what;
	} texts[] = {
		[UTIL_DEVNAME] = { RFM2gDeviceName, "device name" },
		[UTIL_DLLVERSION] = { RFM2gDllVersion, "library version" },
		[UTIL_DRIVERVERSION] = { RFM2gDriverVersion, "driver version" },
	};
	char text[MAX_PATH + 1];
	RFM2G_STATUS ret = texts[command->which].get(util->rh, text);

	if (!ret)
		printf("%s \"%s\"\n", texts[command->which].what, text);
	return util_status(ret);
}

static void util_config_lcsr(RFM2G_UINT32 lcsr)
{
	static const struct { RFM2G_UINT32 bit; const char *name; } flags[] = {
		{ RFM2G_LCSR1_LED, "status LED" },
		{ RFM2G_LCSR1_TX_DISABLE, "transmitter disabled" },
		{ RFM2G_LCSR1_DARK_ON_DARK, "dark on dark" },
		{ RFM2G_LCSR1_LOOPBACK, "loopback" },
		{ RFM2G_LCSR1_PARITY, "parity" },
		{ RFM2G_LCSR1_REDUNDANT, "redundant mode" },
		{ RFM2G_LCSR1_ROGUE_MASTER1, "rogue master 1" },
		{ RFM2G_LCSR1_ROGUE_MASTER0, "rogue master 0" },
		{ RFM2G_LCSR1_TX_EMPTY, "TX FIFO empty" },
		{ RFM2G_LCSR1_TX_ALMOST_FULL, "TX FIFO almost full" },
		{ RFM2G_LCSR1_RX_FULL, "RX FIFO full" },
		{ RFM2G_LCSR1_RX_ALMOST_FULL, "RX FIFO almost full" },
		{ RFM2G_LCSR1_SYNC_LOSS, "sync loss" },
		{ RFM2G_LCSR1_SIGNAL, "signal" },
		{ RFM2G_LCSR1_BAD_DATA, "bad data received" },
		{ RFM2G_LCSR1_OWN_DATA, "own data received" },
	};
	unsigned int i;

	printf("lcsr1              0x%08x\n", lcsr);
	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		printf("  %-20s %s\n", flags[i].name,
		       lcsr & flags[i].bit ? "on" : "off");
	printf("  %-20s 0x%08x\n", "memory offset",
	       ((lcsr & RFM2G_LCSR1_OFFSET) >> 16) * 0x4000000);
}

static void util_config_pci(const RFM2GPCICONFIG *pci)
{
	printf("bus                type 0x%04x, bus %u, function %u, devfn 0x%x\n",
	       pci->type, pci->bus, pci->function, pci->devfn);
	printf("                   revision %u, interrupt %u\n", pci->revision,
	       pci->interruptNumber);
	printf("memory window      base 0x%08x, %u bytes\n", pci->rfm2gBase,
	       pci->rfm2gWindowSize);
	printf("bridge registers   base 0x%08x, %u bytes, window %u\n",
	       pci->rfm2gOrBase, pci->rfm2gOrRegSize, pci->rfm2gOrWindowSize);
	printf("control registers  base 0x%08x, %u bytes, window %u\n",
	       pci->rfm2gCsBase, pci->rfm2gCsRegSize, pci->rfm2gCsWindowSize);
}

static enum util_result util_config(struct util *util,
				    const struct util_command *command,
				    int argc, char **argv)
{
	RFM2GCONFIG config;
	RFM2G_BOOL mapped;
	RFM2G_STATUS ret = RFM2gGetConfig(util->rh, &config);

	if (!ret)
		ret = RFM2gxIsMapped(util->rh, &mapped);
	if (ret)
		return util_status(ret);
	printf("reading            %s\n", mapped ?
	       "from mapped memory" :
	       "by system calls, because the memory could not be mapped");
	printf("driver             \"%.32s\" \"%.16s\"\n", config.Name,
	       config.DriverVersion);
	printf("device             \"%.128s\", unit %u\n", config.Device,
	       config.Unit);
	printf("node id            0x%02x\n", config.NodeId);
	printf("board id           0x%02x (%s)\n", config.BoardId,
	       util_board(config.BoardId));
	printf("board revision     0x%02x, build 0x%04x, plx 0x%02x, pci 0x%02x\n",
	       config.BoardRevision, config.BuildId, config.PlxRevision,
	       config.RevisionId);
	printf("memory             %u (0x%x)\n", config.MemorySize,
	       config.MemorySize);
	util_config_lcsr(config.Lcsr1);
	util_config_pci(&config.PciConfig);
	return UTIL_OK;
}

static enum util_result util_errormsg(struct util *util,
				      const struct util_command *command,
				      int argc, char **argv)
{
	RFM2G_UINT32 code;

	if (!util_number(argv[0], &code))
		return UTIL_USAGE;
	printf("status %u: %s\n", code, RFM2gErrorMsg(code));
	return UTIL_OK;
}

const struct util_command util_info_commands[] = {
	{ .name = "boardid", .text = "show the ID of the board",
	  .run = util_boardid },
	{ .name = "nodeid", .text = "show the ID of this node",
	  .run = util_nodeid },
	{ .name = "size", .text = "show the size of the memory",
	  .run = util_size },
	{ .name = "first", .text = "show the first valid offset",
	  .run = util_first },
	{ .name = "devname", .text = "show the name of the device",
	  .run = util_text,
	  .which = UTIL_DEVNAME },
	{ .name = "dllversion", .text = "show the version of the library",
	  .run = util_text, .which = UTIL_DLLVERSION },
	{ .name = "driverversion", .text = "show the version of the driver",
	  .run = util_text, .which = UTIL_DRIVERVERSION },
	{ .name = "config", .text = "show all properties of the device",
	  .run = util_config },
	{ .name = "errormsg", .args = "CODE",
	  .text = "show the text of a status",
	  .run = util_errormsg, .min = 1, .max = 1, .offline = true },
	{ }
};
