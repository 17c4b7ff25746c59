// SPDX-License-Identifier: Apache-2.0
#include "loop.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256 };

static const uint32_t durations_ms[TIMER_KINDS] = {
	[TIMER_FLUSH] = 100,   [TIMER_NEXT] = 250,   [TIMER_SETTLE] = 300,
	[TIMER_HELLO] = 10000, [TIMER_IDLE] = 10000, [TIMER_DIAL] = 30000,
};

struct queue {
	struct timer *first, **last;
};

static int epoll_fd = -1;
static uint64_t now_ms;
static struct queue queues[TIMER_KINDS];
static struct task *tasks, **tasks_last = &tasks;
static struct epoll_event events_now[EVENTS];
static int events_count;
static bool was_busy;
/* To be freed: a list threaded through the memory itself. */
static void *garbage;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t clock_us(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000;
}

uint64_t clock_unix_ms(void)
{
	return clock_ns(CLOCK_REALTIME) / 1000000;
}

uint64_t loop_now_ms(void)
{
	return now_ms;
}

int loop_init(void)
{
	for (int kind = 0; kind < TIMER_KINDS; kind++)
		queues[kind].last = &queues[kind].first;
	now_ms = clock_us() / 1000;
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return epoll_fd < 0 ? -1 : 0;
}

int loop_watch(struct watch *watch, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, watch->fd, &event);
}

int loop_change(struct watch *watch, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};

	return epoll_ctl(epoll_fd, EPOLL_CTL_MOD, watch->fd, &event);
}

void loop_forget(struct watch *watch)
{
	if (watch->fd < 0)
		return;
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
	for (int i = 0; i < events_count; i++)
		if (events_now[i].data.ptr == watch)
			events_now[i].data.ptr = NULL;
	watch->fd = -1;
}

void loop_close(struct watch *watch)
{
	int fd = watch->fd;

	if (fd < 0)
		return;
	loop_forget(watch);
	close(fd);
}

void loop_timer(struct timer *timer, enum timer_kind kind, void (*due)(struct timer *timer))
{
	struct queue *queue = &queues[kind];

	loop_cancel(timer);
	timer->kind = kind;
	timer->due = due;
	timer->at_ms = now_ms + durations_ms[kind];
	timer->next = NULL;
	timer->link = queue->last;
	*queue->last = timer;
	queue->last = &timer->next;
}

void loop_cancel(struct timer *timer)
{
	if (timer->link == NULL)
		return;
	*timer->link = timer->next;
	if (timer->next != NULL)
		timer->next->link = timer->link;
	else
		queues[timer->kind].last = timer->link;
	timer->link = NULL;
}

void loop_task(struct task *task)
{
	if (task->link != NULL)
		return;
	task->next = NULL;
	task->link = tasks_last;
	*tasks_last = task;
	tasks_last = &task->next;
}

void loop_untask(struct task *task)
{
	if (task->link == NULL)
		return;
	*task->link = task->next;
	if (task->next != NULL)
		task->next->link = task->link;
	else if (tasks_last == &task->next)
		tasks_last = task->link;
	task->link = NULL;
}

void loop_free(void *memory)
{
	if (memory == NULL)
		return;
	*(void **)memory = garbage;
	garbage = memory;
}

static void run_tasks(void)
{
	static struct task *running;

	/* What they queue is for the next turn. */
	running = tasks;
	if (running != NULL)
		running->link = &running;
	tasks = NULL;
	tasks_last = &tasks;
	while (running != NULL) {
		struct task *task = running;

		loop_untask(task);
		task->run(task);
	}
}

static void run_timers(void)
{
	for (int kind = 0; kind < TIMER_KINDS; kind++)
		while (queues[kind].first != NULL && queues[kind].first->at_ms <= now_ms) {
			struct timer *timer = queues[kind].first;

			loop_cancel(timer);
			timer->due(timer);
		}
}

static int next_wait(int extra_ms)
{
	int wait = extra_ms;

	if (tasks != NULL)
		return 0;
	for (int kind = 0; kind < TIMER_KINDS; kind++) {
		if (queues[kind].first == NULL)
			continue;
		uint64_t at = queues[kind].first->at_ms;
		int left = at <= now_ms ? 0 : (int)(at - now_ms);
		if (wait < 0 || left < wait)
			wait = left;
	}
	return wait;
}

bool loop_was_busy(void)
{
	return was_busy || tasks != NULL;
}

int loop_turn(int extra_ms)
{
	int count = epoll_wait(epoll_fd, events_now, EVENTS, next_wait(extra_ms));

	if (count < 0 && errno != EINTR)
		return -1;
	events_count = count < 0 ? 0 : count;
	now_ms = clock_us() / 1000;
	for (int i = 0; i < events_count; i++) {
		struct watch *watch = events_now[i].data.ptr;

		if (watch != NULL)
			watch->ready(watch, events_now[i].events);
	}
	was_busy = events_count > 0;
	run_tasks();
	run_timers();
	events_count = 0;
	while (garbage != NULL) {
		void *memory = garbage;

		garbage = *(void **)memory;
		free(memory);
	}
	return 0;
}
