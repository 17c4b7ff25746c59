// SPDX-License-Identifier: Apache-2.0

/*
 * sbox-cgroup MANAGER UNIT PID: asks the systemd manager that listens on the
 * socket MANAGER for the scope UNIT, delegated, with process PID in it, and waits
 * until it is there. The launcher starts this where its own control group is
 * not its own; D-Bus and libsystemd stay out of the launcher.
 *
 * Exit status 0: the manager says it is done (the launcher looks for itself).
 * Otherwise one line on standard output says why not.
 */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <time.h>

enum { WAIT_MS = 1000 };

#define DESTINATION "org.freedesktop.systemd1"
#define PATH        "/org/freedesktop/systemd1"
#define INTERFACE   "org.freedesktop.systemd1.Manager"

struct wait {
	const char *unit;
	char result[64]; /* "done", "failed", …; "" while it goes on */
};

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int complain(const char *what, int errnum)
{
	printf("%s: %s\n", what, strerror(errnum < 0 ? -errnum : errnum));
	return 1;
}

/* JobRemoved(number, job, unit, result): ours may come before the answer that names the job. */
static int on_job_removed(sd_bus_message *message, void *data, sd_bus_error *error)
{
	struct wait *wait = data;
	const char *job, *unit, *result;
	uint32_t number;

	(void)error;
	if (sd_bus_message_read(message, "uoss", &number, &job, &unit, &result) < 0)
		return 0;
	if (strcmp(unit, wait->unit) == 0)
		snprintf(wait->result, sizeof(wait->result), "%s", result);
	return 0;
}

static int connect_to(const char *path, sd_bus **ret_bus)
{
	char *address = NULL;
	sd_bus *bus = NULL;
	int rc = sd_bus_new(&bus);

	/* No bus stands between: this is the manager's own socket. Commas and such are escaped. */
	if (rc >= 0 && strpbrk(path, ",;%") != NULL)
		rc = -EINVAL;
	if (rc >= 0 && asprintf(&address, "unix:path=%s", path) < 0)
		rc = -ENOMEM;
	if (rc >= 0)
		rc = sd_bus_set_address(bus, address);
	if (rc >= 0)
		rc = sd_bus_set_method_call_timeout(bus, (uint64_t)WAIT_MS * 1000);
	if (rc >= 0)
		rc = sd_bus_start(bus);
	free(address);
	if (rc < 0)
		sd_bus_unref(bus);
	else
		*ret_bus = bus;
	return rc;
}

static int ask(sd_bus *bus, const char *unit, uint32_t pid, sd_bus_error *error,
	       sd_bus_message **ret_reply)
{
	return sd_bus_call_method(bus, DESTINATION, PATH, INTERFACE, "StartTransientUnit", error,
				  ret_reply, "ssa(sv)a(sa(sv))", unit, "fail", 4, "Description",
				  "s", "sbox run", "Delegate", "b", 1, "CollectMode", "s",
				  "inactive-or-failed", "PIDs", "au", 1, pid, 0);
}

static int wait_for_job(sd_bus *bus, struct wait *wait, uint64_t until)
{
	while (wait->result[0] == '\0') {
		int rc = sd_bus_process(bus, NULL);

		if (rc < 0)
			return rc;
		if (rc > 0)
			continue;
		uint64_t now = now_us();
		if (now >= until)
			return -ETIMEDOUT;
		rc = sd_bus_wait(bus, until - now);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int make_scope(sd_bus *bus, const char *unit, uint32_t pid)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *reply = NULL;
	struct wait wait = {.unit = unit};
	uint64_t until = now_us() + (uint64_t)WAIT_MS * 1000;
	int rc = sd_bus_match_signal(bus, NULL, NULL, PATH, INTERFACE, "JobRemoved", on_job_removed,
				     &wait);

	if (rc < 0)
		return complain("cannot listen to the manager", rc);
	rc = ask(bus, unit, pid, &error, &reply);
	if (rc < 0) {
		printf("the manager refused: %s\n",
		       error.message != NULL ? error.message : strerror(-rc));
		sd_bus_error_free(&error);
		return 1;
	}
	sd_bus_message_unref(reply);
	rc = wait_for_job(bus, &wait, until);
	if (rc < 0)
		return complain("the manager did not finish", rc);
	if (strcmp(wait.result, "done") == 0)
		return 0;
	printf("the manager's job ended as \"%s\"\n", wait.result);
	return 1;
}

int main(int argc, char **argv)
{
	sd_bus *bus = NULL;
	char *end = NULL;

	if (argc != 4)
		return complain("usage: sbox-cgroup MANAGER UNIT PID", EINVAL);
	unsigned long pid = strtoul(argv[3], &end, 10);
	if (*argv[3] == '\0' || *end != '\0' || pid == 0 || pid > INT32_MAX)
		return complain(argv[3], EINVAL);
	int rc = connect_to(argv[1], &bus);
	if (rc < 0)
		return complain("cannot reach the manager", rc);
	int status = make_scope(bus, argv[2], (uint32_t)pid);
	sd_bus_unref(bus);
	return status;
}
