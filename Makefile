# SPDX-License-Identifier: GPL-2.0
# What people type. Everything the kernel build needs is in Kbuild. With
# KRDMA_TESTS=y, make builds the sample and the modules of the tests as well, with
# KRDMA_TESTS=kunit the KUnit tests alone.
# DESTDIR, PREFIX and LIBDIR are for what programs use, INSTALL_MOD_PATH is for
# modules. BUILD=DIR, or O=DIR, on the command line is where programs are built, each
# in a folder of its own; modules are built in the tree. DOCS is where make docs puts
# its pages, KERNELDOC the kernel-doc that it is to use.
KDIR ?= /lib/modules/$(shell uname -r)/build

# Debian's headers ask for signed modules, but the key is not among them.
unsigned = $(if $(wildcard $(KDIR)/certs/signing_key.pem),,CONFIG_MODULE_SIG_ALL=)

# What DKMS has of the tree is without them.
userspace := $(wildcard tools/librfm2g tools/rfm2g_util tools/vrfmctl)

# An O of the environment is where somebody builds a kernel.
BUILD :=
ifeq ($(origin BUILD)$(origin O),filecommand line)
BUILD := $(O)
endif
# in FOLDER TARGET: make it there; librfm2g is built once
in = $(MAKE) -C $(1) $(if $(BUILD),BUILD=$(abspath $(BUILD))/$(notdir $(1)),BUILD=build) \
	LIBRFM2G=$(if $(BUILD),$(abspath $(BUILD))/librfm2g,../librfm2g/build) $(2)
each = $(foreach folder,$(userspace),$(call in,$(folder),$(1)) &&) :
# The O of our command line is not the kernel's. Without one none is handed on: a
# kernel that was built in a folder of its own would not find its configuration.
kbuild = $(MAKE) -C $(KDIR) M=$(CURDIR) $(if $(filter command,$(origin O)),O=)

all: modules tools

kdir:
	@test -e $(KDIR)/Makefile || { \
	echo "no kernel headers at $(KDIR): apt-get install linux-headers-$$(uname -r), or say make KDIR=..." >&2; \
	exit 2; }

modules: kdir
	$(kbuild) $@

modules_install: kdir
	$(kbuild) $(unsigned) $@

tools:
	+$(call each,all)

tools_install:
	+$(call each,is-built)
	+$(call each,install)

install: modules tools
	$(MAKE) modules_install
	$(MAKE) tools_install

# Also without headers: a tree that was built for another kernel gets clean.
clean:
	+$(call each,clean)
	rm -rf Documentation/build
	@if test -e $(KDIR)/Makefile; then $(kbuild) $@; else \
	find . -path ./.git -prune -o -type f \( -name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' \
	-o -name '.*.cmd' -o -name 'Module.symvers' -o -name 'modules.order' \) -print | xargs -r rm -f; fi

DOCS ?= Documentation/build

docs:
	@command -v sphinx-build >/dev/null || { echo "no sphinx-build: apt-get install python3-sphinx" >&2; exit 2; }
	KDIR="$(KDIR)" KERNELDOC="$(KERNELDOC)" PYTHONDONTWRITEBYTECODE=1 \
	sphinx-build -q -W --keep-going -b html Documentation $(DOCS)
	@echo "$(DOCS)/index.html"

check:
	tools/check

.PHONY: all kdir modules modules_install tools tools_install install clean docs check
