# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""The rig: kernels for tests, our modules built for these kernels, and nodes that run both."""
import os

# Add the folders of depmod, modprobe and chroot, because they are not in the PATH of an ordinary user of Debian.
os.environ["PATH"] = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
