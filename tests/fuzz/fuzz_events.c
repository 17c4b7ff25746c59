// SPDX-License-Identifier: Apache-2.0
/*
 * What the gate tells, as the launcher takes it and writes it down: nothing of it is believed but
 * its sizes. Each message with its length before it in two bytes; a length of 0xffff: the whole
 * struct that the next byte names, filled with the next bytes over and over.
 */
#include "fuzz.h"

#include <jansson.h>

#define gate_end fuzz_unused_gate_end
#include "gate_events.c"
#undef gate_end

#include "network_rules.h"
#include "render_parts.h"

static struct run run;
static struct arena arena;

static const struct {
	uint32_t type;
	size_t size;
} kinds[] = {
	{GATE_READY, sizeof(struct gate_head)},
	{GATE_FAILED, sizeof(struct gate_failed)},
	{GATE_NAME, sizeof(struct gate_name)},
	{GATE_CONNECTION, sizeof(struct gate_connection)},
	{GATE_TALLY, sizeof(struct gate_tally)},
	{GATE_ATTEMPT, sizeof(struct gate_attempt)},
	{GATE_TOTALS, sizeof(struct gate_totals)},
	{GATE_DONE, sizeof(struct gate_head)},
};

static void feed(struct fuzz_input *input)
{
	_Alignas(uint64_t) static char message[GATE_MESSAGE_BYTES];
	size_t len = fuzz_short(input);

	if (len == 0xffff) {
		size_t kind = fuzz_byte(input) % (sizeof(kinds) / sizeof(kinds[0]));
		size_t given = fuzz_byte(input);
		struct gate_head head = {kinds[kind].type, (uint32_t)kinds[kind].size};

		given = given < fuzz_left(input) ? given : fuzz_left(input);
		len = kinds[kind].size;
		for (size_t i = 0; i < len; i++)
			message[i] = given > 0 ? (char)input->at[i % given] : 0;
		input->at += given;
		memcpy(message, &head, sizeof(head));
	} else {
		len = len < fuzz_left(input) ? len : fuzz_left(input);
		len = len < sizeof(message) ? len : sizeof(message);
		memcpy(message, input->at, len);
		input->at += len;
	}
	/* of just its size, so that reading behind it is seen */
	char *copy = malloc(len > 0 ? len : 1);
	memcpy(copy, message, len);
	take(&run.gate, copy, len);
	free(copy);
}

static void set_up(void)
{
	static struct network_rules rules;
	static const char *texts[] = {"example.org:443", "example.net"};
	static struct rule two[2];
	struct gate *gate = &run.gate;

	rules = (struct network_rules){.rules = two, .texts = texts, .rule_count = 2};
	memset(&run, 0, sizeof(run));
	run.arena = run.denials.arena = &arena;
	run.arm.network_rules = &rules;
	run.profile.audit.denials = DENIALS_FULL;
	gate->fd = -1;
	gate->names = arena_alloc(&arena, GATE_NAMES_KEPT * sizeof(*gate->names));
	gate->connections = arena_alloc(&arena, GATE_CONNECTIONS_KEPT * sizeof(*gate->connections));
	gate->tallies = arena_alloc(&arena, GATE_TALLIES_KEPT * sizeof(*gate->tallies));
	gate->attempts = arena_alloc(&arena, GATE_ATTEMPTS_KEPT * sizeof(*gate->attempts));
}

static void check_ends(const char *text)
{
	REQUIRE(memchr(text, '\0', RULE_NAME_BYTES) != NULL);
}

/* What is kept ends, and is as much as there is room for. */
static void check_kept(const struct gate *gate)
{
	REQUIRE(gate->name_count <= GATE_NAMES_KEPT);
	REQUIRE(gate->connection_count <= GATE_CONNECTIONS_KEPT);
	REQUIRE(gate->tally_count <= GATE_TALLIES_KEPT);
	REQUIRE(gate->attempt_count <= GATE_ATTEMPTS_KEPT);
	for (size_t i = 0; i < gate->name_count; i++)
		check_ends(gate->names[i].name);
	for (size_t i = 0; i < gate->connection_count; i++) {
		check_ends(gate->connections[i].name);
		check_ends(gate->connections[i].server_name);
	}
	for (size_t i = 0; i < gate->tally_count; i++)
		check_ends(gate->tallies[i].name);
	for (size_t i = 0; i < gate->attempt_count; i++)
		check_ends(gate->attempts[i].name);
}

/* The record is JSON, whatever was told. */
static void check_record(bool may_say_null)
{
	struct json json;

	gate_record(&run);
	run.end.denials = run.denials.items;
	run.end.denial_count = run.denials.count;
	json_begin(&json, &arena);
	json_object_begin(&json);
	render_network(&json, run.end.network);
	render_denials(&json, &run.end);
	json_object_end(&json);
	json_t *read =
		json_loads(json_finish(&json), JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	if (read == NULL)
		fprintf(stderr, "%s\n", json_finish(&json));
	REQUIRE(read != NULL);
	REQUIRE(may_say_null || strstr(json_finish(&json), "(null)") == NULL);
	json_decref(read);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct fuzz_input input = {bytes, bytes + len};

	set_up();
	while (fuzz_left(&input) > 0)
		feed(&input);
	check_kept(&run.gate);
	/* a name may be "(null)": only what was never told is nothing's name */
	check_record(len > 0 && memchr(bytes, '(', len) != NULL);
	arena_free(&arena);
	arena = (struct arena){0};
	return 0;
}
