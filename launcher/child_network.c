// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "child.h"
#include "sys.h"

/*
 * The network of a sandbox with a gate: messages to the kernel that were written
 * before, and sockets that the gate, outside, will use. Nothing is decided here.
 */

/* One answer: 0 to go on waiting, 1 all is done, -1 errno. */
static int read_answers(const char *bytes, size_t length, uint32_t answered)
{
	for (size_t at = 0; at + sizeof(struct nlmsghdr) <= length;) {
		const struct nlmsghdr *header = (const void *)(bytes + at);
		const struct nlmsgerr *error = NLMSG_DATA(header);

		if (header->nlmsg_len < sizeof(*header) || header->nlmsg_len > length - at)
			break;
		if (header->nlmsg_type == NLMSG_ERROR && error->error != 0) {
			errno = -error->error;
			return -1;
		}
		if (header->nlmsg_type == NLMSG_ERROR && header->nlmsg_seq == answered)
			return 1;
		at += NLMSG_ALIGN(header->nlmsg_len);
	}
	return 0;
}

static int talk(int fd, const struct network_batch *batch)
{
	_Alignas(struct nlmsghdr) char answer[8192];
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	int state = 0;

	if (sendto(fd, batch->bytes, batch->length, 0, (const struct sockaddr *)&kernel,
		   sizeof(kernel)) != (ssize_t)batch->length)
		return -1;
	/* the kernel has answered before sendto() returns: nothing is waited for */
	while (state == 0) {
		ssize_t length = recvfrom(fd, answer, sizeof(answer), MSG_DONTWAIT, NULL, NULL);

		if (length <= 0)
			return -1;
		state = read_answers(answer, (size_t)length, batch->answered);
	}
	return state > 0 ? 0 : -1;
}

static int set_routes(const struct network_setup *setup)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return -1;
	int failed = talk(fd, &setup->routes4);
	/* a machine without IPv6, or with it switched off: nothing of it is reachable then */
	if (failed == 0 && talk(fd, &setup->routes6) != 0)
		errno = 0;
	int saved = errno;
	close(fd);
	errno = saved;
	return failed;
}

static int talk_to_netfilter(const struct network_batch *batch)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);

	if (fd < 0)
		return -1;
	int failed = talk(fd, batch);
	int saved = errno;
	close(fd);
	errno = saved;
	return failed;
}

/* The program's ports are all its own. Where /proc/sys cannot be written (containers) it
 * has those from 1024 on. */
static void free_low_ports(const struct child *child)
{
	int fd = openat(child->proc_fd, "sys/net/ipv4/ip_unprivileged_port_start",
			O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	ssize_t done = write(fd, "0", 1);
	(void)done;
	close(fd);
}

static int set_options(int fd, const struct network_socket *wanted)
{
	const int on = 1;
	bool six = wanted->family == AF_INET6;

	if (six && wanted->type != SOCK_RAW &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) != 0)
		return -1;
	if (wanted->transparent &&
	    setsockopt(fd, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_TRANSPARENT : IP_TRANSPARENT,
		       &on, sizeof(on)) != 0)
		return -1;
	if (wanted->filter == NULL)
		return 0;
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, wanted->filter,
			  sizeof(*wanted->filter)) != 0 ||
			       setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &on, sizeof(on)) != 0
		       ? -1
		       : 0;
}

static int serve(int fd, const struct network_socket *wanted)
{
	if (wanted->address == NULL)
		return 0;
	if (bind(fd, wanted->address, wanted->address_size) != 0)
		return -1;
	return wanted->type == SOCK_STREAM ? listen(fd, SOMAXCONN) : 0;
}

/* 0, or what failed. */
static int make_socket(const struct network_socket *wanted, int *ret_fd)
{
	int fd = socket(wanted->family, wanted->type | SOCK_CLOEXEC | SOCK_NONBLOCK,
			wanted->protocol);

	if (fd < 0)
		return FAILED_SOCKET;
	if (set_options(fd, wanted) != 0 || serve(fd, wanted) != 0) {
		int saved = errno;

		close(fd);
		errno = saved;
		return FAILED_ADDRESS;
	}
	*ret_fd = fd;
	return 0;
}

struct parcel {
	struct message message;
	int fds[MESSAGE_FDS_MAX];
	size_t count;
};

static int send_parcel(const struct child *child, struct parcel *parcel)
{
	parcel->message.kind = MESSAGE_GATE;
	int failed = child_send(child->control_fd, &parcel->message, parcel->fds, parcel->count);
	for (size_t i = 0; i < parcel->count; i++)
		close(parcel->fds[i]);
	*parcel = (struct parcel){0};
	return failed != 0 ? FAILED_SEND : 0;
}

/* All or none of them. */
static int add_copies(struct parcel *parcel, const struct network_setup *setup, size_t index)
{
	const struct network_socket *wanted = &setup->sockets[index];
	size_t before = parcel->count;
	int failed = 0;

	while (failed == 0 && parcel->count - before < wanted->copies) {
		failed = make_socket(wanted, &parcel->fds[parcel->count]);
		parcel->count += failed == 0;
	}
	if (failed == 0)
		parcel->message.made |= 1U << index;
	else
		while (parcel->count > before)
			close(parcel->fds[--parcel->count]);
	return wanted->optional ? 0 : failed;
}

/* Those with many copies stand last in the list. */
static int send_sockets(const struct child *child, const struct network_setup *setup)
{
	struct parcel parcel = {0};

	for (size_t i = 0; i < setup->socket_count; i++) {
		if (setup->sockets[i].copies > 1 && parcel.count > 0 &&
		    send_parcel(child, &parcel) != 0)
			return FAILED_SEND;
		int failed = add_copies(&parcel, setup, i);
		if (failed != 0)
			return failed;
	}
	parcel.message.last = 1;
	return send_parcel(child, &parcel);
}

/*
 * Later: what a visitor needs, while init may open it, and what can be known now. TPROXY cannot:
 * the kernel has no answer to that without a hook or a grace period of RCU, which is what is saved
 * here.
 */
static int send_namespace(const struct child *child, const struct network_setup *setup)
{
	const struct message message = {.kind = MESSAGE_NETWORK};

	if (talk_to_netfilter(&setup->probe) != 0)
		return FAILED_FILTER;
	int fd = openat(child->proc_fd, "self/ns/net", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return FAILED_NAMESPACE;
	int failed = child_send(child->control_fd, &message, &fd, 1);
	close(fd);
	return failed != 0 ? FAILED_SEND : 0;
}

int child_gate(struct child *child, const struct step *step)
{
	const struct network_setup *setup = step->network;

	if (step->flags == 1)
		return send_namespace(child, setup);
	if (set_routes(setup) != 0)
		return FAILED_ROUTES;
	if (talk_to_netfilter(&setup->filter) != 0)
		return FAILED_FILTER;
	free_low_ports(child);
	return send_sockets(child, setup);
}
