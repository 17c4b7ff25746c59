// SPDX-License-Identifier: Apache-2.0
#include "cmd_show.h"

#include <stdarg.h>
#include <string.h>

void show_field(struct show *show, const char *name, const char *fmt, ...)
{
	va_list ap;

	(void)show;
	printf("%-12s", name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static const char *member(struct show *show, const json_t *object, const char *key)
{
	return text_member(show->arena, object, key);
}

static bool is_known(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return value != NULL && !json_is_null(value);
}

/* The field, unless its value is null. */
static void optional(struct show *show, const char *name, const json_t *object, const char *key)
{
	if (is_known(object, key))
		show_field(show, name, "%s", member(show, object, key));
}

static void show_who(struct show *show, const json_t *who)
{
	show_field(show, "who", "%s (uid %s, effective %s, login %s)%s%s, host %s",
		   member(show, who, "user"), member(show, who, "real_uid"),
		   member(show, who, "effective_uid"), member(show, who, "login_uid"),
		   is_known(who, "tty") ? " on " : "",
		   is_known(who, "tty") ? member(show, who, "tty") : "", member(show, who, "host"));
	show_field(show, "caller", "%s (pid %s; sbox was pid %s)", member(show, who, "caller_exe"),
		   member(show, who, "caller_pid"), member(show, who, "sbox_pid"));
	optional(show, "label", who, "label");
}

static void show_labels(struct show *show, const json_t *labels)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)labels, key, value)
		show_field(show, "label", "%s=%s",
			   text_argument(show->arena, (struct bytes){key, strlen(key)}),
			   text_value(show->arena, value));
}

static bool is_among(const json_t *files, const json_t *sought)
{
	const json_t *file;
	size_t i;

	json_array_foreach((json_t *)files, i, file)
	{
		if (json_equal(json_object_get(file, "kind"), json_object_get(sought, "kind")) &&
		    json_equal(json_object_get(file, "path"), json_object_get(sought, "path")))
			return true;
	}
	return false;
}

/* A program whose hash was taken beside the run is in both records, and whole in the later. */
static void show_files(struct show *show, const json_t *files, const json_t *later)
{
	const json_t *file;
	size_t i;

	json_array_foreach((json_t *)files, i, file) if (!is_among(later, file))
		show_field(show, member(show, file, "kind"), "%s  %s bytes  sha256 %s",
			   member(show, file, "path"), member(show, file, "bytes"),
			   member(show, file, "sha256"));
}

void show_start(struct show *show, const json_t *start, const json_t *end)
{
	const json_t *profile = json_object_get(start, "profile");

	show_field(show, "started", "%s", member(show, start, "time"));
	show_who(show, json_object_get(start, "who"));
	show_field(show, "command", "%s",
		   text_arguments(show->arena, json_object_get(start, "argv")));
	show_field(show, "folder", "%s (inside: %s)", member(show, start, "cwd"),
		   member(show, start, "inside_cwd"));
	show_field(show, "ran as", "uid %s (inside: %s)", member(show, start, "outer_uid"),
		   member(show, start, "inner_uid"));
	show_field(show, "profile", "%s  %s  sha256 %s", member(show, profile, "name"),
		   member(show, profile, "path"), member(show, profile, "sha256"));
	show_labels(show, json_object_get(start, "labels"));
	show_files(show, json_object_get(start, "files"), json_object_get(end, "files"));
	show_field(show, "environment", "%s",
		   text_arguments(show->arena, json_object_get(start, "environment")));
}

void show_enforced(struct show *show, const json_t *start)
{
	const json_t *items = json_object_get(start, "enforced"), *item;
	size_t i;

	puts("\nenforced");
	json_array_foreach((json_t *)items, i, item)
	{
		printf("  %-10s %-17s %-9s %s\n", member(show, item, "boundary"),
		       member(show, item, "name"), member(show, item, "state"),
		       member(show, item, "asked"));
		if (is_known(item, "mechanism"))
			printf("  %-28s by: %s\n", "", member(show, item, "mechanism"));
		if (is_known(item, "reason"))
			printf("  %-28s because: %s\n", "", member(show, item, "reason"));
		if (is_known(item, "residual"))
			printf("  %-28s what stays: %s\n", "", member(show, item, "residual"));
	}
}

static const char *duration(struct show *show, const json_t *usage, const char *key)
{
	return text_duration(show->arena, json_object_get(usage, key));
}

static void show_usage(struct show *show, const json_t *usage)
{
	show_field(show, "time", "%s by the clock, %s user, %s system, %s of sbox for it",
		   duration(show, usage, "wall_ns"), duration(show, usage, "user_ns"),
		   duration(show, usage, "sys_ns"), duration(show, usage, "sbox_cpu_ns"));
	show_field(show, "used", "peak memory %s bytes (%s), %s tasks, read %s bytes, wrote %s",
		   member(show, usage, "peak_memory_bytes"), member(show, usage, "memory_source"),
		   member(show, usage, "peak_tasks"), member(show, usage, "read_bytes"),
		   member(show, usage, "written_bytes"));
}

static void show_denials(struct show *show, const json_t *end)
{
	const json_t *denials = json_object_get(end, "denials"), *denial;
	size_t i;

	if (json_array_size(denials) > 0)
		printf("\nrefused (%s more not kept)\n", member(show, end, "denials_dropped"));
	json_array_foreach((json_t *)denials, i, denial)
	{
		printf("  %-10s %s %s  %s, %s times at least, first by pid %s %s\n",
		       member(show, denial, "boundary"), member(show, denial, "op"),
		       member(show, denial, "object"), member(show, denial, "errno"),
		       member(show, denial, "count"), member(show, denial, "pid"),
		       member(show, denial, "exe"));
		if (is_known(denial, "permit"))
			printf("  %-10s to allow it: %s\n", "", member(show, denial, "permit"));
		if (is_known(denial, "never"))
			printf("  %-10s never allowed: %s\n", "", member(show, denial, "never"));
	}
}

static void show_execs(struct show *show, const json_t *end)
{
	const json_t *execs = json_object_get(end, "execs"), *exec;
	size_t i;

	if (json_array_size(execs) > 0)
		printf("\nprograms executed (%s in all)\n", member(show, end, "execs_total"));
	json_array_foreach((json_t *)execs, i, exec)
		printf("  %s x  %s: %s\n", member(show, exec, "count"), member(show, exec, "path"),
		       text_arguments(show->arena, json_object_get(exec, "argv")));
}

void show_end(struct show *show, const json_t *record)
{
	const json_t *end = json_object_get(record, "end");

	show_files(show, json_object_get(record, "files"), NULL);
	show_field(show, "ended", "%s", member(show, record, "time"));
	show_field(show, "end", "%s, exit status of sbox %s%s", text_end(show->arena, record),
		   member(show, end, "status"),
		   json_is_true(json_object_get(end, "core_dumped")) ? ", core dumped" : "");
	optional(show, "decided by", end, "decided_by");
	optional(show, "message", end, "message");
	optional(show, "leftover", end, "leftover");
	show_usage(show, json_object_get(record, "usage"));
	show_denials(show, record);
	show_execs(show, record);
	show_network(show, json_object_get(record, "network"));
}
