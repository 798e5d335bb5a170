# SPDX-License-Identifier: GPL-2.0
# Targets for people. Everything that the kernel build needs is in Kbuild. With
# KRDMA_TESTS=y, make builds the sample and the modules of the tests as well, with
# KRDMA_TESTS=kunit the KUnit tests alone.
# DESTDIR, PREFIX and LIBDIR are for what programs use, INSTALL_MOD_PATH is for
# modules, DESTDIR if it is not given. "install" compiles nothing. It refuses what was
# not built before, and files that those of another way of installing would shadow;
# SHADOW=yes installs nevertheless. "uninstall" takes the same variables. BUILD=DIR, or
# O=DIR, on the command line is where programs are built, each in a folder of its own;
# modules are built in the tree. DOCS is where make docs puts its pages, KERNELDOC the
# kernel-doc that it is to use.
KDIR ?= /lib/modules/$(shell uname -r)/build

# Debian's headers ask for signed modules, but the key is not among them. A key of the administrator, in another file or
# behind a pkcs11: URI, is used.
key = $(or $(shell sed -n 's/^CONFIG_MODULE_SIG_KEY="\(.*\)"/\1/p' $(KDIR)/.config 2>/dev/null),certs/signing_key.pem)
unsigned = $(if $(filter pkcs11:%,$(key))$(wildcard $(KDIR)/$(key) $(filter /%,$(key))),,CONFIG_MODULE_SIG_ALL=)

# The tree that DKMS has is without them.
userspace := $(wildcard tools/librfm2g tools/rfm2g_util tools/vrfmctl tools/system)

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

# The oldest kernel that the modules build for is 6.1: its LINUX_VERSION_CODE.
oldest := 393472
names := krdma krping vrfm
# forget FOLDER NAME: remove a module that "make install" has there. Earlier versions used extra before Linux 6.12.
forget = test ! -d $(1)/$(2) || { rm -f $(1)/$(2)/$(2).ko*; rmdir --ignore-fail-on-non-empty $(1)/$(2); }
INSTALL_MOD_PATH ?= $(DESTDIR)
release = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
installed = $(INSTALL_MOD_PATH)/lib/modules/$(release)

all: modules tools

kdir:
	@test -e $(KDIR)/Makefile || { \
	echo "no kernel headers at $(KDIR): apt-get install linux-headers-$$(uname -r), or say make KDIR=..." >&2; \
	exit 2; }
	@code=$$(sed -n 's/.*LINUX_VERSION_CODE //p' $(KDIR)/include/generated/uapi/linux/version.h 2>/dev/null); \
	test "$${code:-$(oldest)}" -ge $(oldest) || { \
	echo "$(KDIR) is of Linux $$((code >> 16)).$$((code >> 8 & 255)): the modules need Linux 6.1 or later, see README.md" >&2; \
	exit 2; }

modules: kdir
	+$(kbuild) $@

# A module is built if it is newer than its sources, for this release, and alone.
modules-are-built:
	@for name in $(names); do \
	test -e $$name/$$name.ko || { echo "$$name.ko is not built: type make first" >&2; exit 2; }; \
	test -z "$$(find $$name -name '*.[ch]' -newer $$name/$$name.ko)" || \
	{ echo "sources of $$name have changed since it was built: type make first" >&2; exit 2; }; \
	set -- $$(PATH=$$PATH:/usr/sbin:/sbin modinfo -F vermagic $$name/$$name.ko); test "$$1" = "$(release)" || \
	{ echo "$$name.ko is built for $$1, and $(KDIR) is $(release): type make first" >&2; exit 2; }; done
	@! grep -vE '/(krdma|krping|vrfm)\.k?o$$' modules.order >&2 || \
	{ echo "these were built, too, with KRDMA_TESTS: type make without it first" >&2; exit 2; }

modules_install: kdir modules-are-built
	$(if $(SHADOW),,tools/installed-otherwise modules $(installed))
	@for name in $(names); do $(call forget,$(installed)/extra,$$name); done
	+$(kbuild) $(unsigned) INSTALL_MOD_PATH=$(INSTALL_MOD_PATH) INSTALL_MOD_DIR=updates $@
	$(if $(INSTALL_MOD_PATH),,depmod -a $(release))

tools:
	+$(call each,all)

tools_install:
	+$(call each,is-built)
	$(if $(SHADOW),,tools/installed-otherwise programs "$(DESTDIR)" $(or $(PREFIX),/usr/local))
	+$(call each,install)

install: kdir modules-are-built
	+$(call each,is-built)
	$(if $(SHADOW),,tools/installed-otherwise modules $(installed))
	$(MAKE) tools_install
	$(MAKE) modules_install

# Of all kernels, without their headers.
modules_uninstall:
	@for folder in $(foreach place,updates extra,$(INSTALL_MOD_PATH)/lib/modules/*/$(place)); do \
	for name in $(names); do $(call forget,$$folder,$$name); done; done
	$(if $(INSTALL_MOD_PATH),,for folder in /lib/modules/*/; do depmod -a $$(basename $$folder); done)

tools_uninstall:
	+$(call each,uninstall)

uninstall: tools_uninstall
	$(MAKE) modules_uninstall

# Also without headers: a tree that was built for another kernel gets clean.
clean:
	+$(call each,clean)
	rm -rf Documentation/build
	+@if test -e $(KDIR)/Makefile; then $(kbuild) $@; else \
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

.PHONY: all kdir modules modules-are-built modules_install modules_uninstall tools tools_install tools_uninstall install \
	uninstall clean docs check
