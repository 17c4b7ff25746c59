// SPDX-License-Identifier: Apache-2.0
#include "cmd_show.h"

#include <string.h>

/* What went through the gate, of `sbox audit show`. */

static const char *member(struct show *show, const json_t *object, const char *key)
{
	return text_member(show->arena, object, key);
}

static bool is_known(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return value != NULL && !json_is_null(value);
}

static void show_names(struct show *show, const json_t *names)
{
	const json_t *name;
	size_t i;

	json_array_foreach((json_t *)names, i, name)
		printf("  name       %s  %s, %s times\n", member(show, name, "name"),
		       member(show, name, "verdict"), member(show, name, "count"));
}

static void show_connections(struct show *show, const json_t *connections)
{
	const json_t *one;
	size_t i;

	json_array_foreach((json_t *)connections, i, one)
	{
		const char *to = is_known(one, "name") ? "name" : "asked";

		const char *host = member(show, one, to);

		/* as a rule would have it */
		printf(strchr(host, ':') != NULL ? "  %-10s [%s]:%s  %s" : "  %-10s %s:%s  %s",
		       json_is_true(json_object_get(one, "published")) ? "published" : "connection",
		       host, member(show, one, "port"), member(show, one, "ended"));
		if (is_known(one, "address"))
			printf(", by %s", member(show, one, "address"));
		if (json_integer_value(json_object_get(one, "count")) > 1)
			printf(", %s times", member(show, one, "count"));
		printf(", sent %s, received %s bytes in %s ms\n", member(show, one, "sent"),
		       member(show, one, "received"), member(show, one, "ms"));
	}
}

static void show_attempts(struct show *show, const json_t *attempts)
{
	const json_t *attempt;
	size_t i;

	json_array_foreach((json_t *)attempts, i, attempt) printf(
		"  refused    %s to %s port %s, %s times\n", member(show, attempt, "protocol"),
		member(show, attempt, is_known(attempt, "name") ? "name" : "address"),
		member(show, attempt, "port"), member(show, attempt, "count"));
}

void show_network(struct show *show, const json_t *network)
{
	const json_t *totals = json_object_get(network, "totals");

	if (!json_is_object(network))
		return;
	printf("\nnetwork (gate: %s; %s questions, %s of them refused; %s connections, %s of them "
	       "refused; sent %s, received %s bytes)\n",
	       member(show, network, "gate"), member(show, totals, "names"),
	       member(show, totals, "names_refused"), member(show, totals, "connections"),
	       member(show, totals, "connections_refused"), member(show, totals, "sent"),
	       member(show, totals, "received"));
	show_names(show, json_object_get(network, "names"));
	show_connections(show, json_object_get(network, "connections"));
	show_connections(show, json_object_get(network, "more_connections"));
	show_attempts(show, json_object_get(network, "attempts"));
}
