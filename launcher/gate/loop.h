// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_LOOP_H
#define SBOX_LOOP_H

/*
 * One epoll loop. A watch belongs to one descriptor and lies inside whatever owns that. Timers have
 * few different durations, and one queue for each: the first of a queue is always the next.
 */

#include <stdbool.h>
#include <stdint.h>

struct watch {
	void (*ready)(struct watch *watch, uint32_t events);
	int fd; /* -1: none */
};

enum timer_kind {
	TIMER_FLUSH,  /* counters that changed are told */
	TIMER_NEXT,   /* happy eyeballs: the next address is tried too */
	TIMER_SETTLE, /* the other family's answer is not waited for any longer */
	TIMER_HELLO,  /* the rest of a ClientHello or HTTP head */
	TIMER_IDLE,   /* a DNS connection that says nothing */
	TIMER_DIAL,   /* all addresses together */
	TIMER_KINDS,
};

struct timer {
	void (*due)(struct timer *timer);
	struct timer *next, **link; /* link: what points here; NULL: not set */
	uint64_t at_ms;
	enum timer_kind kind;
};

/* Something to be done again before the loop waits: a relay that used up its turn. */
struct task {
	void (*run)(struct task *task);
	struct task *next, **link; /* as in a timer */
};

int loop_init(void);
/* Edge-triggered when told so. 0, or -1 and errno. */
int loop_watch(struct watch *watch, uint32_t events);
int loop_change(struct watch *watch, uint32_t events);
/* Closes the descriptor; events that were fetched already are not delivered. */
void loop_close(struct watch *watch);
/* The descriptor stays the caller's. */
void loop_forget(struct watch *watch);

void loop_timer(struct timer *timer, enum timer_kind kind, void (*due)(struct timer *timer));
void loop_cancel(struct timer *timer);
void loop_task(struct task *task);
void loop_untask(struct task *task);
/* Memory is given back when no event of this turn can point into it any more. */
void loop_free(void *memory);

/* One turn. `extra_ms`: -1, or the longest wait. */
int loop_turn(int extra_ms);
/* The last one had events, or left something to do. */
bool loop_was_busy(void);

uint64_t loop_now_ms(void); /* CLOCK_MONOTONIC, of this turn */
uint64_t clock_us(void);    /* CLOCK_MONOTONIC, now */
uint64_t clock_unix_ms(void);

#define OWNER(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

#endif
