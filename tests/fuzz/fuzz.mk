# SPDX-License-Identifier: Apache-2.0
#
# The fuzz targets, linked with libFuzzer (FUZZER=-fsanitize=fuzzer) or with a main that feeds them
# their seeds and past findings. Some read statics: those include the source file.

fuzz_src     := $(wildcard tests/fuzz/fuzz_*.c)
fuzz_targets := $(patsubst %.c,$(BUILD)/%,$(fuzz_src))
fuzz_seeds   := $(BUILD)/tests/fuzz/seeds/made
FUZZER       ?=
fuzz_main    := $(if $(FUZZER),,tests/fuzz/replay.c)
fuzz_arena   := $(BUILD)/tests/fuzz/arena_checked.o
fuzz_gates   := $(filter $(BUILD)/tests/fuzz/fuzz_gate_%,$(fuzz_targets))

# What sbox-audit and sbox-explain are made of, beside their mains.
$(BUILD)/libreader.a: $(call obj,$(filter-out audit/sbox-audit.c,$(tool_src)) \
		$(filter-out launcher/explain/sbox-explain.c,$(wildcard launcher/explain/*.c)))
	@rm -f $@
	$(call say,archive)$(AR) rcs $@ $^

$(fuzz_targets): $(BUILD)/tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c tests/fuzz/fuzz.h \
		$(fuzz_arena) $(BUILD)/libreader.a $(BUILD)/libsbox.a
	@mkdir -p $(@D)
	$(call say,fuzz   )$(CC) $(CPPFLAGS) -Itests/fuzz $(CFLAGS) $(DEPFILE) -pie $(SAN) $(FUZZER) -o $@ \
		$< $(fuzz_main) $(fuzz_arena) $(fuzz_archives) $(BUILD)/libreader.a $(BUILD)/libsbox.a \
		$(LAUNCHER_LIBS) $(fuzz_libs) -ljansson -lm

$(fuzz_gates): private fuzz_archives := $(BUILD)/libgate.a
$(fuzz_gates): private fuzz_libs := $(GATE_LIBS)
$(fuzz_gates): $(BUILD)/libgate.a

$(fuzz_seeds): tests/fuzz/seeds $(wildcard tests/fuzz/seeds_*.py)
	@mkdir -p $(@D)
	$(call say,seeds  )tests/fuzz/seeds $(@D) && touch $@

.PHONY: fuzz-targets
fuzz-targets: $(fuzz_targets) $(fuzz_seeds)
