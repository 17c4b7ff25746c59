// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_entries.h"
#include "run.h"
#include "sha256.h"
#include "shrink.h"

/*
 * Which code ran: the program's own hash, and the text that an interpreter was
 * given as a file, on its command line or on stdin. Kept by hash, so that the
 * same script is kept once.
 */

enum { TEXT_MAX = 256 * 1024, FILES_MAX = 16 };

enum { OPTIONS_MAX = 6 };

#define SHELL_VALUES                                                                               \
	{                                                                                          \
		"-o", "+o", "-O", "+O", "--rcfile", "--init-file"                                  \
	}

/* Interpreters by name (a version may follow), with the options that take program text, and those
 * whose value is a word of its own. */
static const struct interpreter {
	const char *name;
	const char *text_options[OPTIONS_MAX], *value_options[OPTIONS_MAX];
} interpreters[] = {
	{"python", {"-c"}, {"-W", "-X", "--check-hash-based-pycs"}},
	{"pypy", {"-c"}, {"-W", "-X"}},
	{"node",
	 {"-e", "--eval", "-p", "--print"},
	 {"-r", "--require", "--import", "--loader", "-C", "--conditions"}},
	{"bash", {"-c"}, SHELL_VALUES},
	{"sh", {"-c"}, SHELL_VALUES},
	{"dash", {"-c"}, SHELL_VALUES},
	{"zsh", {"-c"}, SHELL_VALUES},
	{"perl", {"-e", "-E"}, {NULL}},
	{"ruby", {"-e"}, {NULL}},
	{"php", {"-r"}, {NULL}},
	{"lua", {"-e"}, {NULL}},
	{"Rscript", {"-e"}, {NULL}},
	{"deno", {"eval"}, {NULL}},
	{"bun", {"-e"}, {NULL}},
	{"tclsh", {NULL}, {NULL}},
};

static const struct interpreter *find_interpreter(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash != NULL ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
		size_t len = strlen(interpreters[i].name);

		if (strncmp(base, interpreters[i].name, len) == 0 &&
		    base[len + strspn(base + len, "0123456789.-")] == '\0')
			return &interpreters[i];
	}
	return NULL;
}

struct files {
	struct record_file *items;
	size_t count;
};

static struct record_file *add_file(struct run *run, struct files *files, const char *kind,
				    const char *path)
{
	struct record_file *file = ARENA_PUSH(run->arena, files->items, files->count);

	*file = (struct record_file){.kind = kind, .path = path};
	return file;
}

/* Compressed where that pays, which is found out once for each text, not once a run. */
static void keep_text(struct run *run, struct record_file *file, const void *text, size_t len)
{
	struct error err;

	sha256_hex_of(text, len, file->sha256);
	if (run->profile.audit.scripts != SCRIPTS_KEEP || len == 0)
		return;
	const char *name = file->sha256, *packed = arena_printf(run->arena, "%s.gz", name);

	if (len >= SHRINK_MIN && (store_is_kept(&run->store, "scripts", packed) ||
				  (!store_is_kept(&run->store, "scripts", name) &&
				   shrink(run->arena, text, len, &text, &len))))
		name = packed;
	if (store_keep(&run->store, "scripts", name, text, len, &err) == 0)
		file->kept = arena_printf(run->arena, "scripts/%s", name);
	else if (run->store_is_open)
		record_not_kept(run, "program text", &err);
}

static void read_script(struct run *run, struct record_file *file, int fd, size_t size)
{
	size_t want = size < TEXT_MAX ? size : TEXT_MAX, got = 0;
	char *text = arena_alloc(run->arena, want + 1);
	ssize_t len;

	while (got < want && (len = pread(fd, text + got, want - got, (off_t)got)) > 0)
		got += (size_t)len;
	keep_text(run, file, text, got);
	if (got < size) {
		struct error err;

		/* the kept part is named by its own hash, the file by the whole one */
		file->truncated = true;
		if (store_hash_file(&run->store, fd, file->sha256, &err) != 0)
			file->sha256[0] = '\0';
	}
}

/* The run itself cannot change it: it has no part in a tree that can be written to. */
static bool is_read_only_inside(struct run *run, const char *path)
{
	struct path_fact fact;

	if (host_resolve(run->arena, &run->host, path, &fact) != 0)
		return false;
	const struct file_entry *entry = file_entry_for(run->arm.entries, fact.path);
	return entry != NULL && (file_entry_attributes(entry) & MOUNT_ATTR_RDONLY) != 0;
}

/*
 * A large program that the cache does not know is hashed beside the run, which cannot
 * change it. What can be changed from inside is hashed before it runs.
 */
static void hash_program(struct run *run, struct record_file *file, int fd)
{
	struct store_hashing *hashing;
	struct error err;
	bool unchanged;

	if (store_hash_begin(&run->store, fd, file->sha256, &hashing, &err) != 0 || hashing == NULL)
		return;
	if (store_hash_can_wait(hashing) && is_read_only_inside(run, file->path)) {
		run->hashing = hashing;
		run->hashed = *file;
	} else if (store_hash_end(hashing, &unchanged, file->sha256, &err) != 0) {
		file->sha256[0] = '\0';
	}
}

/* A file that is executed or read as a script: opened once, hashed from that descriptor. */
static void add_path(struct run *run, struct files *files, const char *kind, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		struct record_file *file = add_file(run, files, kind, path);

		file->bytes = (uint64_t)st.st_size;
		if (strcmp(kind, "script") == 0)
			read_script(run, file, fd, (size_t)st.st_size);
		else
			hash_program(run, file, fd);
	}
	if (fd >= 0)
		close(fd);
}

static bool starts_with_hash_bang(const char *path)
{
	char start[2];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is_script = fd >= 0 && read(fd, start, 2) == 2 && start[0] == '#' && start[1] == '!';

	if (fd >= 0)
		close(fd);
	return is_script;
}

static bool is_option(const char *const options[OPTIONS_MAX], const char *word)
{
	for (size_t i = 0; i < OPTIONS_MAX && options[i] != NULL; i++) {
		const char *option = options[i];

		if (strcmp(word, option) == 0)
			return true;
		/* short options stack before it: -Ic, -lc, -euo */
		if (strlen(option) == 2 && option[0] == '-' && word[0] == '-' && word[1] != '-' &&
		    word[1] != '\0' && word[strlen(word) - 1] == option[1])
			return true;
	}
	return false;
}

static bool is_stdin(const char *word)
{
	static const char *const names[] = {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(word, names[i]) == 0)
			return true;
	return false;
}

static bool is_shell(const struct interpreter *interpreter)
{
	size_t len = strlen(interpreter->name);

	return len >= 2 && strcmp(interpreter->name + len - 2, "sh") == 0 &&
	       interpreter->name[0] != 't';
}

enum text_place { TEXT_NONE, TEXT_ARGUMENT, TEXT_FILE, TEXT_STDIN };

/*
 * Walks the arguments as the interpreter would, as far as that matters here:
 * program text, the first word that is a file, or stdin when there is neither.
 */
static enum text_place find_text(const struct interpreter *interpreter, char *const *argv,
				 int *ret_index)
{
	struct stat st;

	for (int i = 1; argv[i] != NULL; i++) {
		*ret_index = i;
		if (is_option(interpreter->text_options, argv[i]) && argv[i + 1] != NULL) {
			*ret_index = i + 1;
			return TEXT_ARGUMENT;
		}
		if (is_stdin(argv[i]) || (is_shell(interpreter) && strcmp(argv[i], "-s") == 0))
			return TEXT_STDIN;
		if (strcmp(argv[i], "-m") == 0)
			return TEXT_NONE;
		if (is_option(interpreter->value_options, argv[i]) && argv[i + 1] != NULL) {
			i++;
			continue;
		}
		if (argv[i][0] == '-' || (argv[i][0] == '+' && is_shell(interpreter)))
			continue;
		if (stat(argv[i], &st) == 0 && S_ISREG(st.st_mode))
			return TEXT_FILE;
		/* an option's value, or a file that is not there; deno's first word is a verb */
		if (strcmp(interpreter->name, "deno") != 0)
			return TEXT_NONE;
	}
	return TEXT_STDIN;
}

bool script_comes_on_stdin(char *const *argv, const char *host_program)
{
	const struct interpreter *interpreter = find_interpreter(host_program);
	int index;

	return interpreter != NULL && find_text(interpreter, argv, &index) == TEXT_STDIN;
}

void script_collect(struct run *run, const char *host_program)
{
	struct files files = {0};
	const struct interpreter *interpreter = find_interpreter(host_program);
	char **argv = run->options->arguments;
	int index;

	add_path(run, &files, "program", host_program);
	if (starts_with_hash_bang(host_program))
		add_path(run, &files, "script", host_program);
	enum text_place place =
		interpreter != NULL ? find_text(interpreter, argv, &index) : TEXT_NONE;
	if (place == TEXT_ARGUMENT) {
		struct record_file *file = add_file(run, &files, "text", NULL);

		file->bytes = strlen(argv[index]);
		keep_text(run, file, argv[index], strlen(argv[index]));
	} else if (place == TEXT_FILE) {
		add_path(run, &files, "script", argv[index]);
	}
	run->start.files = files.items;
	run->start.file_count = files.count;
}

bool script_hash_more(struct run *run)
{
	uint64_t before = own_cpu_ns();
	bool more = store_hash_more(run->hashing);

	run->spared_cpu_ns += own_cpu_ns() - before;
	return more;
}

/* Its hash, unless the file is no longer what was executed. */
static void end_hash(struct run *run, struct files *files)
{
	struct error err;
	bool unchanged = false;

	if (run->hashing == NULL)
		return;
	int rc = store_hash_end(run->hashing, &unchanged, run->hashed.sha256, &err);
	run->hashing = NULL;
	if (rc != 0 || !unchanged)
		run->hashed.sha256[0] = '\0';
	*add_file(run, files, run->hashed.kind, run->hashed.path) = run->hashed;
}

static void add_stdin(struct run *run, struct files *files)
{
	struct record_stream stream = {0};

	if (!run->stdin_is_script)
		return;
	relay_report(&run->in, &stream);
	if (stream.bytes == 0)
		return;
	struct record_file *file = add_file(run, files, "stdin", NULL);
	file->bytes = stream.bytes;
	file->truncated = stream.truncated;
	char *text = arena_alloc(run->arena, stream.head_len + stream.tail_len + 1);
	memcpy(text, stream.head, stream.head_len);
	memcpy(text + stream.head_len, stream.tail, stream.tail_len);
	keep_text(run, file, text, stream.head_len + stream.tail_len);
}

void script_finish(struct run *run)
{
	struct files files = {0};

	end_hash(run, &files);
	if (run->relaying)
		add_stdin(run, &files);
	run->end.files = files.items;
	run->end.file_count = files.count;
}
