// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_FILTER_CODE_H
#define SBOX_FILTER_CODE_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

#include "filter_args.h"

/*
 * An assembler that writes a BPF program from its last instruction to its
 * first: a jump only ever goes forward, so its target is there already and its
 * distance is known. A label is the index of an instruction in `code`.
 */
enum { CODE_MAX = 1024, CODE_RETURNS = 40 };

struct code {
	struct sock_filter code[CODE_MAX];
	uint32_t at; /* index of the first instruction so far; CODE_MAX: none */
	struct {
		uint32_t value, label;
	} returns[CODE_RETURNS];
	uint32_t return_count;
};

/* A span of a tree: from `first` up to the next span's first. */
struct code_span {
	uint32_t first, label;
};

void code_init(struct code *code);
/* "ld [offset]" of struct seccomp_data, "and mask" unless it is all ones. */
void code_load(struct code *code, uint32_t offset, uint32_t mask);
/* Where the program returns this value: one place for all who ask. */
uint32_t code_return(struct code *code, uint32_t value);
/* A conditional jump (BPF_JEQ, BPF_JGE, BPF_JSET); its label. */
uint32_t code_branch(struct code *code, uint16_t test, uint32_t k, uint32_t yes, uint32_t no);
/* The next instruction written is followed by `label`. */
void code_follow(struct code *code, uint32_t label);
/* A balanced tree over spans; the first one starts at 0. The value is loaded already. */
uint32_t code_tree(struct code *code, const struct code_span *spans, size_t count);
/* Goes to `yes` when the condition holds, to `no` otherwise. Loads what it looks at. */
uint32_t code_condition(struct code *code, const struct arg_condition *condition, uint32_t yes,
			uint32_t no);

#endif
