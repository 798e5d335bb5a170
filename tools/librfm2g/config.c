// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Properties of a device. RFM2gGetConfig() reads them from the driver. The
 * other functions return those that were valid when the device was opened.
 */
#include <string.h>

#include "priv.h"

STDRFM2GCALL RFM2gGetConfig(RFM2GHANDLE rh, RFM2GCONFIG *Config)
{
	return rfm2g_call_get(rh, IOCTL_RFM2G_GET_CONFIG, Config);
}

STDRFM2GCALL RFM2gNodeID(RFM2GHANDLE rh, RFM2G_NODE *NodeId)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (NodeId)
		*NodeId = h->config.NodeId;
	else
		ret = RFM2G_BAD_PARAMETER_2;
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gBoardID(RFM2GHANDLE rh, RFM2G_UINT8 *BoardId)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (BoardId)
		*BoardId = h->config.BoardId;
	else
		ret = RFM2G_BAD_PARAMETER_2;
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gSize(RFM2GHANDLE rh, RFM2G_UINT32 *Size)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (Size)
		*Size = h->size;
	else
		ret = RFM2G_BAD_PARAMETER_2;
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gFirst(RFM2GHANDLE rh, RFM2G_UINT32 *First)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (First)
		*First = 0;
	else
		ret = RFM2G_BAD_PARAMETER_2;
	rfm2g_leave();
	return ret;
}

/* Copy a text of at most SIZE bytes, which may lack a NUL, and add a NUL. */
static RFM2G_STATUS rfm2g_text(const char *text, size_t size, char *to)
{
	size_t len = strnlen(text, size);

	if (!to)
		return RFM2G_BAD_PARAMETER_2;
	memcpy(to, text, len);
	to[len] = 0;
	return RFM2G_SUCCESS;
}

STDRFM2GCALL RFM2gDeviceName(RFM2GHANDLE rh, char *Name)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = rfm2g_text(h->config.Device, sizeof(h->config.Device), Name);
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gDllVersion(RFM2GHANDLE rh, char *Version)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = rfm2g_text(RFM2G_LIBRARY_VERSION, sizeof(RFM2G_LIBRARY_VERSION),
			 Version);
	rfm2g_leave();
	return ret;
}

/* Return the driver's version. The cards' library returns the library's. */
STDRFM2GCALL RFM2gDriverVersion(RFM2GHANDLE rh, char *Version)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = rfm2g_text(h->config.DriverVersion,
			 sizeof(h->config.DriverVersion), Version);
	rfm2g_leave();
	return ret;
}
