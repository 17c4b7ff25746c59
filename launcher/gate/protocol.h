// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_PROTOCOL_H
#define SBOX_PROTOCOL_H

/*
 * Between the launcher and sbox-gate.
 *
 * Start: exec of sbox-gate without arguments, in the host's network namespace, as the caller (root
 * or not), its parent the supervisor. Descriptor 3 (GATE_CONTROL_FD) is one end of a
 * socketpair(AF_UNIX, SOCK_SEQPACKET); 0, 1 and 2 are /dev/null. Whatever else is open, the gate
 * closes. It reads /etc/resolv.conf and /etc/hosts, then waits:
 *
 *   down  SETUP, then RULES, PINS, SOCKETS in any order and number, then START
 *   up    READY, when it is confined and serves (or FAILED, and its end)
 *   up    NAME, CONNECTION, TALLY, ATTEMPT, TOTALS while it serves
 *   down  END (or end of file, or the supervisor's death)
 *   up    what was not told yet, a CONNECTION for each that was still open, TOTALS, DONE; its end
 *
 * SETUP to PINS need nothing of the sandbox and can be sent while that is being built. SOCKETS are
 * made in the sandbox's network namespace. READY is waited for before the program gets its first
 * socket: nothing is answered before it.
 *
 * One message is one struct, with its true size; numbers in the machine's order. The gate's end
 * without DONE is a fault of the gate: sockets close, connections are reset, nothing opens.
 *
 * Events are bounded by the gate: a flood costs counters. It never waits for the supervisor to
 * read: what cannot be sent is told by a later message (NAME, TALLY, ATTEMPT, TOTALS carry
 * totals so far, and the last one with an index stands), and CONNECTIONs that found no room are
 * counted in totals.untold.
 */

#include "rules.h"

enum {
	GATE_CONTROL_FD = 3,
	GATE_VERSION = 1,
	GATE_MESSAGE_BYTES = 16384, /* no message is larger */
	GATE_BATCH_RULES = 32,
	GATE_BATCH_SOCKETS = 16,
	GATE_TEXT_BYTES = 512,
	/* How many different ones of each a run can have told singly. */
	GATE_NAMES_TOLD = 1024,
	GATE_CONNECTIONS_TOLD = 1024,
	GATE_TALLIES_TOLD = 512,
	GATE_ATTEMPTS_TOLD = 1024,
};

enum gate_type {
	/* down */
	GATE_SETUP = 1,
	GATE_RULES,
	GATE_PINS,
	GATE_SOCKETS,
	GATE_START,
	GATE_END,
	GATE_DRAIN,
	/* up */
	GATE_READY = 101,
	GATE_FAILED,
	GATE_NAME,
	GATE_CONNECTION,
	GATE_TALLY,
	GATE_ATTEMPT,
	GATE_TOTALS,
	GATE_DONE,
};

struct gate_head {
	uint32_t type; /* enum gate_type; START, END, READY, DONE are only this */
	uint32_t size; /* of the whole message */
};

/* The program is over: what it sent last is delivered, for so long at most, then as END. */
struct gate_drain {
	struct gate_head head;
	uint32_t most_ms;
};

struct gate_setup {
	struct gate_head head;
	uint32_t version;    /* GATE_VERSION */
	uint32_t supervisor; /* pid: another parent ends the gate */
	/* What the gate becomes; UINT32_MAX: stays what it is. As root it refuses to stay, and 0.
	 */
	uint32_t uid, gid;
	uint32_t connections;    /* at once; 0: 4096. Fewer when descriptors do not suffice. */
	uint32_t wildcard_names; /* different names below *.NAME rules a run; 0: 1024 */
	uint32_t names_net;   /* v4, network order: names get addresses of this /15; 0: 198.18.0.0.
				 Its .0 and .1 stay free. */
	uint8_t sni_optional; /* sni = optional */
	uint8_t spare[7];
};

struct gate_rules {
	struct gate_head head;
	uint32_t count;
	struct rule rules[GATE_BATCH_RULES];
};

struct gate_pins {
	struct gate_head head;
	uint32_t count;
	struct rule_pin pins[GATE_BATCH_RULES];
};

/*
 * Sockets of the sandbox's network namespace, except PUBLISHED. All may be blocking or not: the
 * gate sets what it needs (O_NONBLOCK, IP_PKTINFO and IPV6_RECVPKTINFO). Listeners listen already.
 */
enum gate_socket_kind {
	GATE_DNS_UDP4 = 1, /* bound to port 53; answers leave from the address that was asked */
	GATE_DNS_UDP6,
	GATE_DNS_TCP4,
	GATE_DNS_TCP6,
	GATE_TCP4, /* listener: the local address of what it accepts is the one that is meant */
	GATE_TCP6, /* (IP_TRANSPARENT with TPROXY, or a wildcard address); v6 only */
	/* Raw sockets that see the kernel's refusals, filtered or not (the gate looks again):
	 * IPPROTO_TCP: resets with sequence 0; IPPROTO_ICMP(V6): port unreachable. */
	GATE_RAW_TCP4,
	GATE_RAW_TCP6,
	GATE_RAW_ICMP4,
	GATE_RAW_ICMP6,
	/* listen = INSIDE:HOST */
	GATE_PUBLISHED, /* listener on the host's loopback, made by the launcher; port: inside */
	GATE_INSIDE4,   /* TCP sockets, not bound, not connected: each carries one connection to */
	GATE_INSIDE6,   /* 127.0.0.1 or ::1 inside at a time. None of a family: it is not tried. */
};

struct gate_sockets {
	struct gate_head head;
	uint32_t count; /* and as many descriptors in one SCM_RIGHTS, in this order */
	struct {
		uint16_t kind; /* enum gate_socket_kind */
		uint16_t port; /* PUBLISHED: the port inside, host order; else 0 */
	} sockets[GATE_BATCH_SOCKETS];
};

/* --- up --- */

struct gate_failed {
	struct gate_head head;
	uint32_t errnum; /* or 0 */
	uint32_t rule;   /* the rule that is at fault, or 0 */
	char text[GATE_TEXT_BYTES];
};

struct gate_address {
	struct rule_address ip;
	uint16_t port; /* host order */
};

enum gate_verdict {
	GATE_ANSWERED = 1, /* allowed; it has an address */
	GATE_NO_SUCH_NAME, /* allowed; the host's name servers say there is none, or no address */
	GATE_NO_ANSWER,    /* allowed; the host's name servers did not answer usefully */
	GATE_NOT_ALLOWED,  /* no rule, or a deny rule: did not leave the sandbox */
	GATE_MALFORMED,    /* not a host name: did not leave the sandbox */
	GATE_TOO_MANY, /* allowed by *.NAME, but that rule's names are used up, or it is too long */
};

/* A name that was asked for. */
struct gate_name {
	struct gate_head head;
	uint32_t index;    /* from 0, below GATE_NAMES_TOLD */
	uint32_t rule;     /* the rule that decided, or 0 */
	uint64_t count;    /* so far */
	uint64_t first_ms; /* Unix time of the first */
	uint16_t question; /* DNS type of the last: 1 A, 28 AAAA, 33 SRV, … */
	uint8_t verdict;   /* enum gate_verdict, of the last */
	uint8_t spare;
	char name[RULE_NAME_BYTES]; /* printable: other bytes as \DDD, cut when too long */
};

enum gate_why {
	GATE_OPEN = 0,      /* it goes on: the message that tells of its begin */
	GATE_FINISHED,      /* both sides closed */
	GATE_RESET_INSIDE,  /* the program reset it */
	GATE_RESET_OUTSIDE, /* the other side reset it, or it broke (errnum) */
	GATE_ENDED,         /* the run ended */
	/* No connection to the outside stood: */
	GATE_NO_RULE,      /* nothing allows it */
	GATE_DENY_RULE,    /* a deny rule forbids it */
	GATE_BAD_ADDRESS,  /* the name has only addresses of a class that has to be named */
	GATE_NOT_RESOLVED, /* the name has no address now */
	GATE_NOT_REACHED,  /* no address could be connected to (errnum of the last) */
	GATE_FULL,         /* too many connections, or no descriptor */
	/* It was connected to the outside, which saw nothing of what the program sent: */
	GATE_OTHER_NAME, /* TLS or HTTP for another name (server_name) */
	GATE_NO_NAME,    /* TLS without a server name */
	GATE_BAD_HELLO,  /* neither to be read as TLS nor as HTTP, where it had to be */
	GATE_SLOW_HELLO, /* began and did not go on in time */
};

/* What an address is, when that speaks against it. */
enum gate_class {
	GATE_PUBLIC = 0,
	GATE_OWN,     /* an address of the host itself */
	GATE_PRIVATE, /* 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7 … */
	GATE_LOOPBACK,
	GATE_LINK_LOCAL,
	GATE_METADATA, /* where clouds keep credentials */
	GATE_MULTICAST,
	GATE_RESERVED, /* everything else that is not for use between hosts */
};

struct gate_connection {
	struct gate_head head;
	uint64_t id;       /* from 1; OPEN and the end have the same */
	uint32_t rule;     /* or 0 */
	uint8_t why;       /* enum gate_why */
	uint8_t published; /* 1: from the host's loopback to inside */
	uint8_t class;     /* enum gate_class of what was refused by BAD_ADDRESS */
	uint8_t spare;
	uint32_t errnum;
	uint32_t dial_us;            /* from accept to connected */
	uint64_t start_ms;           /* Unix time */
	uint64_t ms;                 /* it lasted */
	uint64_t sent, received;     /* bytes from the program, to the program */
	struct gate_address asked;   /* what the program connected to; published: who connected */
	struct gate_address dialled; /* family 0: nothing was */
	char name[RULE_NAME_BYTES];  /* "" for a literal address */
	char server_name[RULE_NAME_BYTES]; /* TLS server name or HTTP host, if seen, printable */
};

/* Connections beyond the GATE_CONNECTIONS_TOLD that were told singly, by destination. */
struct gate_tally {
	struct gate_head head;
	uint32_t index; /* from 0; the last one, GATE_TALLIES_TOLD - 1, is for all that found no
			   room */
	uint32_t rule;
	uint8_t why; /* one tally for each way of ending */
	uint8_t published;
	uint8_t spare[2];
	uint64_t count, ms, sent, received; /* sums so far */
	struct gate_address asked;
	char name[RULE_NAME_BYTES];
};

/* Something that the kernel refused inside: no gate there. */
struct gate_attempt {
	struct gate_head head;
	uint32_t index;   /* from 0; the last one is for all that found no room: address family 0 */
	uint8_t protocol; /* IPPROTO_TCP, IPPROTO_UDP, … */
	uint8_t spare[3];
	uint64_t count, first_ms;
	struct gate_address address;
	char name[RULE_NAME_BYTES]; /* whose address inside that is, or "" */
};

struct gate_totals {
	struct gate_head head;
	uint64_t names, names_refused; /* questions */
	uint64_t names_untold;         /* questions whose name found no room in GATE_NAME */
	uint64_t wildcard_names, wildcard_bytes; /* different ones; bytes in their labels */
	uint64_t connections, connections_refused;
	uint64_t connections_most; /* at once */
	uint64_t attempts;
	uint64_t sent, received;
	uint64_t untold; /* CONNECTION events that found no room */
};

#endif
