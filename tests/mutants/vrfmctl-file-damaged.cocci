// SPDX-License-Identifier: GPL-2.0
// vrfmctl does not check the checksum of a record in a file.
//
// file: tools/vrfmctl/file.c
// caught-by: record-file
// rule: Documentation/tap.rst#Format of the file
@@
expression file, bytes, len;
@@
- if (crc != ctl_crc32(bytes + CTL_PACKET_HEAD, len))
-	return ctl_file_invalid(file, "a damaged record");
