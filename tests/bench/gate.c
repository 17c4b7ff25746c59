// SPDX-License-Identifier: Apache-2.0

/*
 * The two ends of a measured connection, and the least relay there can be between them.
 *
 *   gate-bench serve PORT              8 bytes say how many are wanted; 0: one, and again
 *   gate-bench relay PORT TARGET       splice(2) both ways, one process for each connection
 *   gate-bench fetch ADDRESS PORT N    MB/s of N bytes
 *   gate-bench visit ADDRESS PORT N    medians in µs: connect(2), and to the first byte
 *   gate-bench sockets N               µs: the first socket(2), the median of N later ones
 */

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 128 * 1024, PIPE = 512 * 1024, CHUNK = 1024 * 1024 };

static char buffer[BUFFER];

static void need(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static struct sockaddr_in address_of(const char *text, const char *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)atoi(port))};

	need(inet_pton(AF_INET, text, &address.sin_addr) == 1, text);
	return address;
}

static int connect_to(const char *text, const char *port)
{
	struct sockaddr_in address = address_of(text, port);
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	need(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

/* A process for each connection. */
static void serve(const char *port, void (*one)(int fd, const char *target), const char *target)
{
	struct sockaddr_in address = address_of("127.0.0.1", port);
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	signal(SIGCHLD, SIG_IGN);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	need(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
	need(listen(listener, 1024) == 0, "listen");
	puts("ready");
	fflush(stdout);
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd >= 0 && fork() == 0) {
			one(fd, target);
			_exit(0);
		}
		close(fd);
	}
}

static void answer(int fd, const char *target)
{
	uint64_t wanted;
	int on = 1;

	(void)target;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	while (recv(fd, &wanted, sizeof(wanted), MSG_WAITALL) == sizeof(wanted)) {
		if (wanted == 0) {
			send(fd, "x", 1, 0);
			continue;
		}
		while (wanted > 0) {
			ssize_t sent = send(fd, buffer, wanted < BUFFER ? wanted : BUFFER, 0);

			need(sent > 0, "send");
			wanted -= (uint64_t)sent;
		}
	}
}

static void relay(int fd, const char *target)
{
	int other = connect_to("127.0.0.1", target), ends[2];
	struct pollfd both[] = {{.fd = fd, .events = POLLIN}, {.fd = other, .events = POLLIN}};

	need(pipe(ends) == 0, "pipe");
	fcntl(ends[1], F_SETPIPE_SZ, PIPE);
	for (;;) {
		poll(both, 2, -1);
		for (int i = 0; i < 2; i++) {
			if (both[i].revents == 0)
				continue;
			ssize_t have =
				splice(both[i].fd, NULL, ends[1], NULL, CHUNK, SPLICE_F_MOVE);

			if (have <= 0)
				return;
			while (have > 0) {
				ssize_t moved = splice(ends[0], NULL, both[1 - i].fd, NULL,
						       (size_t)have, SPLICE_F_MOVE);

				if (moved <= 0)
					return;
				have -= moved;
			}
		}
	}
}

static void fetch(const char *address, const char *port, uint64_t wanted)
{
	int fd = connect_to(address, port);
	uint64_t got = 0;
	double begun = now_us();

	need(send(fd, &wanted, sizeof(wanted), 0) == sizeof(wanted), "send");
	while (got < wanted) {
		ssize_t some = recv(fd, buffer, BUFFER, 0);

		need(some > 0, "recv");
		got += (uint64_t)some;
	}
	printf("%.0f\n", (double)got / (now_us() - begun));
}

static int compare(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static void visit(const char *address, const char *port, int count)
{
	double *connected = calloc((size_t)count, sizeof(double));
	double *answered = calloc((size_t)count, sizeof(double));

	for (int i = 0; i < count; i++) {
		const uint64_t ping = 0;
		double begun = now_us();
		int fd = connect_to(address, port);

		connected[i] = now_us() - begun;
		need(send(fd, &ping, sizeof(ping), 0) == sizeof(ping), "send");
		need(recv(fd, buffer, 1, 0) == 1, "recv");
		answered[i] = now_us() - begun;
		close(fd);
	}
	qsort(connected, (size_t)count, sizeof(double), compare);
	qsort(answered, (size_t)count, sizeof(double), compare);
	printf("%.1f %.1f\n", connected[count / 2], answered[count / 2]);
}

static void sockets(int count)
{
	double *taken = calloc((size_t)count, sizeof(double)), first = 0;

	for (int i = -1; i < count; i++) {
		double begun = now_us();
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		*(i < 0 ? &first : &taken[i]) = now_us() - begun;
		need(fd >= 0, "socket");
		close(fd);
	}
	qsort(taken, (size_t)count, sizeof(double), compare);
	printf("%.1f %.1f\n", first, taken[count / 2]);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && strcmp(argv[1], "serve") == 0)
		serve(argv[2], answer, NULL);
	else if (argc == 4 && strcmp(argv[1], "relay") == 0)
		serve(argv[2], relay, argv[3]);
	else if (argc == 5 && strcmp(argv[1], "fetch") == 0)
		fetch(argv[2], argv[3], strtoull(argv[4], NULL, 10));
	else if (argc == 5 && strcmp(argv[1], "visit") == 0)
		visit(argv[2], argv[3], atoi(argv[4]));
	else if (argc == 3 && strcmp(argv[1], "sockets") == 0)
		sockets(atoi(argv[2]));
	else
		return 2;
	return 0;
}
