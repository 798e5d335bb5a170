# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""The rig: kernels to test on, our modules built for them, and nodes that run them."""
