// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_entries.h"
#include "host.h"
#include "learn.h"
#include "learn_world.h"
#include "toolchain.h"

/* What is given without a line: by the parent profile, by version managers, and to each run. */

static void give(struct machine *machine, const char *path, enum rank rank, const char *toolchain)
{
	struct fold_world *world = &machine->world;
	struct given *given = (struct given *)world->given;

	*ARENA_PUSH(machine->learn->arena, given, world->given_count) =
		(struct given){path, rank, toolchain};
	world->given = given;
}

/* A listed path comes with the links that lead to it. */
static void give_list(struct machine *machine, const struct path_list *list, enum rank rank)
{
	for (size_t i = 0; i < list->count; i++) {
		struct string_list names = machine_names(machine, list->items[i].path);

		for (size_t n = 0; n < names.count; n++)
			give(machine, names.items[n], rank, NULL);
	}
}

static void give_own(struct machine *machine)
{
	static const char *const folders[] = {"/proc",    "/dev", "/tmp",
					      "/var/tmp", "/sys", "/home/sandbox"};
	static const char *const files[] = {"/etc/passwd",        "/etc/group",       "/etc/hosts",
					    "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/mtab",
					    "/etc/hostname"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		give(machine, folders[i], RANK_WRITE, NULL);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		give(machine, files[i], RANK_READ, NULL);
}

/* What lies in one of those and is not of the sandbox's own. */
static void give_back(struct machine *machine, const char *path)
{
	if (path != NULL)
		give(machine, path, RANK_NONE, NULL);
}

static int give_toolchains(struct machine *machine, struct error *err)
{
	static const char *all[] = {"@all"};
	struct learn *learn = machine->learn;
	struct profile *profile = arena_alloc(learn->arena, sizeof(*profile));
	struct host *host = &machine->host;

	profile->file.toolchains = (struct string_list){all, 1};
	if (toolchain_find(learn->arena, &learn->context, profile, learn->wishes.argv[0], host,
			   err) != 0)
		return -1;
	const struct path_facts *shown = &host->paths[PATH_EXEC];
	for (size_t i = 0; i < shown->count; i++)
		for (size_t t = 0; t < host->toolchain_count; t++)
			if (path_is_below(shown->items[i].path, host->toolchains[t].root))
				give(machine, shown->items[i].path, RANK_EXEC,
				     host->toolchains[t].toolchain->name);
	return 0;
}

int learn_know(struct learn *learn, struct error *err)
{
	struct profile *base = arena_alloc(learn->arena, sizeof(*base));
	struct machine *machine = arena_alloc(learn->arena, sizeof(*machine));

	learn->machine = machine;
	machine->learn = learn;
	machine_begin(machine);
	if (host_probe(learn->arena, &machine->host, err) != 0 ||
	    profile_load(learn->arena, &learn->context, "base", NULL, 0, base, NULL, err) != 0)
		return -1;
	give_own(machine);
	give_list(machine, &base->file.read, RANK_READ);
	give_list(machine, &base->file.exec, RANK_EXEC);
	give_back(machine, learn->context.cwd);
	give_back(machine, learn->context.home);
	for (size_t i = 0; i < learn->wishes.read.count; i++)
		give_back(machine, learn->wishes.read.items[i]);
	for (size_t i = 0; i < learn->wishes.write.count; i++)
		give_back(machine, learn->wishes.write.items[i]);
	return give_toolchains(machine, err);
}

/* ---- what is no path ---- */

static bool is_scratch(const struct learn *learn, const char *path)
{
	return (path_is_below(path, "/tmp") || path_is_below(path, "/home/sandbox")) &&
	       !path_is_below(path, learn->context.cwd);
}

static void look_at_uses(struct learn *learn)
{
	const struct uses *uses = &learn->uses;

	for (size_t i = 0; i < uses->count; i++) {
		const struct use *use = &uses->items[i];
		const char *real = use->names.items[use->names.count - 1];

		learn->uses_scratch_exec |= (use->want == 'x' || use->want == 'p') &&
					    use->type == 'f' && is_scratch(learn, real);
		learn->uses_cache |=
			use->want == 'c' && path_is_below(real, "/home/sandbox/.cache");
	}
	for (size_t i = 0; i < uses->calls.count; i++) {
		bool aio = strncmp(uses->calls.items[i], "io_", 3) == 0;

		learn->uses_aio |= aio;
		learn->uses_ipc |= !aio;
	}
}

/* ---- the network ---- */

static void add_once(struct arena *arena, struct string_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return;
	*ARENA_PUSH(arena, list->items, list->count) = arena_strdup(arena, text);
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* As narrow as what was reached: the name and the port, by whatever rule it went. */
static void allow_connection(struct learn *learn, const json_t *connection)
{
	const char *rule = text_of(connection, "rule"), *name = text_of(connection, "name");
	const char *asked = text_of(connection, "asked");
	const json_t *port = json_object_get(connection, "port");

	if (rule == NULL || (name == NULL && asked == NULL) || !json_is_integer(port) ||
	    json_is_true(json_object_get(connection, "published")))
		return;
	bool v6 = name == NULL && strchr(asked, ':') != NULL;
	/* the host's loopback has a name of its own */
	const char *host = strncmp(rule, "host:", 5) == 0 ? "host" : name != NULL ? name : asked;
	add_once(learn->arena, &learn->allow,
		 arena_printf(learn->arena, "%s%s%s%s:%lld", v6 ? "[" : "", host, v6 ? "]" : "",
			      name != NULL && strstr(rule, "@private") != NULL ? "@private" : "",
			      (long long)json_integer_value(port)));
}

static bool has_name(const struct learn *learn, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < learn->allow.count; i++)
		if (strncmp(learn->allow.items[i], name, len) == 0 &&
		    strchr(":@", learn->allow.items[i][len]) != NULL)
			return true;
	return false;
}

/* Looked up and not connected to: the ports are those of the rule. */
static void allow_name(struct learn *learn, const json_t *told)
{
	const char *name = text_of(told, "name"), *rule = text_of(told, "rule");
	const char *verdict = text_of(told, "verdict");
	const char *port = rule != NULL ? strrchr(rule, ':') : NULL;

	if (name != NULL && port != NULL && verdict != NULL && strcmp(verdict, "answered") == 0 &&
	    !has_name(learn, name))
		add_once(learn->arena, &learn->allow,
			 arena_printf(learn->arena, "%s%s%s", name,
				      strstr(rule, "@private") != NULL ? "@private" : "", port));
}

static void look_at_network(struct learn *learn)
{
	const json_t *network = json_object_get(learn->end, "network"), *one;
	static const char *const lists[] = {"connections", "more_connections"};
	size_t i;

	for (size_t l = 0; l < 2; l++)
		json_array_foreach(json_object_get(network, lists[l]), i, one)
		{
			allow_connection(learn, one);
		}
	json_array_foreach(json_object_get(network, "names"), i, one)
	{
		allow_name(learn, one);
	}
	json_array_foreach(json_object_get(learn->end, "denials"), i, one)
	{
		const char *boundary = text_of(one, "boundary"), *object = text_of(one, "object");
		const char *permit = text_of(one, "permit");

		if (boundary != NULL && object != NULL && strcmp(boundary, "network") == 0)
			add_once(learn->arena, &learn->asked,
				 permit != NULL && strncmp(permit, "[network] allow = ", 18) == 0
					 ? permit + 18
					 : object);
	}
}

void learn_fold(struct learn *learn)
{
	fold(&learn->machine->world, &learn->uses, &learn->folded);
	machine_add_refused(learn->machine);
	look_at_uses(learn);
	look_at_network(learn);
}
