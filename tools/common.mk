# SPDX-License-Identifier: GPL-2.0
# Shared by the Makefiles of the library and of the tools.
#
# BUILD=DIR or O=DIR on the command line names the folder for objects. Both are ignored in the environment, because an
# exported O names the folder of a kernel, which must not be cleaned. A folder that is created here gets a file .made.
# "clean" removes only folders with this file.
#
# PREFIX, LIBDIR and similar variables matter when files are installed, not when programs are built. "install" compiles
# nothing, so that root leaves no files in the tree.
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
INCLUDEDIR ?= $(PREFIX)/include/rfm2g
CFLAGS ?= -O2 -g

# Fedora, RHEL and SUSE keep 64-bit libraries in lib64, Debian and Arch in lib. Tests set host to another root folder.
host :=
lib := $(if $(wildcard $(host)/usr/lib64/libc.so.6 $(host)/lib64/libc.so.6),$(if $(filter $(realpath $(host)/usr/lib),$(realpath $(host)/usr/lib64)),lib,lib64),lib)
LIBDIR ?= $(PREFIX)/$(lib)

# CROSS_COMPILE=aarch64-linux-gnu- selects the compiler of another architecture, as for modules.
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
# tools/check sets WERROR=-Werror. CFLAGS come last, so that they can override all other flags.
flags := -std=gnu11 -D_GNU_SOURCE -Wall -Wextra
compile = $(CC) $(CPPFLAGS) $(flags) $(WERROR) $(CFLAGS)

# Variables that change objects. The file .variables records their values. If one differs, everything is compiled again.
# A Makefile names variables of its own in more_variables, above its include.
variables := CROSS_COMPILE CC AR CPPFLAGS CFLAGS LDFLAGS $(more_variables)
recorded := $(BUILD)/.variables
current := $(foreach name,$(variables),<$(name)=$($(name))>)
built := $(file <$(recorded))
ifneq ($(strip $(built)),$(strip $(current)))
ifneq ($(checking),1)
$(recorded): FORCE
endif
endif

# Variables that "make install" sets must have the values that they had in the build.
named := $(foreach name,$(variables),$(if $(filter command environment,$(firstword $(origin $(name)))),$(name)))
differing := $(strip $(foreach name,$(named),$(if $(findstring <$(name)=$($(name))>,$(built)),,$(name))))

.DEFAULT_GOAL := all

$(BUILD):
	mkdir -p $@
	touch $@/.made

$(recorded): | $(BUILD)
	@echo '$(subst ','\'',$(current))' >$@

$(objects): $(here)Makefile $(here)../common.mk $(recorded)

# Check that programs were built from the present sources, and with the same variables.
is-built:
	@$(if $(and $(built),$(differing)),echo "$(notdir $(CURDIR)): built with another $(differing): type make with the same variables first" >&2; exit 2)
	@$(MAKE) -q checking=1 all >/dev/null 2>&1 || \
	{ echo "$(notdir $(CURDIR)): not built, or sources have changed since: type make first" >&2; exit 2; }

install: is-built

uninstall: remove-files

remove-files:
	rm -f $(installed:%=$(DESTDIR)%)

# Remove objects, the files that a Makefile lists in "made", and the folder BUILD if it was created here.
clean:
	rm -f $(objects) $(made) $(recorded)
	@if test -e $(BUILD)/.made; then rm -f $(BUILD)/.made; rmdir --ignore-fail-on-non-empty $(BUILD); fi

FORCE:

.PHONY: all install uninstall remove-files is-built clean FORCE
