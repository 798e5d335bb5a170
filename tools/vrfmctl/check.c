// SPDX-License-Identifier: GPL-2.0
/*
 * Compare the memories of two nodes. vrfm has no message for this. So the user
 * prints checksums of blocks on one node, and compares them on the other. The
 * memories may differ while a program writes.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctl.h"

#define CTL_BLOCK 65536
#define CTL_FLUSH_MS 10000
#define CTL_SIZE_MAX (2ULL << 30)

/**
 * struct ctl_image - checksums of a memory
 * @name: name of the device or file that the checksums are from
 * @node: ID of the node
 * @size: size of the memory in bytes
 * @block: size of a block in bytes
 * @n: number of blocks
 * @sums: checksum of each block
 */
struct ctl_image {
	const char *name;
	unsigned int node;
	uint64_t size;
	uint64_t block;
	uint64_t n;
	uint64_t *sums;
};

/* Return a checksum: FNV-1a over 64 bits, applied to words instead of bytes. */
static uint64_t ctl_sum(const volatile uint32_t *words, uint64_t bytes)
{
	uint64_t i, sum = 0xcbf29ce484222325ULL;

	for (i = 0; i < bytes / 4; i++)
		sum = (sum ^ words[i]) * 0x100000001b3ULL;
	return sum;
}

static bool ctl_image_alloc(struct ctl_image *image)
{
	image->n = (image->size + image->block - 1) / image->block;
	image->sums = calloc(image->n, sizeof(*image->sums));
	if (!image->sums)
		warn("%s", image->name);
	return image->sums;
}

static bool ctl_image_sum(int fd, struct ctl_image *image)
{
	const volatile uint32_t *mem;
	uint64_t i, left;

	mem = mmap(NULL, image->size, PROT_READ, MAP_SHARED, fd, 0);
	if (mem == MAP_FAILED) {
		warn("%s cannot be mapped", image->name);
		return false;
	}
	for (i = 0; i < image->n; i++) {
		left = image->size - i * image->block;
		image->sums[i] = ctl_sum(mem + i * image->block / 4,
					 left < image->block ? left :
					 image->block);
	}
	munmap((void *)mem, image->size);
	return true;
}

/*
 * Wait until all ready peers have this node's data. Until then, their memories
 * may differ from the memory of this node.
 */
static bool ctl_flush(int fd, unsigned int unit)
{
	struct vrfm_flush flush = { .timeout_ms = CTL_FLUSH_MS };

	if (!ctl_command(fd, unit, VRFM_FLUSH, &flush)) {
		if (errno == ETIMEDOUT)
			warnx("rfm2g%u: %u peers did not answer", unit,
			      flush.behind);
		return false;
	}
	if (flush.absent)
		warnx("rfm2g%u: %u peers are not ready, see vrfmctl peers",
		      unit, flush.absent);
	return true;
}

static unsigned int ctl_node(unsigned int unit)
{
	char path[64], text[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/rfm2g/rfm2g%u/node_id", unit);
	file = fopen(path, "r");
	if (file) {
		if (!fgets(text, sizeof(text), file))
			*text = 0;
		fclose(file);
	}
	return strtoul(text, NULL, 10);
}

static bool ctl_image_take(unsigned int unit, struct ctl_image *image)
{
	int fd = ctl_open(unit, O_RDONLY);
	off_t size;
	bool good;

	if (fd < 0)
		return false;
	size = lseek(fd, 0, SEEK_END);
	image->node = ctl_node(unit);
	image->size = size > 0 ? size : 0;
	good = ctl_flush(fd, unit) && ctl_image_alloc(image) &&
	       ctl_image_sum(fd, image);
	close(fd);
	return good;
}

/* Read the first line of a file of checksums: the node and the sizes. */
static bool ctl_image_head(FILE *file, struct ctl_image *image)
{
	char line[128];

	if (fgets(line, sizeof(line), file) &&
	    sscanf(line, "vrfmctl-check node %u size %" SCNu64 " block %" SCNu64,
		   &image->node, &image->size, &image->block) == 3 &&
	    image->size && image->size <= CTL_SIZE_MAX && image->block >= 4 &&
	    image->block <= CTL_SIZE_MAX && image->block % 4 == 0)
		return true;
	warnx("%s: not what vrfmctl check prints", image->name);
	return false;
}

static bool ctl_image_lines(FILE *file, struct ctl_image *image)
{
	uint64_t i, offset;
	char line[128];

	for (i = 0; i < image->n; i++) {
		if (fgets(line, sizeof(line), file) &&
		    sscanf(line, "%" SCNx64 " %" SCNx64, &offset,
			   &image->sums[i]) == 2 && offset == i * image->block)
			continue;
		warnx("%s:%" PRIu64 ": a block is missing", image->name, i + 2);
		return false;
	}
	return true;
}

static bool ctl_image_read(struct ctl_image *image)
{
	bool is_stdin = !strcmp(image->name, "-"), good;
	FILE *file = is_stdin ? stdin : fopen(image->name, "r");

	if (!file) {
		warn("%s", image->name);
		return false;
	}
	good = ctl_image_head(file, image) && ctl_image_alloc(image) &&
	       ctl_image_lines(file, image);
	if (!is_stdin)
		fclose(file);
	return good;
}

static void ctl_image_print(const struct ctl_image *image)
{
	uint64_t i;

	printf("vrfmctl-check node %u size %" PRIu64 " block %" PRIu64 "\n",
	       image->node, image->size, image->block);
	for (i = 0; i < image->n; i++)
		printf("%08" PRIx64 " %016" PRIx64 "\n", i * image->block,
		       image->sums[i]);
}

static void ctl_image_json(const struct ctl_image *image)
{
	uint64_t i;

	printf("{\"device\":\"%s\",\"node\":%u,\"size\":%" PRIu64
	       ",\"block\":%" PRIu64 ",\"sums\":[", image->name, image->node,
	       image->size, image->block);
	for (i = 0; i < image->n; i++)
		printf("%s\"%016" PRIx64 "\"", i ? "," : "", image->sums[i]);
	printf("]}\n");
}

static uint64_t ctl_image_differences(const struct ctl_image *mine,
				      const struct ctl_image *theirs, bool json)
{
	uint64_t i, n = 0;

	for (i = 0; i < mine->n; i++) {
		if (mine->sums[i] == theirs->sums[i])
			continue;
		if (json)
			printf("%s%" PRIu64, n ? "," : "", i * mine->block);
		else
			printf("%08" PRIx64 " differs\n", i * mine->block);
		n++;
	}
	return n;
}

/* Compare the checksums, and return true if all are equal. */
static bool ctl_image_compare(const struct ctl_image *mine,
			      const struct ctl_image *theirs, bool json)
{
	uint64_t n;

	if (mine->size != theirs->size) {
		warnx("%s has %" PRIu64 " bytes, %s %" PRIu64, mine->name,
		      mine->size, theirs->name, theirs->size);
		return false;
	}
	if (json) {
		printf("{\"device\":\"%s\",\"node\":%u,\"with\":%u",
		       mine->name, mine->node, theirs->node);
		printf(",\"blocks\":%" PRIu64 ",\"block\":%" PRIu64 ",\"different\":[",
		       mine->n, mine->block);
	}
	n = ctl_image_differences(mine, theirs, json);
	if (json)
		printf("],\"same\":%s}\n", ctl_bool(!n));
	else
		printf("nodes %u and %u: %" PRIu64 " of %" PRIu64 " blocks differ\n",
		       mine->node, theirs->node, n, mine->n);
	return !n;
}

/**
 * ctl_check - print checksums of a device, or compare them with another node's
 * @options: options of the command line
 * @only: name of the device; NULL if there is only one device
 *
 * Return: CTL_OK; CTL_FAILED if checksums differ, or after an error message.
 */
enum ctl_result ctl_check(const struct ctl_options *options, const char *only)
{
	struct ctl_image mine = { }, theirs = { .name = options->compare };
	enum ctl_result ret = CTL_FAILED;
	unsigned int unit;
	char name[16];

	if (!ctl_which(only, &unit))
		return CTL_FAILED;
	snprintf(name, sizeof(name), "rfm2g%u", unit);
	mine.name = name;
	mine.block = options->block ? options->block : CTL_BLOCK;
	if (options->compare && ctl_image_read(&theirs)) {
		mine.block = theirs.block;
		if (ctl_image_take(unit, &mine) &&
		    ctl_image_compare(&mine, &theirs, options->json))
			ret = CTL_OK;
	} else if (!options->compare && ctl_image_take(unit, &mine)) {
		if (options->json)
			ctl_image_json(&mine);
		else
			ctl_image_print(&mine);
		ret = CTL_OK;
	}
	free(mine.sums);
	free(theirs.sums);
	return ret;
}
