# SPDX-License-Identifier: GPL-2.0
# What people type. Everything the kernel build needs is in Kbuild. With
# KRDMA_TESTS=y, make builds the sample and the modules of the tests as well, with
# KRDMA_TESTS=kunit the KUnit tests alone.
# DESTDIR, PREFIX and LIBDIR are for what programs use, INSTALL_MOD_PATH is for
# modules. DOCS is where make docs puts its pages, KERNELDOC the kernel-doc that it
# is to use.
KDIR ?= /lib/modules/$(shell uname -r)/build

# Debian's headers ask for signed modules, but the key is not among them.
unsigned = $(if $(wildcard $(KDIR)/certs/signing_key.pem),,CONFIG_MODULE_SIG_ALL=)

# What DKMS has of the tree is without them.
userspace := $(wildcard tools/librfm2g tools/rfm2g_util tools/vrfmctl)

all: modules tools

kdir:
	@test -e $(KDIR)/Makefile || { \
	echo "no kernel headers at $(KDIR): apt-get install linux-headers-$$(uname -r), or say make KDIR=..." >&2; \
	exit 2; }

modules: kdir
	$(MAKE) -C $(KDIR) M=$(CURDIR) $@

modules_install: kdir
	$(MAKE) -C $(KDIR) M=$(CURDIR) $(unsigned) $@

tools:
	+for folder in $(userspace); do $(MAKE) -C $$folder || exit; done

tools_install: tools
	+for folder in $(userspace); do $(MAKE) -C $$folder install || exit; done

install: modules tools
	$(MAKE) modules_install
	$(MAKE) tools_install

# Also without headers: a tree that was built for another kernel gets clean.
clean:
	+for folder in $(userspace); do $(MAKE) -C $$folder clean || exit; done
	rm -rf Documentation/build
	@if test -e $(KDIR)/Makefile; then $(MAKE) -C $(KDIR) M=$(CURDIR) $@; else \
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
