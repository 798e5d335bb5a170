# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
"""The main program of tools/vm."""
import sys

sys.dont_write_bytecode = True
from rig import vm  # noqa: E402

sys.exit(vm.main())
