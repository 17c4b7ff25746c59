// SPDX-License-Identifier: Apache-2.0
#include "hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "address.h"

/* Files that block half of the web have some 5 MB. */
enum { FILE_MOST = 32 * 1024 * 1024 };

static const char *hosts;
static size_t hosts_len;

void hosts_use(const char *text, size_t len)
{
	hosts = text;
	hosts_len = len;
}

static int read_all(int fd)
{
	struct stat stat;

	if (fstat(fd, &stat) != 0)
		return -1;
	if (!S_ISREG(stat.st_mode) || stat.st_size > FILE_MOST) {
		errno = EFBIG;
		return -1;
	}
	size_t size = (size_t)stat.st_size, have = 0;
	char *text = malloc(size + 1);
	if (text == NULL)
		return -1;
	while (have < size) {
		ssize_t got = read(fd, text + have, size - have);

		if (got < 0) {
			free(text);
			return -1;
		}
		if (got == 0)
			break;
		have += (size_t)got;
	}
	hosts_use(text, have);
	return 0;
}

int hosts_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return errno == ENOENT || errno == EACCES ? 0 : -1;
	int rc = read_all(fd);
	close(fd);
	return rc;
}

/* The next word of a line, without its comment. */
static bool take_word(const char **at, const char *end, char *ret_word, size_t size)
{
	const char *start = *at;

	while (start < end && (*start == ' ' || *start == '\t' || *start == '\r'))
		start++;
	const char *stop = start;
	while (stop < end && *stop != ' ' && *stop != '\t' && *stop != '\r' && *stop != '#')
		stop++;
	*at = stop < end && *stop == '#' ? end : stop;
	if (stop == start)
		return false;
	size_t len = (size_t)(stop - start);
	if (len >= size)
		len = 0; /* too long for a name: a word that matches nothing */
	memcpy(ret_word, start, len);
	ret_word[len] = '\0';
	return true;
}

static bool names(const char *line, const char *end, const char *name,
		  struct rule_address *ret_address)
{
	char word[RULE_NAME_BYTES], clean[RULE_NAME_BYTES];
	struct rule_address address = {.family = AF_INET};

	if (!take_word(&line, end, word, sizeof(word)))
		return false;
	if (inet_pton(AF_INET, word, address.bytes) != 1) {
		address.family = AF_INET6;
		if (inet_pton(AF_INET6, word, address.bytes) != 1)
			return false;
	}
	while (take_word(&line, end, word, sizeof(word)))
		if (rule_clean_name(word, strlen(word), clean) && strcmp(clean, name) == 0) {
			address_plain(&address);
			*ret_address = address;
			return true;
		}
	return false;
}

size_t hosts_find(const char *name, struct rule_address *ret_addresses, size_t most)
{
	const char *at = hosts, *end = hosts + hosts_len;
	size_t count = 0;

	while (at < end && count < most) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		if (stop == NULL)
			stop = end;
		if (names(at, stop, name, &ret_addresses[count]))
			count++;
		at = stop + 1;
	}
	return count;
}
