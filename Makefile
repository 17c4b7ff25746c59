# SPDX-License-Identifier: Apache-2.0
#
# make            build into build/
# make demo       install what is missing, build, run a script under agent.ini, show its record
# make check      install what is missing, build, run all tests
# make check-san  the unit tests with the address and undefined-behaviour sanitizers, in build-san/
# make lint       format, static analysis, shell scripts, sizes
# make bench      start-up times beside bubblewrap's (see tests/bench/README.md)
# make install    PREFIX=/usr/local DESTDIR=; nothing is setuid, nothing runs as a service

PREFIX     ?= /usr/local
DESTDIR    ?=
bindir     := $(PREFIX)/bin
libexecdir := $(PREFIX)/libexec/sbox
datadir    := $(PREFIX)/share/sbox
mandir     := $(PREFIX)/share/man
sysconfdir ?= /etc

VERSION := 0.1.0
BUILD   ?= build
CC      ?= cc

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wswitch-enum \
	-Wformat=2 -Wwrite-strings -Wundef -Wpointer-arith
# Warnings stop the build unless it is for a release: make RELEASE=1.
ifndef RELEASE
WARN += -Werror
endif
HARDEN := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection \
	-ftrivial-auto-var-init=zero -fno-strict-overflow -fPIE
ifeq ($(shell uname -m),x86_64)
HARDEN += -fcf-protection=full
else ifeq ($(shell uname -m),aarch64)
HARDEN += -mbranch-protection=standard
endif
SAN      := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CFLAGS   ?= -O2 -g
override CFLAGS += -std=gnu11 $(WARN) $(if $(SANITIZE),-fPIE,$(HARDEN)) $(SAN)
CPPFLAGS += -D_GNU_SOURCE -Ilauncher -Iaudit -I$(BUILD) \
	-DSBOX_VERSION='"$(VERSION)"' -DSBOX_LIBEXECDIR='"$(libexecdir)"' \
	-DSBOX_DATADIR='"$(datadir)"' -DSBOX_SYSCONFDIR='"$(sysconfdir)/sbox"'
# The launcher is static: it starts faster, and no LD_* variable of the caller reaches it.
LAUNCHER_LINK := $(if $(SANITIZE),-pie,-static-pie) -Wl,-z,relro,-z,now,-z,noexecstack $(SAN)
PROGRAM_LINK  := -pie -Wl,-z,relro,-z,now,-z,noexecstack $(SAN)
LAUNCHER_LIBS := -linih -lseccomp -lcap-ng -lnettle -lz
AUDIT_LIBS    := -ljansson -lnettle -lz

launcher_src := $(filter-out launcher/main.c launcher/gen_%.c,$(wildcard launcher/*.c))
audit_src    := $(filter-out audit/sbox-audit.c $(wildcard audit/cmd_*.c),$(wildcard audit/*.c))
tool_src     := $(wildcard audit/sbox-audit.c audit/cmd_*.c)
unit_src     := $(wildcard tests/unit/test_*.c)
probe_src    := $(wildcard tests/probe/*.c)

unit_tests   := $(patsubst %.c,$(BUILD)/%,$(unit_src))
probes       := $(patsubst %.c,$(BUILD)/%,$(probe_src))

obj = $(patsubst %.c,$(BUILD)/%.o,$(1))
# make V=1 shows whole commands.
say = $(if $(V),,@echo '  $(1) $(patsubst $(CURDIR)/%,%,$@)' &&)
# What each output was made from, headers included, for the next make.
DEPFILE = -MMD -MP -MT $@ -MF $@.d
# Every suite ends with a line "N passed, N failed, N skipped"; summary adds them up.
# Check gives a test four seconds, which a busy machine or a sanitizer can use up.
SUMMARY := BUILD=$(BUILD) CK_TIMEOUT_MULTIPLIER=$(if $(SANITIZE),20,5) tests/tools/summary

.PHONY: all tree probes unit-tests deps-demo deps-test deps-lint demo check check-all check-unit check-san \
	check-layers check-docs check-hardening lint format bench install uninstall clean FORCE
all: $(BUILD)/sbox $(BUILD)/sbox-audit
probes: $(probes)
unit-tests: $(unit_tests)

# Other flags, other objects: PREFIX and SANITIZE are compiled in.
$(BUILD)/flags: FORCE
	$(shell mkdir -p $(@D))$(file >$@.new,$(CC) $(CPPFLAGS) $(CFLAGS))
	@cmp -s $@.new $@ && rm -f $@.new || mv -f $@.new $@
FORCE:

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,compile)$(CC) $(CPPFLAGS) $(CFLAGS) $(DEPFILE) -c -o $@ $<

# The table of system calls is made once, here, instead of at every start.
generated := $(BUILD)/syscall_table.o
gen_src   := launcher/gen_syscalls.c launcher/syscalls.c launcher/syscall_sets.c \
	launcher/nearest.c launcher/error.c launcher/arena.c
$(BUILD)/gen_syscalls: $(call obj,$(gen_src))
	$(call say,link   )$(CC) $(PROGRAM_LINK) -o $@ $^ -lseccomp
$(BUILD)/syscall_table.c: $(BUILD)/gen_syscalls
	$(call say,make   )$< > $@.new && mv $@.new $@
$(BUILD)/syscall_table.o: $(BUILD)/syscall_table.c
	$(call say,compile)$(CC) $(CPPFLAGS) $(CFLAGS) $(DEPFILE) -c -o $@ $<

$(BUILD)/libsbox.a: $(call obj,$(launcher_src) $(audit_src)) $(generated)
	@rm -f $@
	$(call say,archive)$(AR) rcs $@ $^

$(BUILD)/sbox: $(call obj,launcher/main.c) $(BUILD)/libsbox.a
	$(call say,link   )$(CC) $(LAUNCHER_LINK) -o $@ $^ $(LAUNCHER_LIBS)

# The page of `sbox audit report` is in the program (.incbin).
$(BUILD)/audit/cmd_report_assets.o: $(wildcard audit/report/*)

$(BUILD)/sbox-audit: $(call obj,$(tool_src)) $(BUILD)/libsbox.a
	$(call say,link   )$(CC) $(PROGRAM_LINK) -o $@ $^ $(AUDIT_LIBS)

$(BUILD)/tests/unit/test_%: tests/unit/test_%.c $(BUILD)/libsbox.a
	@mkdir -p $(@D)
	$(call say,test   )$(CC) $(CPPFLAGS) $(CFLAGS) $(DEPFILE) -pie $(SAN) -o $@ $< $(BUILD)/libsbox.a \
		$(LAUNCHER_LIBS) -ljansson -lcheck -lsubunit -lm -lrt -lpthread

# Probes run inside sandboxes: static, so that one file is enough, and never
# with a sanitizer, whose own system calls would be judged as the probe's.
$(BUILD)/tests/probe/%: tests/probe/%.c
	@mkdir -p $(@D)
	$(call say,probe  )$(CC) -std=gnu11 $(WARN) -O1 -g $(DEPFILE) -static -o $@ $< -lpthread

# Packages come first and in a make of their own: this one was read before they were there.
deps-demo:
	@packaging/deps build demo
deps-test:
	@packaging/deps build test
deps-lint:
	@packaging/deps build lint

# A copy laid out as installed, so that profiles and the heavy tools are found from a checkout.
tree: all
	@$(MAKE) --no-print-directory -s -o all install PREFIX= DESTDIR=$(abspath $(BUILD))/tree >/dev/null

demo: deps-demo
	@$(MAKE) --no-print-directory tree
	@BUILD=$(BUILD) tests/demo/run

check: deps-test
	@$(MAKE) --no-print-directory check-all

check-all: tree unit-tests probes
	@$(SUMMARY) $(unit_tests) tests/tools/check-layers tests/tools/check-hardening \
		tests/tools/check-docs tests/run

check-unit: $(unit_tests)
	@$(SUMMARY) $^

# The launcher of this build is dynamic, as sanitizers need. Leaks are not looked for: what a run
# allocates lives until it ends, and so does what a test allocates.
check-san:
	@ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 $(MAKE) --no-print-directory BUILD=build-san SANITIZE=address,undefined check-unit

check-layers: $(BUILD)/libsbox.a
	@BUILD=$(BUILD) tests/tools/check-layers

check-docs: tree
	@BUILD=$(BUILD) tests/tools/check-docs

check-hardening: all
	@BUILD=$(BUILD) tests/tools/check-hardening

# Through the environment: the flags hold quotes of both kinds.
lint: export CPPFLAGS := $(CPPFLAGS)
lint: deps-lint
	@BUILD=$(BUILD) tests/tools/lint

format:
	clang-format-14 -i $(wildcard launcher/*.[ch] audit/*.[ch] tests/*/*.[ch])

bench: deps-test
	@$(MAKE) --no-print-directory tree
	@BUILD=$(BUILD) tests/bench/start

install: all
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(libexecdir) $(DESTDIR)$(datadir)/profiles \
		$(DESTDIR)$(mandir)/man1 $(DESTDIR)$(mandir)/man5
	install -m 0755 $(BUILD)/sbox $(DESTDIR)$(bindir)/sbox
	install -m 0755 $(BUILD)/sbox-audit $(DESTDIR)$(libexecdir)/sbox-audit
	install -m 0644 profiles/*.ini $(DESTDIR)$(datadir)/profiles/
	install -m 0644 man/*.1 $(DESTDIR)$(mandir)/man1/
	install -m 0644 man/*.5 $(DESTDIR)$(mandir)/man5/

# Profiles of the administrator's own in the same folder stay.
uninstall:
	rm -f $(DESTDIR)$(bindir)/sbox $(DESTDIR)$(libexecdir)/sbox-audit
	rm -f $(addprefix $(DESTDIR)$(datadir)/,$(wildcard profiles/*.ini))
	rm -f $(addprefix $(DESTDIR)$(mandir)/man1/,$(notdir $(wildcard man/*.1)))
	rm -f $(addprefix $(DESTDIR)$(mandir)/man5/,$(notdir $(wildcard man/*.5)))
	-rmdir $(DESTDIR)$(libexecdir) $(DESTDIR)$(datadir)/profiles $(DESTDIR)$(datadir)

clean:
	rm -rf $(BUILD) build-san

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
