# SPDX-License-Identifier: Apache-2.0
#
# make            build into build/
# make demo       install what is missing, build, run a script under agent.ini, show its record
# make check      install what is missing, build, run all tests
# make attack     every attempt of tests/attack/rows.txt, and a matrix of what became of each
# make soak       RUNS=10000 JOBS=4: so many runs with all kinds of ends
# make check-mutants  leave out one mechanism after the other, and see the tests notice
# make check-programs  install many languages and tools, run them with and without sbox
#                 (half an hour); FULL=1: with the whole of CPython's regression suite
# make check-san  the unit tests with the address and undefined-behaviour sanitizers, in build-san/
# make check-vm   Debian's kernels 6.1 and 6.12 under emulation, and what is tested there (half an hour);
#                 KERNEL=6.1 or KERNEL=6.12: that one; SHORT=1: without the other suites' tests
# make fuzz       SECONDS=60: each fuzz target for so long, two at a time, in build-fuzz/ (clang 14);
#                 SEED=1: the same inputs each time
# make check-planted  LIMIT=600 WORDS="": plant one bug after the other, and see its fuzz target find it
# make fuzz-coverage  which lines of the parsers seeds and findings reach, in build-cover/
# make lint       format, static analysis, shell scripts, sizes
# make check-cross  build for aarch64 in build-aarch64/, unit tests under qemu-user
# make bench      start-up times beside bubblewrap's, cost of the record (see tests/bench/README.md)
# make install    PREFIX=/usr/local DESTDIR=; nothing is setuid, nothing runs as a service

PREFIX     ?= /usr/local
DESTDIR    ?=
bindir     := $(PREFIX)/bin
libexecdir := $(PREFIX)/libexec/sbox
datadir    := $(PREFIX)/share/sbox
mandir     := $(PREFIX)/share/man
bashdir    := $(PREFIX)/share/bash-completion/completions
zshdir     := $(PREFIX)/share/zsh/site-functions
fishdir    := $(PREFIX)/share/fish/vendor_completions.d
sysconfdir ?= /etc

VERSION := 0.1.0
BUILD   ?= build
# CROSS=aarch64-linux-gnu- SYSROOT=DIR builds for another machine; HOSTCC makes what runs here.
CROSS   ?=
SYSROOT ?=
HOSTCC  ?= cc
ifneq ($(CROSS),)
CC      := $(CROSS)gcc $(if $(SYSROOT),--sysroot=$(abspath $(SYSROOT)))
AR      := $(CROSS)ar
else
CC      ?= cc
endif
# aarch64 or x86_64: what the compiler makes programs for.
TARGET  := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wswitch-enum \
	-Wformat=2 -Wwrite-strings -Wundef -Wpointer-arith
# Warnings stop the build unless it is for a release: make RELEASE=1.
ifndef RELEASE
WARN += -Werror
endif
HARDEN := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection \
	-ftrivial-auto-var-init=zero -fno-strict-overflow -fPIE
ifeq ($(TARGET),x86_64)
HARDEN += -fcf-protection=full
else ifeq ($(TARGET),aarch64)
HARDEN += -mbranch-protection=standard
endif
SAN      := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CFLAGS   ?= -O2 -g
override CFLAGS += -std=gnu11 $(WARN) $(if $(SANITIZE),-fPIE,$(HARDEN)) $(SAN)
CPPFLAGS += -D_GNU_SOURCE -Ilauncher -Iaudit -Ilauncher/doctor -Ilauncher/explain -Ilauncher/gate \
	-Ilauncher/learn -I$(BUILD) \
	-DSBOX_VERSION='"$(VERSION)"' -DSBOX_LIBEXECDIR='"$(libexecdir)"' \
	-DSBOX_DATADIR='"$(datadir)"' -DSBOX_SYSCONFDIR='"$(sysconfdir)/sbox"'
# The launcher is static: it starts faster, and no LD_* variable of the caller reaches it.
LAUNCHER_LINK := $(if $(SANITIZE),-pie,-static-pie) -Wl,-z,relro,-z,now,-z,noexecstack $(SAN)
PROGRAM_LINK  := -pie -Wl,-z,relro,-z,now,-z,noexecstack $(SAN)
LAUNCHER_LIBS := -linih -lseccomp -lcap-ng -lnettle -lz
# c-ares asks the host's name servers, glibc's libresolv reads and writes messages, libidn2 is for
# names that are not ASCII.
GATE_LIBS     := -lcares -lresolv -lidn2 -lunistring -lseccomp
AUDIT_LIBS    := -ljansson -lnettle -lz

launcher_src := $(filter-out launcher/main.c launcher/gen_%.c launcher/sbox-%.c,$(wildcard launcher/*.c))
audit_src    := $(filter-out audit/sbox-audit.c $(wildcard audit/cmd_*.c),$(wildcard audit/*.c))
doctor_src   := $(filter-out launcher/doctor/sbox-doctor.c,$(wildcard launcher/doctor/*.c))
# The rules are the launcher's too; the rest of the gate needs libraries that it has not.
rules_src    := $(wildcard launcher/gate/rules*.c)
gate_main    := launcher/gate/sbox-gate.c launcher/gate/no_services.c
gate_src     := $(filter-out $(gate_main),$(wildcard launcher/gate/*.c))
learn_main   := launcher/learn/sbox-learn.c
learn_src    := $(filter-out $(learn_main),$(wildcard launcher/learn/*.c))
tool_src     := $(wildcard audit/sbox-audit.c audit/cmd_*.c)
unit_src     := $(wildcard tests/unit/test_*.c)
probe_src    := $(wildcard tests/probe/*.c)
# The tests of real programs; humaneval needs data that lies elsewhere.
program_tests := $(patsubst tests/%,%,$(filter-out %/humaneval.py,$(wildcard tests/programs/*.py)))

unit_tests   := $(patsubst %.c,$(BUILD)/%,$(unit_src))
probes       := $(patsubst %.c,$(BUILD)/%,$(probe_src)) $(BUILD)/tests/audit/writers $(BUILD)/tests/mutant/taken-over

obj = $(patsubst %.c,$(BUILD)/%.o,$(1))
# make V=1 shows whole commands.
say = $(if $(V),,@echo '  $(1) $(patsubst $(CURDIR)/%,%,$@)' &&)
# What each output was made from, headers included, for the next make.
DEPFILE = -MMD -MP -MT $@ -MF $@.d
# Every suite ends with a line "N passed, N failed, N skipped"; summary adds them up.
# Check gives a test four seconds, which a busy machine or a sanitizer can use up.
SUMMARY := BUILD=$(BUILD) CK_TIMEOUT_MULTIPLIER=$(if $(SANITIZE),20,5) tests/tools/summary

.PHONY: all tree probes unit-tests deps-demo deps-test deps-lint deps-programs deps-vm demo check \
	check-all check-programs check-vm attack soak check-mutants check-unit check-san check-layers check-docs \
	check-hardening check-cross check-planted fuzz fuzz-targets-sanitized fuzz-coverage lint format bench install uninstall clean FORCE
programs     := sbox-audit sbox-cgroup sbox-doctor sbox-explain sbox-gate sbox-learn sbox-registries
all: $(BUILD)/sbox $(addprefix $(BUILD)/,$(programs))
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

# The table of system calls is made once, here, instead of at every start: by a program that runs
# on this machine and writes the numbers of the machine that is built for.
generated := $(BUILD)/syscall_table.o
gen_src   := launcher/gen_syscalls.c launcher/syscalls.c launcher/syscall_sets.c \
	launcher/nearest.c launcher/error.c launcher/arena.c launcher/arena_text.c
gen_arch_x86_64  := AUDIT_ARCH_X86_64
gen_arch_aarch64 := AUDIT_ARCH_AARCH64
$(BUILD)/gen_syscalls: $(gen_src) $(wildcard launcher/*.h launcher/*.def) $(BUILD)/flags
	$(call say,host   )$(HOSTCC) $(CPPFLAGS) -std=gnu11 $(WARN) -O1 \
		$(addprefix -DSBOX_AUDIT_ARCH=,$(gen_arch_$(TARGET))) -o $@ $(gen_src) -lseccomp
$(BUILD)/syscall_table.c: $(BUILD)/gen_syscalls
	$(call say,make   )$< > $@.new && mv $@.new $@
$(BUILD)/syscall_table.o: $(BUILD)/syscall_table.c
	$(call say,compile)$(CC) $(CPPFLAGS) $(CFLAGS) $(DEPFILE) -c -o $@ $<

$(BUILD)/libsbox.a: $(call obj,$(launcher_src) $(audit_src) $(doctor_src) $(rules_src)) $(generated)
	@rm -f $@
	$(call say,archive)$(AR) rcs $@ $^

# With what the gate shares with the launcher: the rules, and leaves.
$(BUILD)/libgate.a: $(call obj,$(gate_src) launcher/utf8.c)
	@rm -f $@
	$(call say,archive)$(AR) rcs $@ $^

$(BUILD)/sbox: $(call obj,launcher/main.c) $(BUILD)/libsbox.a
	$(call say,link   )$(CC) $(LAUNCHER_LINK) -o $@ $^ $(LAUNCHER_LIBS)

# The page of `sbox audit report` is in the program (.incbin).
$(BUILD)/audit/cmd_report_assets.o: $(wildcard audit/report/*)

$(BUILD)/sbox-audit: $(call obj,$(tool_src)) $(BUILD)/libsbox.a
	$(call say,link   )$(CC) $(PROGRAM_LINK) -o $@ $^ $(AUDIT_LIBS)

# It reads the record with sbox-audit's index.
$(BUILD)/sbox-explain: $(call obj,$(wildcard launcher/explain/*.c) $(filter-out audit/sbox-audit.c,$(tool_src))) \
		$(BUILD)/libsbox.a
	$(call say,link   )$(CC) $(PROGRAM_LINK) -o $@ $^ $(AUDIT_LIBS) $(LAUNCHER_LIBS)

$(BUILD)/sbox-learn: $(call obj,$(learn_main) $(learn_src)) $(BUILD)/libsbox.a
	$(call say,link   )$(CC) $(PROGRAM_LINK) -o $@ $^ $(AUDIT_LIBS) $(LAUNCHER_LIBS)

$(BUILD)/tests/unit/test_%: tests/unit/test_%.c $(BUILD)/libsbox.a
	@mkdir -p $(@D)
	$(call say,test   )$(CC) $(CPPFLAGS) $(CFLAGS) $(DEPFILE) -pie $(SAN) -o $@ $< $(unit_archives) $(BUILD)/libsbox.a \
		$(LAUNCHER_LIBS) $(unit_libs) -ljansson -lcheck -lsubunit -lm -lrt -lpthread

# The only program that needs libsystemd, whose size and initialisers a start has no time for.
$(BUILD)/sbox-cgroup: $(call obj,launcher/sbox-cgroup.c)
	$(call say,link   )$(CC) $(PROGRAM_LINK) -o $@ $^ -lsystemd

# Static, like the launcher: it starts faster, and has no need of files.
$(BUILD)/sbox-gate: $(call obj,$(gate_main)) $(BUILD)/libgate.a
	$(call say,link   )$(CC) $(LAUNCHER_LINK) -o $@ $^ $(GATE_LIBS)

# Static, like the launcher: for its trial it runs inside, where nothing else needs to be.
$(BUILD)/sbox-doctor: $(call obj,launcher/doctor/sbox-doctor.c) $(BUILD)/libsbox.a
	$(call say,link   )$(CC) $(LAUNCHER_LINK) -o $@ $^ $(LAUNCHER_LIBS) -ljansson

# What explain makes of a record and of a profile's text; it prints with sbox-audit's own.
explain_parts := $(call obj,$(filter-out %/sbox-explain.c %/explain_print.c,$(wildcard launcher/explain/*.c)))
$(BUILD)/tests/unit/test_explain: private unit_archives := $(explain_parts)
$(BUILD)/tests/unit/test_explain: $(explain_parts)

# Names of functions are the gate's own there, as in the program.
gate_tests := $(filter $(BUILD)/tests/unit/test_gate_%,$(unit_tests))
$(gate_tests): private unit_archives := $(BUILD)/libgate.a
$(gate_tests): private unit_libs := $(GATE_LIBS)
$(gate_tests): $(BUILD)/libgate.a

# The folding is pure, so it is tested by itself.
$(BUILD)/libfold.a: $(call obj,$(wildcard launcher/learn/fold*.c) launcher/learn/learn_read.c \
		launcher/learn/learn_secret.c launcher/learn/learn_limits.c)
	@rm -f $@
	$(call say,archive)$(AR) rcs $@ $^
learn_tests := $(filter $(BUILD)/tests/unit/test_learn%,$(unit_tests))
$(learn_tests): private unit_archives := $(BUILD)/libfold.a
$(learn_tests): $(BUILD)/libfold.a

$(BUILD)/sbox-registries: launcher/sbox-registries.sh
	$(call say,copy   )install -m 0755 $< $@

# It plays the manager that sbox-cgroup talks to.
$(BUILD)/tests/unit/test_cgroup_ask: private unit_libs := -lsystemd
$(BUILD)/tests/unit/test_cgroup_ask: | $(BUILD)/sbox-cgroup

# It asks of the store what the launcher does, as many processes at once.
$(BUILD)/tests/audit/writers: tests/audit/writers.c $(BUILD)/libsbox.a
	@mkdir -p $(@D)
	$(call say,test   )$(CC) $(CPPFLAGS) $(CFLAGS) $(DEPFILE) -pie $(SAN) -o $@ $< $(BUILD)/libsbox.a -lnettle -lz

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
deps-vm:
	@packaging/deps build test vm
deps-programs:
	@packaging/deps build test programs

# A copy laid out as installed, so that profiles and the heavy tools are found from a checkout.
tree: all
	@$(MAKE) --no-print-directory -s -o all install PREFIX= DESTDIR=$(abspath $(BUILD))/tree >/dev/null

demo: deps-demo
	@$(MAKE) --no-print-directory tree
	@BUILD=$(BUILD) tests/demo/run

check: deps-test
	@$(MAKE) --no-print-directory check-all

check-all: tree unit-tests probes fuzz-targets
	@$(SUMMARY) $(unit_tests) $(fuzz_targets) tests/tools/check-layers tests/tools/check-hardening \
		tests/tools/check-docs "tests/tools/check-planted --list-only" tests/run

# Mixed runs and ends, a tenth of them killed: nothing adds up.
soak: tree probes
	@SOAK_RUNS=$(or $(RUNS),10000) SOAK_JOBS=$(or $(JOBS),4) tests/run runs_of_every_kind

# Without the long forms of the suites' own: FULL=1 for those.
attack: tree probes
	@tests/run --matrix

# The launcher's objects with one more, which leaves out what a test names: never installed.
mutant_wraps := $(shell sed -n 's/.*__wrap_\([a-z_]*\)(.*);$$/\1/p; s/^STEP_WRAPPER(\(.*\))$$/child_\1/p' \
	tests/mutant/leave_out.c)
taken_wraps := $(shell sed -n 's/.*__wrap_\([a-z_]*\)(.*);$$/\1/p' tests/mutant/taken_over.c)
$(BUILD)/tests/mutant/sbox: $(call obj,launcher/main.c tests/mutant/leave_out.c) $(BUILD)/libsbox.a
	$(call say,link   )$(CC) $(LAUNCHER_LINK) $(mutant_wraps:%=-Wl,--wrap=%) -o $@ $^ $(LAUNCHER_LIBS)

# That one as somebody who has taken its supervisor over would have it (tests/boundary/supervisor.py).
$(BUILD)/tests/mutant/taken-over: $(call obj,launcher/main.c tests/mutant/leave_out.c tests/mutant/taken_over.c) $(BUILD)/libsbox.a
	$(call say,link   )$(CC) $(LAUNCHER_LINK) $(mutant_wraps:%=-Wl,--wrap=%) $(taken_wraps:%=-Wl,--wrap=%) -o $@ $^ $(LAUNCHER_LIBS)

check-mutants: tree probes $(BUILD)/tests/mutant/sbox
	@BUILD=$(BUILD) tests/tools/check-mutants

# A program that is not there is a failure here: the list above says what is to be.
check-programs: deps-programs
	@$(MAKE) --no-print-directory tree probes
	@PROGRAMS=1 STRICT=1 tests/run $(program_tests)

# Each in a machine of its own, from this one's files; nothing of them is installed here.
KERNEL ?= 6.1 6.12
check-vm: deps-vm
	@$(MAKE) --no-print-directory tree unit-tests probes
	@SHORT=$(SHORT) RUNNER=tests/vm/boot tests/tools/summary $(KERNEL)

check-unit: $(unit_tests)
	@$(SUMMARY) $^

# The launcher of this build is dynamic, as sanitizers need. Leaks are not looked for: what a run
# allocates lives until it ends, and so does what a test allocates.
check-san:
	@ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 $(MAKE) --no-print-directory BUILD=build-san SANITIZE=address,undefined check-unit

# Of one version, as clang-format is. Leaks are not looked for: what an arena or a table holds stays.
fuzz_make := $(MAKE) --no-print-directory CC=clang-14
fuzz-targets-sanitized:
	@packaging/deps build test fuzz
	@$(fuzz_make) BUILD=build-fuzz SANITIZE=fuzzer-no-link,address,undefined FUZZER=-fsanitize=fuzzer fuzz-targets

fuzz: fuzz-targets-sanitized
	@tests/tools/fuzz run build-fuzz $(or $(SECONDS),60) $(TARGETS)

# Some are found at once, some in minutes: an hour or more in all.
check-planted: fuzz-targets-sanitized
	@tests/tools/check-planted $(WORDS)

fuzz-coverage:
	@packaging/deps build test fuzz
	@$(fuzz_make) BUILD=build-cover HARDEN= \
		CFLAGS='-O1 -g -fprofile-instr-generate -fcoverage-mapping' fuzz-targets
	@tests/tools/fuzz coverage build-cover build-fuzz

# The other architecture, whole, with the unit tests that a user-mode emulator can run: not those
# that need the kernel's own seccomp, namespaces, pidfds and openat2, which it does not pass on, and
# not test_filter_program, which takes it minutes, nor test_filter_sweep, whose text is of x86-64.
cross_arch := aarch64
cross_make := $(MAKE) --no-print-directory BUILD=build-$(cross_arch) CROSS=$(cross_arch)-linux-gnu- \
	SYSROOT=build-sysroot/arm64
cross_skip := $(addprefix test_,cgroup_ask cgroup_live child child_early child_init child_messages child_visit environment \
	filter_live filter_program filter_sweep notify notify_exec relay)
cross_tests := $(patsubst tests/unit/%.c,build-$(cross_arch)/tests/unit/%,$(filter-out \
	$(cross_skip:%=tests/unit/%.c),$(unit_src)))
check-cross:
	@packaging/deps cross
	@packaging/sysroot arm64 build-sysroot/arm64
	@$(cross_make) all unit-tests probes
	@BUILD=build-$(cross_arch) CK_TIMEOUT_MULTIPLIER=20 \
		RUNNER="qemu-$(cross_arch)-static -L build-sysroot/arm64" tests/tools/summary $(cross_tests)

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
	clang-format-14 -i $(wildcard launcher/*.[ch] audit/*.[ch] launcher/*/*.[ch] tests/*/*.[ch])

# All in their short form; STRICT=1 fails when something asked does not hold, ONLY="WORD..." chooses.
bench: deps-test
	@$(MAKE) --no-print-directory tree
	@BUILD=$(BUILD) STRICT=$(STRICT) tests/bench/all $(ONLY)

include tests/fuzz/fuzz.mk

# AppArmor's profile goes where a parser knows the userns rule; an older one, that of Debian 12 say,
# has nothing to lift and would refuse the file. It is loaded when it is installed for real.
apparmordir     := $(sysconfdir)/apparmor.d
knows_userns    := $(firstword $(wildcard $(DESTDIR)$(apparmordir)/abi/4.0 $(apparmordir)/abi/4.0))
loads_apparmor  := $(if $(DESTDIR),,$(if $(knows_userns),$(wildcard /sys/kernel/security/apparmor/profiles)))

install: all
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(libexecdir) $(DESTDIR)$(datadir)/profiles \
		$(DESTDIR)$(mandir)/man1 $(DESTDIR)$(mandir)/man5 $(DESTDIR)$(mandir)/man8 \
		$(DESTDIR)$(bashdir) $(DESTDIR)$(zshdir) $(DESTDIR)$(fishdir)
	install -m 0755 $(BUILD)/sbox $(DESTDIR)$(bindir)/sbox
	install -m 0755 $(addprefix $(BUILD)/,$(programs)) $(DESTDIR)$(libexecdir)/
	install -m 0644 profiles/*.ini $(DESTDIR)$(datadir)/profiles/
	install -m 0644 man/*.1 $(DESTDIR)$(mandir)/man1/
	install -m 0644 man/*.5 $(DESTDIR)$(mandir)/man5/
	install -m 0644 man/*.8 $(DESTDIR)$(mandir)/man8/
	install -m 0644 packaging/completion/sbox.bash $(DESTDIR)$(bashdir)/sbox
	install -m 0644 packaging/completion/_sbox $(DESTDIR)$(zshdir)/_sbox
	install -m 0644 packaging/completion/sbox.fish $(DESTDIR)$(fishdir)/sbox.fish

	$(if $(knows_userns),install -d $(DESTDIR)$(apparmordir))
	$(if $(knows_userns),sed 's|@bindir@|$(bindir)|' packaging/apparmor/sbox >$(DESTDIR)$(apparmordir)/sbox)
	$(if $(knows_userns),chmod 0644 $(DESTDIR)$(apparmordir)/sbox)
	$(if $(loads_apparmor),apparmor_parser -r $(apparmordir)/sbox)

# Profiles of the administrator's own in the same folder stay.
uninstall:
	$(if $(loads_apparmor),-[ ! -e $(apparmordir)/sbox ] || apparmor_parser -R $(apparmordir)/sbox)
	rm -f $(DESTDIR)$(apparmordir)/sbox
	rm -f $(DESTDIR)$(bindir)/sbox $(addprefix $(DESTDIR)$(libexecdir)/,$(programs))
	rm -f $(addprefix $(DESTDIR)$(datadir)/,$(wildcard profiles/*.ini))
	rm -f $(addprefix $(DESTDIR)$(mandir)/man1/,$(notdir $(wildcard man/*.1)))
	rm -f $(addprefix $(DESTDIR)$(mandir)/man5/,$(notdir $(wildcard man/*.5)))
	rm -f $(addprefix $(DESTDIR)$(mandir)/man8/,$(notdir $(wildcard man/*.8)))
	rm -f $(DESTDIR)$(bashdir)/sbox $(DESTDIR)$(zshdir)/_sbox $(DESTDIR)$(fishdir)/sbox.fish
	-rmdir $(DESTDIR)$(libexecdir) $(DESTDIR)$(datadir)/profiles $(DESTDIR)$(datadir)

clean:
	rm -rf $(BUILD) build-san build-fuzz build-cover build-aarch64 build-sysroot build-vm

-include $(shell find $(BUILD) -name '*.d' -type f 2>/dev/null)
