// SPDX-License-Identifier: Apache-2.0
/*
 * What was refused, in words. A number without a name becomes one text for
 * all ("an unknown option"): a program must not fill the table of denials by
 * counting upwards.
 */
#include <asm/ioctls.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "filter_args.h"

struct named {
	uint32_t value;
	const char *name;
};

#define NAMED(value)                                                                               \
	{                                                                                          \
		value, #value                                                                      \
	}

/* Families newer than the C library's headers by number. */
static const struct named families[] = {
	NAMED(AF_UNSPEC),     NAMED(AF_UNIX),      NAMED(AF_INET),     NAMED(AF_AX25),
	NAMED(AF_IPX),        NAMED(AF_APPLETALK), NAMED(AF_NETROM),   NAMED(AF_BRIDGE),
	NAMED(AF_ATMPVC),     NAMED(AF_X25),       NAMED(AF_INET6),    NAMED(AF_ROSE),
	NAMED(AF_DECnet),     NAMED(AF_NETBEUI),   NAMED(AF_SECURITY), NAMED(AF_KEY),
	NAMED(AF_NETLINK),    NAMED(AF_PACKET),    NAMED(AF_ASH),      NAMED(AF_ECONET),
	NAMED(AF_ATMSVC),     NAMED(AF_RDS),       NAMED(AF_SNA),      NAMED(AF_IRDA),
	NAMED(AF_PPPOX),      NAMED(AF_WANPIPE),   NAMED(AF_LLC),      NAMED(AF_IB),
	NAMED(AF_MPLS),       NAMED(AF_CAN),       NAMED(AF_TIPC),     NAMED(AF_BLUETOOTH),
	NAMED(AF_IUCV),       NAMED(AF_RXRPC),     NAMED(AF_ISDN),     NAMED(AF_PHONET),
	NAMED(AF_IEEE802154), NAMED(AF_CAIF),      NAMED(AF_ALG),      NAMED(AF_NFC),
	NAMED(AF_VSOCK),      NAMED(AF_KCM),       NAMED(AF_QIPCRTR),  NAMED(AF_SMC),
	NAMED(AF_XDP),        {45, "AF_MCTP"},     {0, NULL},
};

static const struct named socket_types[] = {
	NAMED(SOCK_STREAM),    NAMED(SOCK_DGRAM), NAMED(SOCK_RAW),    NAMED(SOCK_RDM),
	NAMED(SOCK_SEQPACKET), NAMED(SOCK_DCCP),  NAMED(SOCK_PACKET), {0, NULL},
};

static const struct named protocols[] = {
	NAMED(IPPROTO_ICMP),    NAMED(IPPROTO_ICMPV6), NAMED(IPPROTO_SCTP), NAMED(IPPROTO_UDPLITE),
	NAMED(IPPROTO_TCP),     NAMED(IPPROTO_UDP),    NAMED(IPPROTO_IGMP), NAMED(IPPROTO_RAW),
	{262, "IPPROTO_MPTCP"}, {256, "IPPROTO_SMC"},  {0, NULL},
};

static const struct named netlinks[] = {
	NAMED(NETLINK_ROUTE),          NAMED(NETLINK_USERSOCK),
	NAMED(NETLINK_SOCK_DIAG),      NAMED(NETLINK_NFLOG),
	NAMED(NETLINK_XFRM),           NAMED(NETLINK_SELINUX),
	NAMED(NETLINK_AUDIT),          NAMED(NETLINK_FIB_LOOKUP),
	NAMED(NETLINK_CONNECTOR),      NAMED(NETLINK_NETFILTER),
	NAMED(NETLINK_KOBJECT_UEVENT), NAMED(NETLINK_GENERIC),
	NAMED(NETLINK_SCSITRANSPORT),  NAMED(NETLINK_RDMA),
	NAMED(NETLINK_CRYPTO),         {0, NULL},
};

static const struct named ioctls[] = {
	NAMED(TIOCSTI),      NAMED(TIOCLINUX),      NAMED(TIOCCONS),
	NAMED(TIOCSETD),     NAMED(TIOCSSERIAL),    NAMED(TIOCVHANGUP),
	NAMED(TIOCSRS485),   NAMED(TIOCSERCONFIG),  NAMED(TIOCSERGWILD),
	NAMED(TIOCSERSWILD), NAMED(TIOCSLCKTRMIOS), NAMED(TIOCSERSETMULTI),
	NAMED(FIFREEZE),     NAMED(FITHAW),         {0, NULL},
};

static const struct named prctls[] = {
	{28, "PR_SET_SECUREBITS"},
	{31, "PR_TASK_PERF_EVENTS_DISABLE"},
	{32, "PR_TASK_PERF_EVENTS_ENABLE"},
	{33, "PR_MCE_KILL"},
	{35, "PR_SET_MM"},
	{43, "PR_MPX_ENABLE_MANAGEMENT"},
	{44, "PR_MPX_DISABLE_MANAGEMENT"},
	{57, "PR_SET_IO_FLUSHER"},
	{62, "PR_SCHED_CORE"},
	{67, "PR_SET_MEMORY_MERGE"},
	{77, "PR_TIMER_CREATE_RESTORE_IDS"},
	{0x59616d61, "PR_SET_PTRACER"},
	{0, NULL},
};

/* In the order in which one of several is named. */
static const struct named namespaces[] = {
	NAMED(CLONE_NEWUSER),   NAMED(CLONE_NEWNS),      NAMED(CLONE_NEWPID),
	NAMED(CLONE_NEWNET),    NAMED(CLONE_NEWIPC),     NAMED(CLONE_NEWUTS),
	NAMED(CLONE_NEWCGROUP), {0x80, "CLONE_NEWTIME"}, {0, NULL},
};

static const struct named file_types[] = {
	{S_IFCHR, "character device"},
	{S_IFBLK, "block device"},
	{0, NULL},
};

static const char *find(const struct named *list, uint32_t value, const char *otherwise)
{
	for (; list->name != NULL; list++)
		if (list->value == value)
			return list->name;
	return otherwise;
}

static const char *find_bit(const struct named *list, uint64_t bits, const char *otherwise)
{
	for (; list->name != NULL; list++)
		if ((bits & list->value) != 0)
			return list->name;
	return otherwise;
}

static const char *name_of(enum arg_object object, uint64_t arg)
{
	uint32_t value = (uint32_t)arg;

	switch (object) {
	case OBJECT_FAMILY:
		return find(families, value, "an unknown family");
	case OBJECT_SOCKET_TYPE:
		return find(socket_types, value & 0xf, "an unknown type");
	case OBJECT_PROTOCOL:
		return find(protocols, value, "an unusual protocol");
	case OBJECT_NETLINK:
		return find(netlinks, value, "an unusual netlink protocol");
	case OBJECT_IOCTL:
		return find(ioctls, value, "an unknown command");
	case OBJECT_PRCTL:
		return find(prctls, value, "an unknown option");
	case OBJECT_PERSONALITY:
		return "an unusual personality";
	case OBJECT_NAMESPACE:
		return find_bit(namespaces, arg, "unknown flags");
	case OBJECT_SECCOMP:
		return "SECCOMP_FILTER_FLAG_NEW_LISTENER";
	case OBJECT_FILE_TYPE:
		return find(file_types, value & S_IFMT, "unknown file type");
	case OBJECT_PID_1:
	case OBJECT_NONE:
	case OBJECT_MODE:
		break;
	}
	return NULL;
}

bool arg_object_text(const struct arg_row *row, const uint64_t args[6], char *buf, size_t size)
{
	uint64_t arg = args[row->object_arg];
	const char *name = name_of(row->object, arg);

	if (row->object == OBJECT_PID_1) {
		snprintf(buf, size, "pid 1");
		return true;
	}
	if (row->object == OBJECT_MODE)
		snprintf(buf, size, "mode %04o", (unsigned)(arg & 07777));
	else if (name != NULL)
		snprintf(buf, size, "%s", name);
	return row->object != OBJECT_NONE;
}
