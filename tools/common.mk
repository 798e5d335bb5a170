# SPDX-License-Identifier: GPL-2.0
# Shared by the Makefiles of the library and of the tools.
#
# BUILD=DIR on the command line names the folder for objects; O=DIR is the same. The environment cannot set either: an
# exported O is where a kernel is built, and its owner does not want it cleaned. Folders made here have a file .made in
# them, and "clean" removes no other folder.
#
# PREFIX, LIBDIR and the like count when files are installed, not when programs are built. "install" compiles nothing,
# so that root leaves no files in the tree.
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
INCLUDEDIR ?= $(PREFIX)/include/rfm2g
CFLAGS ?= -O2 -g

# Fedora, RHEL and SUSE keep 64-bit libraries in lib64, Debian and Arch in lib. host is another root in tests.
host :=
lib := $(if $(wildcard $(host)/usr/lib64/libc.so.6 $(host)/lib64/libc.so.6),$(if $(filter $(realpath $(host)/usr/lib),$(realpath $(host)/usr/lib64)),lib,lib64),lib)
LIBDIR ?= $(PREFIX)/$(lib)

# As for modules, make CROSS_COMPILE=aarch64-linux-gnu- names another architecture.
ifneq ($(CROSS_COMPILE),)
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
endif

BUILD := build
ifeq ($(origin BUILD)$(origin O),filecommand line)
BUILD := $(O)
endif

here := $(dir $(firstword $(MAKEFILE_LIST)))
sources := $(notdir $(sort $(wildcard $(here)*.c)))
objects := $(sources:%.c=$(BUILD)/%.o)
version = $(shell sed -n 's/^.define KRDMA_VERSION "\(.*\)"$$/\1/p' $(here)../../include/version.h)
# Checks say WERROR=-Werror. CFLAGS come last, so that they can undo any of these.
flags := -std=gnu11 -D_GNU_SOURCE -Wall -Wextra
compile = $(CC) $(CPPFLAGS) $(flags) $(WERROR) $(CFLAGS)

# These make an object what it is. If one of them differs from what the file .variables has, all is compiled again.
variables := CC AR CPPFLAGS CFLAGS LDFLAGS
recorded := $(BUILD)/.variables
current := $(foreach name,$(variables),<$(name)=$($(name))>)
built := $(file <$(recorded))
ifneq ($(strip $(built)),$(strip $(current)))
ifneq ($(checking),1)
$(recorded): FORCE
endif
endif

# Variables that "make install" names must be those of the build.
named := $(foreach name,$(variables),$(if $(filter command environment,$(firstword $(origin $(name)))),$(name)))
differing := $(strip $(foreach name,$(named),$(if $(findstring <$(name)=$($(name))>,$(built)),,$(name))))

.DEFAULT_GOAL := all

$(BUILD):
	mkdir -p $@
	touch $@/.made

$(recorded): | $(BUILD)
	@echo '$(subst ','\'',$(current))' >$@

$(objects): $(here)Makefile $(here)../common.mk $(recorded)

# Programs are installed only if they were built from these sources, with these variables.
is-built:
	@$(if $(and $(built),$(differing)),echo "$(notdir $(CURDIR)): built with another $(differing): type make with the same variables first" >&2; exit 2)
	@$(MAKE) -q checking=1 all >/dev/null 2>&1 || \
	{ echo "$(notdir $(CURDIR)): not built, or sources have changed since: type make first" >&2; exit 2; }

install: is-built

uninstall: remove-files

remove-files:
	rm -f $(installed:%=$(DESTDIR)%)

# made: files that building leaves, of which only those in BUILD are removed
clean:
	rm -f $(objects) $(made) $(recorded)
	@if test -e $(BUILD)/.made; then rm -f $(BUILD)/.made; rmdir --ignore-fail-on-non-empty $(BUILD); fi

FORCE:

.PHONY: all install uninstall remove-files is-built clean FORCE
