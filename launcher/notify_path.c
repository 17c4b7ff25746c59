// SPDX-License-Identifier: Apache-2.0
/*
 * Calls on paths, asked about before they go on: which path is meant, as seen from
 * the root of the sandbox. Another thread may rewrite the text before the kernel
 * reads it again, so it explains and decides nothing; that it could not be read, or
 * means something only the task itself can tell, leaves the call unexplained.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "filter.h"
#include "judge.h"
#include "notify_private.h"
#include "syscalls.h"
#include "watch.h"

enum { NONE = NOTIFY_NO_ARG, NAMES_PORT = 53 };

/* Which arguments are what. */
static const struct path_call {
	int number;
	enum judge_want want;
	int8_t dir, path, flags; /* flags: of open, or AT_* */
	int8_t other_dir, other;
	bool no_follow, truncates;
} calls[] = {
	/* nearly all questions are these two */
	{SYS_openat, WANT_READ, 0, 1, 2, NONE, NONE, false, false},
#ifdef SYS_open
	{SYS_access, WANT_LOOK, NONE, 0, NONE, NONE, NONE, false, false},
	{SYS_open, WANT_READ, NONE, 0, 1, NONE, NONE, false, false},
	{SYS_creat, WANT_CREATE, NONE, 0, NONE, NONE, NONE, false, true},
	{SYS_unlink, WANT_REMOVE, NONE, 0, NONE, NONE, NONE, true, false},
	{SYS_rmdir, WANT_REMOVE, NONE, 0, NONE, NONE, NONE, true, false},
	{SYS_mkdir, WANT_NEW, NONE, 0, NONE, NONE, NONE, true, false},
	{SYS_mknod, WANT_NEW, NONE, 0, NONE, NONE, NONE, true, false},
	{SYS_rename, WANT_RENAME, NONE, 0, NONE, NONE, 1, true, false},
	{SYS_link, WANT_LINK, NONE, 0, NONE, NONE, 1, true, false},
	{SYS_symlink, WANT_NEW, NONE, 1, NONE, NONE, NONE, true, false},
	{SYS_chmod, WANT_CHANGE, NONE, 0, NONE, NONE, NONE, false, false},
	{SYS_stat, WANT_LOOK, NONE, 0, NONE, NONE, NONE, false, false},
	{SYS_lstat, WANT_LOOK, NONE, 0, NONE, NONE, NONE, true, false},
	{SYS_readlink, WANT_LOOK, NONE, 0, NONE, NONE, NONE, true, false},
	{SYS_utime, WANT_CHANGE, NONE, 0, NONE, NONE, NONE, false, false},
	{SYS_utimes, WANT_CHANGE, NONE, 0, NONE, NONE, NONE, false, false},
	{SYS_futimesat, WANT_CHANGE, 0, 1, NONE, NONE, NONE, false, false},
	{SYS_chown, WANT_CHANGE, NONE, 0, NONE, NONE, NONE, false, false},
	{SYS_lchown, WANT_CHANGE, NONE, 0, NONE, NONE, NONE, true, false},
#endif
#ifdef SYS_renameat
	{SYS_renameat, WANT_RENAME, 0, 1, NONE, 2, 3, true, false},
#endif
	{SYS_faccessat, WANT_LOOK, 0, 1, NONE, NONE, NONE, false, false},
	{SYS_faccessat2, WANT_LOOK, 0, 1, NONE, NONE, NONE, false, false},
	{SYS_chdir, WANT_ENTER, NONE, 0, NONE, NONE, NONE, false, false},
	{SYS_unlinkat, WANT_REMOVE, 0, 1, NONE, NONE, NONE, true, false},
	{SYS_mkdirat, WANT_NEW, 0, 1, NONE, NONE, NONE, true, false},
	{SYS_mknodat, WANT_NEW, 0, 1, NONE, NONE, NONE, true, false},
	{SYS_renameat2, WANT_RENAME, 0, 1, NONE, 2, 3, true, false},
	{SYS_linkat, WANT_LINK, 0, 1, NONE, 2, 3, true, false},
	{SYS_symlinkat, WANT_NEW, 1, 2, NONE, NONE, NONE, true, false},
	{SYS_fchmodat, WANT_CHANGE, 0, 1, NONE, NONE, NONE, false, false},
	{SYS_truncate, WANT_CHANGE, NONE, 0, NONE, NONE, NONE, false, true},
	{SYS_execve, WANT_EXECUTE, NONE, 0, NONE, NONE, NONE, false, false},
	{SYS_execveat, WANT_EXECUTE, 0, 1, NONE, NONE, NONE, false, false},
	/* asked about for --watch-fd alone */
	{SYS_newfstatat, WANT_LOOK, 0, 1, 3, NONE, NONE, false, false},
	{SYS_statx, WANT_LOOK, 0, 1, 2, NONE, NONE, false, false},
	{SYS_readlinkat, WANT_LOOK, 0, 1, NONE, NONE, NONE, true, false},
	{SYS_statfs, WANT_LOOK, NONE, 0, NONE, NONE, NONE, false, false},
	{SYS_getxattr, WANT_LOOK, NONE, 0, NONE, NONE, NONE, false, false},
	{SYS_lgetxattr, WANT_LOOK, NONE, 0, NONE, NONE, NONE, true, false},
	{SYS_listxattr, WANT_LOOK, NONE, 0, NONE, NONE, NONE, false, false},
	{SYS_llistxattr, WANT_LOOK, NONE, 0, NONE, NONE, NONE, true, false},
	{SYS_inotify_add_watch, WANT_READ, NONE, 1, NONE, NONE, NONE, false, false},
	{SYS_utimensat, WANT_CHANGE, 0, 1, NONE, NONE, NONE, false, false},
	{SYS_fchownat, WANT_CHANGE, 0, 1, NONE, NONE, NONE, false, false},
	{SYS_setxattr, WANT_CHANGE, NONE, 0, NONE, NONE, NONE, false, false},
	{SYS_lsetxattr, WANT_CHANGE, NONE, 0, NONE, NONE, NONE, true, false},
	{SYS_removexattr, WANT_CHANGE, NONE, 0, NONE, NONE, NONE, false, false},
	{SYS_lremovexattr, WANT_CHANGE, NONE, 0, NONE, NONE, NONE, true, false},
};

static const struct path_call *find_call(int number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

/* What an open is for, by its flags. */
static void read_flags(struct judge_question *question, uint64_t flags)
{
	if ((flags & O_CREAT) != 0)
		question->want = WANT_CREATE;
	else if ((flags & (O_WRONLY | O_RDWR | O_TRUNC)) != 0)
		question->want = WANT_WRITE;
	else if ((flags & O_PATH) != 0)
		question->want = WANT_LOOK;
	/* a file without a name is made in the folder that is opened */
	if ((flags & __O_TMPFILE) != 0 && question->want != WANT_READ)
		question->want = WANT_MAX;
	question->no_follow = (flags & O_NOFOLLOW) != 0;
	question->truncates = (flags & O_TRUNC) != 0;
}

/* "x/" is the folder x, where a call makes, removes or moves folders. */
static bool may_end_in_slash(const struct seccomp_data *data)
{
	switch (data->nr) {
#ifdef SYS_open
	case SYS_mkdir:
	case SYS_rmdir:
	case SYS_rename:
#endif
#ifdef SYS_renameat
	case SYS_renameat:
#endif
	case SYS_mkdirat:
	case SYS_renameat2:
		return true;
	case SYS_unlinkat:
		return (data->args[2] & AT_REMOVEDIR) != 0;
	default:
		return false;
	}
}

static void cut_slashes(char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
}

static bool path_question(struct notify *notify, const struct seccomp_notif *request,
			  struct judge_question *question)
{
	const struct path_call *call = find_call(request->data.nr);
	struct notify_room *room = notify->room;

	if (call == NULL)
		return false;
	*question = (struct judge_question){.want = call->want,
					    .path = room->path,
					    .no_follow = call->no_follow,
					    .truncates = call->truncates};
	if (call->flags != NONE && call->want == WANT_LOOK)
		question->no_follow = (request->data.args[call->flags] & AT_SYMLINK_NOFOLLOW) != 0;
	else if (call->flags != NONE)
		read_flags(question, request->data.args[call->flags]);
	if (question->want == WANT_MAX ||
	    notify_read_path(request, call->dir, call->path, room->path) != 0)
		return false;
	if (call->other != NONE) {
		if (notify_read_path(request, call->other_dir, call->other, room->other) != 0)
			return false;
		question->other = room->other;
	}
	if (may_end_in_slash(&request->data)) {
		cut_slashes(room->path);
		if (call->other != NONE)
			cut_slashes(room->other);
	}
	return true;
}

static unsigned port_of(const union notify_address *address)
{
	return address->any.sa_family == AF_INET    ? ntohs(address->in.sin_port)
	       : address->any.sa_family == AF_INET6 ? ntohs(address->in6.sin6_port)
						    : 0;
}

static bool is_own(const union notify_address *address)
{
	const struct in6_addr *in6 = &address->in6.sin6_addr;
	uint32_t number = ntohl(address->in.sin_addr.s_addr);

	if (address->any.sa_family == AF_INET)
		return number >> 24 == 127 || number == 0;
	return IN6_IS_ADDR_LOOPBACK(in6) || IN6_IS_ADDR_UNSPECIFIED(in6) ||
	       (IN6_IS_ADDR_V4MAPPED(in6) && in6->s6_addr[12] == 127) || IN6_IS_ADDR_LINKLOCAL(in6);
}

/*
 * Nothing but loopback is in a network namespace of the run's own. Whoever looks a name up asks
 * there, at the port of name servers: none is there unless the program is one.
 */
static void judge_address(struct notify *notify, const struct seccomp_notif *request,
			  const union notify_address *address)
{
	char name[INET6_ADDRSTRLEN], text[sizeof(name) + 16];
	bool four = address->any.sa_family == AF_INET, own;

	if (!four && address->any.sa_family != AF_INET6)
		return;
	own = is_own(address);
	if (own && (port_of(address) != NAMES_PORT || notify->serves_names))
		return;
	inet_ntop(address->any.sa_family,
		  four ? (const void *)&address->in.sin_addr : &address->in6.sin6_addr, name,
		  sizeof(name));
	snprintf(text, sizeof(text), four ? "%s:%u" : "[%s]:%u", name, port_of(address));
	notify_write_down(notify, request,
			  &(struct record_denial){.boundary = BOUNDARY_NETWORK,
						  .op = own ? "resolve" : "connect",
						  .object = text,
						  .count = 1,
						  .errnum = own ? ECONNREFUSED : ENETUNREACH,
						  .permit = "[network] mode = host"});
}

/* Where it listens: what the profile's `listen` would lead to. */
static void watch_port(struct notify *notify, const struct seccomp_notif *request,
		       const union notify_address *address)
{
	unsigned port = port_of(address);
	char text[16];

	snprintf(text, sizeof(text), "%u", port);
	if (port != 0 && notify_is_valid(notify, request->id))
		watch_word(notify->watch, WATCH_PORT, text);
}

/* connect and bind: by path where the socket is a UNIX one. */
static bool socket_question(struct notify *notify, const struct seccomp_notif *request,
			    struct judge_question *question)
{
	const __u64 *args = request->data.args;
	union notify_address address = {.any.sa_family = AF_UNSPEC};
	size_t size = args[2] < sizeof(address) ? (size_t)args[2] : sizeof(address);
	bool connects = request->data.nr == SYS_connect;
	char name[sizeof(address.un.sun_path) + 1] = "";

	if (size < sizeof(sa_family_t) ||
	    notify_read_bytes((pid_t)request->pid, args[1], &address, size) != 0)
		return false;
	if (address.any.sa_family != AF_UNIX) {
		if (!connects && notify->watch != NULL)
			watch_port(notify, request, &address);
		if (connects && notify->has_own_network)
			judge_address(notify, request, &address);
		notify->serves_names |= !connects && port_of(&address) == NAMES_PORT;
		return false;
	}
	size_t before = offsetof(struct sockaddr_un, sun_path);
	if (size <= before || address.un.sun_path[0] == '\0')
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(size - before), address.un.sun_path);
	*question = (struct judge_question){.want = connects ? WANT_CONNECT : WANT_NEW,
					    .path = notify->room->path,
					    .no_follow = !connects};
	return notify_find_path((pid_t)request->pid, AT_FDCWD, name, notify->room->path) == 0;
}

/* Neither a path nor an address: what is mapped, and calls that whole sets of calls rest on. */
static bool watch_rest(struct notify *notify, const struct seccomp_notif *request)
{
	char what[32], name[SYSCALL_NAME_MAX];
	pid_t pid = (pid_t)request->pid;

	int nr = request->data.nr;
	if (nr == SYS_mmap || nr == SYS_getcwd) {
		snprintf(what, sizeof(what), nr == SYS_mmap ? "fd/%d" : "cwd",
			 (int)request->data.args[4]);
		if (notify_read_link(pid, what, notify->room->path) == 0 &&
		    notify_is_valid(notify, request->id))
			watch_place(notify->watch, notify->judge,
				    nr == SYS_mmap ? WATCH_MAPPED : WATCH_CWD, notify->room->path);
		return true;
	}
	if (find_call(nr) != NULL)
		return false;
	watch_word(notify->watch, WATCH_CALL, syscall_name(nr, name));
	return true;
}

static void watch_question(struct notify *notify, const struct seccomp_notif *request,
			   const struct judge_question *question)
{
	/* gone meanwhile: what was read may have been another's */
	if (!notify_is_valid(notify, request->id))
		return;
	if (question->want != WANT_LOOK)
		watch_files(notify->watch, (pid_t)request->pid);
	watch_use(notify->watch, notify->judge, question);
}

static bool is_judged(struct notify *notify)
{
	if (notify->judge == NULL || notify->judge->root_fd < 0)
		return false;
	if (notify->room == NULL)
		notify->room = arena_alloc(notify->arena, sizeof(*notify->room));
	return true;
}

static void judge_question(struct notify *notify, const struct seccomp_notif *request,
			   const struct judge_question *question)
{
	struct notify_room *room = notify->room;
	struct record_denial denial = {.count = 1};

	if (!judge(notify->judge, question, &room->found))
		return;
	judge_describe(notify->judge, question, &room->found, room->text, &denial);
	notify_write_down(notify, request, &denial);
}

void notify_path(struct notify *notify, const struct seccomp_notif *request)
{
	bool socket = request->data.nr == SYS_connect || request->data.nr == SYS_bind;
	struct judge_question question;

	if (!is_judged(notify) ||
	    (notify->watch != NULL && !socket && watch_rest(notify, request)) ||
	    !(socket ? socket_question(notify, request, &question)
		     : path_question(notify, request, &question)))
		return;
	if (notify->watch != NULL)
		watch_question(notify, request, &question);
	/* who only watches asks about far more names than anybody is denied */
	if (notify->watch == NULL || question.want != WANT_LOOK)
		judge_question(notify, request, &question);
}

void notify_found(struct notify *notify, const struct seccomp_notif *request, const char *path,
		  int fd)
{
	if (is_judged(notify))
		judge_question(notify, request,
			       &(struct judge_question){.want = WANT_EXECUTE,
							.path = path,
							.is_found = true,
							.found_fd = fd});
}
