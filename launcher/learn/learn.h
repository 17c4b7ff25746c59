// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_LEARN_H
#define SBOX_LEARN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "error.h"
#include "fold.h"
#include "profile.h"
#include "string_list.h"

struct machine;

/*
 * sbox learn: runs a program in a tree that shows the system and the caller's home folder
 * but no credential, has the launcher write what is used (watch.h), and makes of that the
 * profile that is enough.
 *
 *   sbox-learn.c      what is asked for, and the order of things
 *   learn_secret.c    which names are credentials
 *   learn_look.c      where they lie: looked for before the run, hidden in it
 *   learn_tree.c      the tree of the learning run
 *   learn_run.c       that run: uses and the record of its end
 *   learn_read.c      uses from bytes
 *   fold*.c           from uses to few lines: pure, over lists
 *   learn_fold.c      what is given without a line; what is no path
 *   learn_world.c     this machine, as the fold asks about it
 *   learn_limits.c    limits with head-room
 *   learn_text.c      the profile's text
 *   learn_trim.c      which lines the program can do without, by trying
 */

struct wishes {
	const char *profile, *store_dir, *output;
	bool open, trim;
	struct string_list read, write, net, secret; /* --allow-… */
	char **argv;
};

/* What the learning run needed and had. */
struct measured {
	uint64_t wall_ms, cpu_ms, memory_bytes, tasks, files, output_bytes; /* 0: not known */
};

struct learn {
	struct arena *arena;
	struct wishes wishes;
	const char *own; /* the launcher's file */
	struct profile_context context;
	const char *home_link; /* the home folder as HOME has it, where that leads over a link */
	struct profile base;   /* --profile */
	struct string_list hidden; /* credentials, as absolute paths */
	struct string_list unseen; /* folders that were not looked through, so hidden too */
	struct string_list sets;   /* --set words of the learning run */
	/* of that run */
	struct uses uses;
	json_t *end;
	int status; /* of the launcher */
	struct measured measured;
	struct string_list allow; /* rules of [network], as narrow as what was reached */
	struct string_list asked; /* names and addresses that were asked for and refused */
	bool uses_aio, uses_ipc, uses_scratch_exec, uses_cache;
	struct folded folded;
	bool trimmed;            /* each line was tried */
	struct machine *machine; /* learn_world.h */
};

/* learn_secret.c: by its name alone, absolute; any name on the way counts. */
bool learn_is_secret(const char *path);
/* By its last name, where those before are known to be none. */
bool learn_is_secret_name(const char *path);
/* A key file by what is in it. */
bool learn_holds_key(int dir_fd, const char *name);

/* learn_look.c */
int learn_look(struct learn *learn, struct error *err);
/* learn_tree.c: fills sets. */
void learn_tree(struct learn *learn);
/* learn_run.c */
int learn_run(struct learn *learn, struct error *err);
/* One run of the launcher with a profile, its output to `out_fd`: its end, or NULL. */
json_t *learn_launch(struct learn *learn, char *const *options, int watch_fd, bool silent,
		     int *ret_status, struct error *err);
/* learn_read.c: 0, or -1 when the bytes are not whole. */
int learn_read(struct arena *arena, const char *bytes, size_t size, struct uses *ret_uses);
/* learn_fold.c: this machine, before the run; what was used, after it. */
int learn_know(struct learn *learn, struct error *err);
void learn_fold(struct learn *learn);
/* learn_limits.c */
void learn_measure(struct learn *learn);
uint64_t learn_room(uint64_t measured, uint64_t factor, uint64_t least);
/* learn_text.c: the whole profile; earlier: what the file held before, or NULL. */
const char *learn_text(struct learn *learn, const struct profile *earlier, struct error *err);
extern const char learn_mark[];
/* learn_trim.c: takes out what the program does without. -1: it could not be tried. */
int learn_trim(struct learn *learn, const struct profile *earlier, struct error *err);

#endif
