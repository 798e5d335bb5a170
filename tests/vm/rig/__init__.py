# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""The rig: kernels to test on, our modules built for them, and nodes that run them."""
import os

# Where depmod, modprobe and chroot are; Debian does not give that to ordinary users.
os.environ["PATH"] = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
