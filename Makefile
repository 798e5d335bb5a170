# SPDX-License-Identifier: GPL-2.0
# Targets for people. Kbuild has everything that the kernel's build system needs.
#
# KRDMA_TESTS=y also builds the sample and the modules of the tests. KRDMA_TESTS=kunit
# builds the KUnit tests alone.
#
# DESTDIR, PREFIX and LIBDIR say where programs, library and their files are installed.
# INSTALL_MOD_PATH says where modules are installed; its default is DESTDIR. "install"
# compiles nothing, and refuses files that were not built before. It also refuses to
# install beside files of a package, of DKMS or of another prefix, unless SHADOW=yes.
# "uninstall" takes the same variables.
#
# BUILD=DIR or O=DIR on the command line names the folder for programs, each of which is
# built in a folder of its own below it. Modules are built in the tree. DOCS names the
# folder for the pages of "make docs", and KERNELDOC the program kernel-doc.
KDIR ?= /lib/modules/$(shell uname -r)/build

# Debian's headers request signed modules, but do not contain the key. So do not sign, unless the administrator has
# configured a key in another file or by a pkcs11: URI.
key = $(or $(shell sed -n 's/^CONFIG_MODULE_SIG_KEY="\(.*\)"/\1/p' $(KDIR)/.config 2>/dev/null),certs/signing_key.pem)
unsigned = $(if $(filter pkcs11:%,$(key))$(wildcard $(KDIR)/$(key) $(filter /%,$(key))),,CONFIG_MODULE_SIG_ALL=)

# DKMS has a copy of the tree that does not contain these folders.
userspace := $(wildcard tools/librfm2g tools/ntr-server tools/rfm2g_util tools/vrfmctl tools/system)

# Ignore an O of the environment, because it names the folder of a kernel that the user builds.
BUILD :=
ifeq ($(origin BUILD)$(origin O),filecommand line)
BUILD := $(O)
endif
# in FOLDER TARGET: make TARGET in FOLDER. All folders use the same build of librfm2g.
in = $(MAKE) -C $(1) $(if $(BUILD),BUILD=$(abspath $(BUILD))/$(notdir $(1)),BUILD=build) \
	LIBRFM2G=$(if $(BUILD),$(abspath $(BUILD))/librfm2g,../librfm2g/build) $(2)
each = $(foreach folder,$(userspace),$(call in,$(folder),$(1)) &&) :
# Clear an O of this command line for the kernel's make, where it would name another
# folder. Otherwise pass no O. An empty O would hide the configuration of a kernel that
# was built in a folder of its own.
kbuild = $(MAKE) -C $(KDIR) M=$(CURDIR) $(if $(filter command,$(origin O)),O=)

# LINUX_VERSION_CODE of 6.1, the oldest kernel for which the modules build.
oldest := 393472
names := krdma krping ntrdma vrfm
# forget FOLDER NAME: remove a module that "make install" has installed. Earlier versions of this Makefile installed into
# "extra" on kernels before 6.12.
forget = test ! -d $(1)/$(2) || { rm -f $(1)/$(2)/$(2).ko* $(1)/$(2)/$(2)_blk.ko*; rmdir --ignore-fail-on-non-empty $(1)/$(2); }
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

# Check that each module is newer than its sources, is for this kernel release, and was
# built without KRDMA_TESTS.
modules-are-built:
	@for name in $(names); do \
	test -e $$name/$$name.ko || { echo "$$name.ko is not built: type make first" >&2; exit 2; }; \
	test -z "$$(find $$name -name '*.[ch]' -newer $$name/$$name.ko)" || \
	{ echo "sources of $$name have changed since it was built: type make first" >&2; exit 2; }; \
	set -- $$(PATH=$$PATH:/usr/sbin:/sbin modinfo -F vermagic $$name/$$name.ko); test "$$1" = "$(release)" || \
	{ echo "$$name.ko is built for $$1, and $(KDIR) is $(release): type make first" >&2; exit 2; }; done
	@! grep -vE '/(krdma|krping|krping_blk|ntrdma|vrfm)\.k?o$$' modules.order >&2 || \
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

# Remove the modules of all installed kernels. No headers are needed.
modules_uninstall:
	@for folder in $(foreach place,updates extra,$(INSTALL_MOD_PATH)/lib/modules/*/$(place)); do \
	for name in $(names); do $(call forget,$$folder,$$name); done; done
	$(if $(INSTALL_MOD_PATH),,for folder in /lib/modules/*/; do depmod -a $$(basename $$folder); done)

tools_uninstall:
	+$(call each,uninstall)

uninstall: tools_uninstall
	$(MAKE) modules_uninstall

# Without headers, remove the files that the kernel's build system leaves in the tree.
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
