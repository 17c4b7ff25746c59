// SPDX-License-Identifier: Apache-2.0

/*
 * c-ares can turn names of services into ports. The gate never asks for that, but a static glibc
 * would bring NSS along for it, which loads libraries from files while the program runs. So these
 * two stand where glibc's would.
 */

#include <netdb.h>
#include <stddef.h>

struct servent *getservbyname(const char *name, const char *protocol)
{
	(void)name;
	(void)protocol;
	return NULL;
}

int getservbyport_r(int port, const char *protocol, struct servent *result, char *buffer,
		    size_t size, struct servent **ret_result)
{
	(void)port;
	(void)protocol;
	(void)result;
	(void)buffer;
	(void)size;
	*ret_result = NULL;
	return 0;
}
