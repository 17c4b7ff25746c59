// SPDX-License-Identifier: Apache-2.0
#include "render_parts.h"

/* run.end's "network": what went through the gate and what did not. */

static void render_name(struct json *json, const struct record_name *name)
{
	json_object_begin(json);
	render_text(json, "name", name->name);
	render_text(json, "verdict", name->verdict);
	render_text(json, "rule", name->rule);
	render_number(json, "count", name->count);
	json_object_end(json);
}

static void render_connection(struct json *json, const struct record_connection *connection)
{
	json_object_begin(json);
	if (connection->time_ns != UNKNOWN)
		render_time(json, "time", connection->time_ns);
	else
		render_text(json, "time", NULL);
	render_text(json, "name", connection->name);
	render_text(json, "asked", connection->asked);
	render_number(json, "port", connection->asked_port);
	render_text(json, "address", connection->dialled);
	render_number(json, "address_port",
		      connection->dialled != NULL ? connection->dialled_port : UNKNOWN);
	render_text(json, "server_name", connection->server_name);
	render_text(json, "rule", connection->rule);
	render_bool(json, "published", connection->published);
	render_text(json, "ended", connection->ended);
	render_errno(json, connection->errnum);
	render_number(json, "count", connection->count);
	render_number(json, "sent", connection->sent);
	render_number(json, "received", connection->received);
	render_number(json, "ms", connection->ms);
	render_number(json, "dial_us", connection->dial_us);
	json_object_end(json);
}

static void render_attempt(struct json *json, const struct record_attempt *attempt)
{
	json_object_begin(json);
	render_text(json, "protocol", attempt->protocol);
	render_text(json, "name", attempt->name);
	render_text(json, "address", attempt->address);
	render_number(json, "port", attempt->address != NULL ? attempt->port : UNKNOWN);
	render_number(json, "count", attempt->count);
	json_object_end(json);
}

static void render_connections(struct json *json, const char *key,
			       const struct record_connection *connections, size_t count)
{
	json_put_key(json, key);
	json_array_begin(json);
	for (size_t i = 0; i < count; i++)
		render_connection(json, &connections[i]);
	json_array_end(json);
}

static void render_totals(struct json *json, const struct record_network *network)
{
	json_put_key(json, "totals");
	json_object_begin(json);
	render_number(json, "names", network->totals.names);
	render_number(json, "names_refused", network->totals.names_refused);
	render_number(json, "names_dropped", network->totals.names_dropped);
	render_number(json, "wildcard_names", network->totals.wildcard_names);
	render_number(json, "wildcard_bytes", network->totals.wildcard_bytes);
	render_number(json, "connections", network->totals.connections);
	render_number(json, "connections_refused", network->totals.connections_refused);
	render_number(json, "connections_dropped", network->totals.connections_dropped);
	render_number(json, "connections_most", network->totals.connections_most);
	render_number(json, "attempts", network->totals.attempts);
	render_number(json, "sent", network->totals.sent);
	render_number(json, "received", network->totals.received);
	json_object_end(json);
}

void render_network(struct json *json, const struct record_network *network)
{
	json_put_key(json, "network");
	if (network == NULL) {
		json_put_null(json);
		return;
	}
	json_object_begin(json);
	render_text(json, "gate", network->gate);
	json_put_key(json, "names");
	json_array_begin(json);
	for (size_t i = 0; i < network->name_count; i++)
		render_name(json, &network->names[i]);
	json_array_end(json);
	render_connections(json, "connections", network->connections, network->connection_count);
	render_connections(json, "more_connections", network->more, network->more_count);
	json_put_key(json, "attempts");
	json_array_begin(json);
	for (size_t i = 0; i < network->attempt_count; i++)
		render_attempt(json, &network->attempts[i]);
	json_array_end(json);
	render_totals(json, network);
	json_object_end(json);
}
