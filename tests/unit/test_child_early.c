// SPDX-License-Identifier: Apache-2.0
/*
 * A process that is made before anybody knows what it will be: its first steps, its
 * handover through shared memory, and that nothing of that memory is left to it.
 */
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>

#include "child_fixture.h"

static void *shared_memory(void)
{
	void *start =
		mmap(NULL, SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(start, MAP_FAILED);
	return start;
}

/* The process waits: one step is done, and no list is known to it. */
static void start_early(void)
{
	handover = shared_memory();
	early[early_count++] = (struct step){.id = STEP_PARENT_DEATH, .idmap = -1};
	start(NO_GO);
}

/* What is told was made after the process was: it finds it in the shared memory only. */
static void tell(const char *script, size_t idmap_count)
{
	struct step *steps = (struct step *)(handover + 1);

	put(STEP_PARENT_DEATH);
	put_fork();
	put(STEP_READY);
	put_program(script);
	memcpy(steps, list, list_count * sizeof(*list));
	struct step *exec = &steps[list_count - 1];
	char **argv = (char **)(steps + list_count), *text = (char *)(argv + 4);
	memcpy(argv, exec->argv, 4 * sizeof(*argv));
	argv[2] = strcpy(text, exec->argv[2]);
	exec->argv = exec->envp = argv;
	*handover = (struct handover){.steps = steps,
				      .count = list_count,
				      .from = early_count,
				      .slots = slots,
				      .idmap_count = idmap_count};
}

START_TEST(the_plan_comes_later)
{
	start_early();
	tell("exit 3", 0);
	usleep(50000);
	ck_assert(!program_ran());
	ck_assert_int_eq(write(go_fd, "g", 1), 1);
	ck_assert_int_eq(take_exit().status, 3 << 8);
	ck_assert(exited_with(end_of_init(), 0));
	ck_assert(program_ran());
}
END_TEST

START_TEST(nobody_comes_back)
{
	struct fault fault;

	start_early();
	tell("true", 0);
	close(go_fd);
	ck_assert(exited_with(end_of_init(), 125));
	/* the mark: its first steps are done */
	ck_assert(take_fault(&fault));
	ck_assert(fault.id == STEP_NAMESPACES && fault.errnum == 0);
	ck_assert(!take_fault(&fault));
	ck_assert(!program_ran());
}
END_TEST

/* The handover promises descriptors; without them nothing goes on. */
START_TEST(promised_descriptors_do_not_come)
{
	start_early();
	tell("true", 1);
	close(control_fd);
	ck_assert_int_eq(write(go_fd, "g", 1), 1);
	ck_assert(exited_with(end_of_init(), 125));
	ck_assert(!program_ran());
}
END_TEST

START_TEST(a_first_step_that_fails_is_told)
{
	struct fault fault;

	handover = shared_memory();
	early[early_count++] = (struct step){.id = STEP_NAMESPACES, .idmap = -1, .value = {1}};
	start(NO_GO);
	ck_assert(take_fault(&fault));
	ck_assert_int_eq(fault.id, STEP_NAMESPACES);
	ck_assert_int_eq(fault.errnum, EINVAL);
	ck_assert(exited_with(end_of_init(), 125));
}
END_TEST

/* Pid 1 is the program's neighbour: it must not hold memory that the supervisor uses. */
START_TEST(the_shared_memory_is_gone_from_init)
{
	char path[64], line[512];
	bool wiped = false;

	start_early();
	tell("exec sleep 5", 0);
	ck_assert_int_eq(write(go_fd, "g", 1), 1);
	for (int waited = 0; !wiped; waited += 20) {
		ck_assert_int_lt(waited, PATIENCE_MS);
		usleep(20000);
		snprintf(path, sizeof(path), "/proc/%d/maps", (int)init_pid);
		FILE *maps = fopen(path, "r");
		if (maps == NULL) {
			printf("skipped: child-early: no look into a child: %s\n", strerror(errno));
			return;
		}
		int lines = 0;
		wiped = program_ran();
		for (; fgets(line, sizeof(line), maps) != NULL; lines++)
			wiped &= strstr(line, "/dev/zero") == NULL;
		fclose(maps);
		ck_assert_msg(lines > 0, "init is dead, and had it to its end");
	}
}
END_TEST

/* Files of the right names in a plain folder would take an id map and change nothing. */
START_TEST(proc_is_no_plain_folder)
{
	int fd = child_open_proc();

	ck_assert_int_ge(fd, 0);
	close(fd);
	if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "/proc", "tmpfs", 0, NULL) != 0) {
		puts("skipped: child_early: no mounts of our own here");
		return;
	}
	ck_assert_int_eq(child_open_proc(), -1);
	ck_assert_int_eq(errno, ENODEV);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, proc_is_no_plain_folder);
	tcase_add_test(tcase, the_plan_comes_later);
	tcase_add_test(tcase, nobody_comes_back);
	tcase_add_test(tcase, promised_descriptors_do_not_come);
	tcase_add_test(tcase, a_first_step_that_fails_is_told);
	tcase_add_test(tcase, the_shared_memory_is_gone_from_init);
}

int main(void)
{
	return run_suite("child-early", add);
}
