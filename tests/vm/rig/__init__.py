# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""The rig: kernels for tests, our modules built for these kernels, and nodes that run both."""
import os

# The folders of depmod, modprobe and chroot, which are not in the PATH of Debian's ordinary users.
os.environ["PATH"] = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
