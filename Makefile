# SPDX-License-Identifier: GPL-2.0
# What people type. Everything the kernel build needs is in Kbuild.
KDIR ?= /lib/modules/$(shell uname -r)/build

all: modules

kdir:
	@test -e $(KDIR)/Makefile || { \
	echo "no kernel headers at $(KDIR): apt-get install linux-headers-$$(uname -r), or say make KDIR=..." >&2; \
	exit 2; }

modules modules_install: kdir
	$(MAKE) -C $(KDIR) M=$(CURDIR) $@

install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules_install

# Also without headers: a tree that was built for another kernel gets clean.
clean:
	@if test -e $(KDIR)/Makefile; then $(MAKE) -C $(KDIR) M=$(CURDIR) $@; else \
	find . -path ./.git -prune -o -type f \( -name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' \
	-o -name '.*.cmd' -o -name 'Module.symvers' -o -name 'modules.order' \) -print | xargs -r rm -f; fi

check:
	tools/check

.PHONY: all kdir modules modules_install install clean check
