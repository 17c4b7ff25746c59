// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "judge.h"

/* The one table of why a path was refused, and of what would permit it. */
static const struct {
	const char *permit; /* "%s" is the path; NULL: nothing permits it */
	const char *never;
} reasons[REASON_MAX] = {
	/* the key is that of what was wanted: see key_of() */
	[REASON_NOT_LISTED] = {"", NULL},
	[REASON_NOT_LISTED_FOLDER] = {"[file] write = %s", NULL},
	[REASON_DEVICE] = {"[file] device = %s", NULL},
	[REASON_OTHER_USER] = {NULL, "its mode gives the run's own user nothing; listed under "
				     "write, it would come with its owner's rights"},
	[REASON_SOCKET] = {NULL, "a socket of the host's leads out of the sandbox's network; "
				 "listed, it is visible with [network] mode = host alone"},
	[REASON_ROOT_FOLDER] = {NULL, "what is in / is what is listed; make the folder outside and "
				      "list it"},
	[REASON_HIDDEN] = {"[file] hide = !%s", NULL},
	[REASON_HIDDEN_STORE] = {NULL, "the record is never in the program's reach"},
	[REASON_HIDDEN_SOCKET] = {"[network] mode = host", NULL},
	[REASON_HIDDEN_SECRET] = {NULL, "a version manager keeps passwords there"},
	[REASON_READ_ONLY] = {"[file] write = %s", NULL},
	[REASON_READ_ONLY_FOLDER] = {"[file] write = %s", NULL},
	[REASON_PROTECTED] = {"[file] protect = !%s", NULL},
	[REASON_PINNED] = {NULL, "a protected name lies below it and keeps its place"},
	[REASON_MOUNT_POINT] = {NULL, "the profile lists it by itself, so it is a mount point"},
	[REASON_ACROSS] = {NULL, "each listed path is a mount of its own and nothing moves between "
				 "mounts; copy it"},
	[REASON_NOT_EXEC] = {"[file] exec = %s", NULL},
	[REASON_NOEXEC] = {"[file] noexec = !%s", NULL},
	[REASON_SCRATCH_NOEXEC] = {"[file] scratch_exec = yes", NULL},
	[REASON_INTERPRETER] = {"[file] exec = %s", NULL},
};

static const struct {
	const char *op, *key;
} wants[WANT_MAX] = {
	[WANT_LOOK] = {"look", "read"},       [WANT_READ] = {"read", "read"},
	[WANT_ENTER] = {"enter", "read"},     [WANT_WRITE] = {"write", "write"},
	[WANT_CREATE] = {"write", "write"},   [WANT_NEW] = {"create", "write"},
	[WANT_REMOVE] = {"remove", "write"},  [WANT_RENAME] = {"rename", "write"},
	[WANT_LINK] = {"link", "write"},      [WANT_CHANGE] = {"change", "write"},
	[WANT_EXECUTE] = {"execute", "exec"}, [WANT_CONNECT] = {"connect", "read"},
};

/* As a profile writes it: see sbox.ini(5), "${0xHH}". False: it got too long. */
static bool add_path(char text[JUDGE_TEXT], const char *path)
{
	size_t len = strlen(text);

	for (; *path != '\0' && len + sizeof("${0x00}") < JUDGE_TEXT; path++)
		if ((unsigned char)*path <= ' ' || *path == 0x7f ||
		    strchr(";#$\"'\\*?[,", *path) != NULL)
			len += (size_t)sprintf(text + len, "${0x%02x}", (unsigned char)*path);
		else
			text[len++] = *path;
	text[len] = '\0';
	return *path == '\0';
}

/* A line that sbox itself would refuse helps nobody. */
static const char *never_in_a_line(const struct judge *judge, const char *permit,
				   const struct judge_question *question,
				   const struct judge_found *found)
{
	const char *key = wants[question->want].key;
	bool writes = *permit == '\0' ? strcmp(key, "write") == 0
				      : strncmp(permit, "[file] write", 12) == 0;

	if (found->permit[0] == '\0')
		return "no line of a profile names it";
	return writes ? profile_never_writable(found->permit, judge->store) : NULL;
}

void judge_describe(const struct judge *judge, const struct judge_question *question,
		    const struct judge_found *found, char ret_text[JUDGE_TEXT],
		    struct record_denial *ret_denial)
{
	const char *permit = reasons[found->reason].permit;
	bool network = found->reason == REASON_HIDDEN_SOCKET || found->reason == REASON_SOCKET;

	ret_denial->boundary = network ? BOUNDARY_NETWORK : BOUNDARY_FILE;
	ret_denial->op = wants[question->want].op;
	ret_denial->object = found->object;
	ret_denial->errnum = found->errnum;
	ret_denial->never = reasons[found->reason].never;
	if (permit == NULL)
		return;
	size_t before = strcspn(permit, "%");
	if (*permit == '\0')
		snprintf(ret_text, JUDGE_TEXT, "[file] %s = ", wants[question->want].key);
	else
		snprintf(ret_text, JUDGE_TEXT, "%.*s", (int)before, permit);
	bool needs_path = *permit == '\0' || permit[before] != '\0';
	if (needs_path)
		ret_denial->never = never_in_a_line(judge, permit, question, found);
	if (needs_path && ret_denial->never == NULL && !add_path(ret_text, found->permit))
		ret_denial->never = "no line of a profile names it";
	if (ret_denial->never == NULL)
		ret_denial->permit = ret_text;
}
