// SPDX-License-Identifier: Apache-2.0
#include "filter.h"

#include <linux/seccomp.h>
#include <string.h>

/*
 * The instructions that filter_code.c writes. Anything else, and running over
 * the end, is what the kernel would never have let in: shown as a kill, which
 * no test expects.
 */
struct machine {
	const struct sock_fprog *program;
	struct seccomp_data data;
	uint32_t accumulator;
	uint32_t at;
};

static int load(struct machine *machine, uint32_t offset)
{
	if (offset % 4 != 0 || offset > sizeof(machine->data) - 4)
		return -1;
	memcpy(&machine->accumulator, (const char *)&machine->data + offset, 4);
	return 0;
}

/* One instruction that is not a return. */
static int step(struct machine *machine, const struct sock_filter *one)
{
	uint32_t a = machine->accumulator;

	switch (one->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		return load(machine, one->k);
	case BPF_ALU | BPF_AND | BPF_K:
		machine->accumulator = a & one->k;
		return 0;
	case BPF_JMP | BPF_JA:
		machine->at += one->k;
		return 0;
	case BPF_JMP | BPF_JEQ | BPF_K:
		machine->at += a == one->k ? one->jt : one->jf;
		return 0;
	case BPF_JMP | BPF_JGE | BPF_K:
		machine->at += a >= one->k ? one->jt : one->jf;
		return 0;
	case BPF_JMP | BPF_JSET | BPF_K:
		machine->at += (a & one->k) != 0 ? one->jt : one->jf;
		return 0;
	default:
		return -1;
	}
}

uint32_t filter_simulate(const struct sock_fprog *program, uint32_t arch, int nr,
			 const uint64_t args[6])
{
	struct machine machine = {.program = program, .data = {.nr = nr, .arch = arch}};

	for (int i = 0; i < 6; i++)
		machine.data.args[i] = args[i];
	while (machine.at < program->len) {
		const struct sock_filter *one = &program->filter[machine.at++];

		if (one->code == (BPF_RET | BPF_K))
			return one->k;
		if (step(&machine, one) < 0)
			break;
	}
	return SECCOMP_RET_KILL_PROCESS;
}
