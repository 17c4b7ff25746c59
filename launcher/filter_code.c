// SPDX-License-Identifier: Apache-2.0
#include "filter_code.h"

#include <endian.h>
#include <linux/seccomp.h>
#include <stdlib.h>

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "arguments are read low word first");

/* A conditional jump reaches 255; a helping jump put in between takes one more. */
enum { REACH = 253, SPANS_MAX = 64 };

void code_init(struct code *code)
{
	code->at = CODE_MAX;
	code->return_count = 0;
}

/* A table too large for the buffer is a mistake in our own tables: never in a profile. */
static uint32_t put(struct code *code, uint16_t op, uint8_t yes, uint8_t no, uint32_t k)
{
	if (code->at == 0)
		abort();
	code->code[--code->at] = (struct sock_filter)BPF_JUMP(op, k, yes, no);
	return code->at;
}

void code_load(struct code *code, uint32_t offset, uint32_t mask)
{
	if (mask != UINT32_MAX)
		put(code, BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
	put(code, BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

uint32_t code_return(struct code *code, uint32_t value)
{
	for (uint32_t i = 0; i < code->return_count; i++)
		if (code->returns[i].value == value)
			return code->returns[i].label;
	if (code->return_count == CODE_RETURNS)
		abort();
	uint32_t label = put(code, BPF_RET | BPF_K, 0, 0, value);
	code->returns[code->return_count].value = value;
	code->returns[code->return_count++].label = label;
	return label;
}

/* The label itself, or a near stand-in for it: a copy of a return, or a jump without limit. */
static uint32_t near(struct code *code, uint32_t label)
{
	if (label - code->at <= REACH)
		return label;
	const struct sock_filter *target = &code->code[label];
	if (BPF_CLASS(target->code) == BPF_RET)
		return put(code, target->code, 0, 0, target->k);
	return put(code, BPF_JMP | BPF_JA, 0, 0, label - code->at);
}

uint32_t code_branch(struct code *code, uint16_t test, uint32_t k, uint32_t yes, uint32_t no)
{
	yes = near(code, yes);
	no = near(code, no);
	return put(code, BPF_JMP | test | BPF_K, (uint8_t)(yes - code->at),
		   (uint8_t)(no - code->at), k);
}

void code_follow(struct code *code, uint32_t label)
{
	if (label != code->at)
		put(code, BPF_JMP | BPF_JA, 0, 0, label - code->at);
}

uint32_t code_tree(struct code *code, const struct code_span *spans, size_t count)
{
	if (count == 1)
		return spans[0].label;
	size_t middle = count / 2;
	uint32_t right = code_tree(code, spans + middle, count - middle);
	uint32_t left = code_tree(code, spans, middle);
	return code_branch(code, BPF_JGE, spans[middle].first, right, left);
}

static uint32_t low_word(uint8_t arg)
{
	return (uint32_t)offsetof(struct seccomp_data, args) + 8U * arg;
}

static uint32_t any_bit(struct code *code, const struct arg_condition *condition, uint32_t yes,
			uint32_t no)
{
	uint32_t low = (uint32_t)condition->mask, high = (uint32_t)(condition->mask >> 32);

	code_branch(code, BPF_JSET, low, yes, no);
	code_load(code, low_word(condition->arg), UINT32_MAX);
	if (high == 0)
		return code->at;
	code_branch(code, BPF_JSET, high, yes, code->at);
	code_load(code, low_word(condition->arg) + 4, UINT32_MAX);
	return code->at;
}

/* Few single values: one comparison each. */
static uint32_t one_of(struct code *code, const struct arg_condition *condition, uint32_t yes,
		       uint32_t no)
{
	for (size_t i = condition->count; i-- > 0;)
		no = code_branch(code, BPF_JEQ, condition->ranges[i].first, yes, no);
	return no;
}

static uint32_t in_ranges(struct code *code, const struct arg_condition *condition, uint32_t yes,
			  uint32_t no)
{
	struct code_span spans[SPANS_MAX] = {{.first = 0, .label = no}};
	size_t count = 1;

	if (2 * condition->count + 1 > SPANS_MAX)
		abort();
	for (size_t i = 0; i < condition->count; i++) {
		const struct arg_range *range = &condition->ranges[i];

		spans[count++] = (struct code_span){range->first, yes};
		if (range->last != UINT32_MAX)
			spans[count++] = (struct code_span){range->last + 1, no};
	}
	return code_tree(code, spans, count);
}

static int has_only_single_values(const struct arg_condition *condition)
{
	for (size_t i = 0; i < condition->count; i++)
		if (condition->ranges[i].first != condition->ranges[i].last)
			return 0;
	return 1;
}

uint32_t code_condition(struct code *code, const struct arg_condition *condition, uint32_t yes,
			uint32_t no)
{
	if (condition->test == ARG_UNUSED)
		return yes;
	if (condition->test == ARG_BITS)
		return any_bit(code, condition, yes, no);
	uint32_t test = has_only_single_values(condition) ? one_of(code, condition, yes, no)
							  : in_ranges(code, condition, yes, no);
	code_follow(code, test);
	code_load(code, low_word(condition->arg), (uint32_t)condition->mask);
	return code->at;
}
