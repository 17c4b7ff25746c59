// SPDX-License-Identifier: Apache-2.0

/*
 * sbox-gate: the way out of a sandbox with [network] mode = allow. Started by sbox, not by people;
 * protocol.h says how they talk.
 *
 *   inside the sandbox's network namespace            outside: this process, confined
 *
 *   program --- who is api.example.org? --- UDP, TCP port 53 -> serve.c, answer.c: a rule? then
 *           <-- 198.18.0.17 ------------------------            names.c gives it an address of its
 *                                                               own; resolve.c looks it up on the
 * host program --- connect 198.18.0.17:443 --- listener -------> listen.c, connection.c: which name
 * is that, and does a rule allow the port? dial.c: its real addresses, checked, the first that
 * answers
 *           --- first bytes ------------------------------> inspect.c: TLS or HTTP for that name?
 *           <=== bytes both ways ========================> pump.c: splice
 *   program --- anything else --- refused by the kernel ---> attempts.c sees that, for the record
 *
 * Every descriptor in the namespace was made there by the launcher and handed over, so the gate
 * needs no privilege to be on both sides. It trusts the launcher and nobody else: not the program,
 * not name servers, not the other end of a connection. When it ends, however that comes, its
 * sockets close, connections break and nothing answers: the network ends, it never opens.
 */

#include <stddef.h>

#include "confine.h"
#include "connection.h"
#include "control.h"
#include "resolve.h"
#include "tell.h"

int main(void)
{
	if (confine_begin() != 0 || !control_prepare() || control_watch() != 0)
		return 1;
	while (!control_ended()) {
		if (loop_turn(control_wait_ms(resolve_sleep_ms())) != 0)
			return 1;
		resolve_due();
	}
	connection_end_all();
	tell_end();
	return 0;
}
