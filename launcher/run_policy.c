// SPDX-License-Identifier: Apache-2.0
#include "run.h"

_Static_assert((int)SYNC_NONE == STORE_SYNC_NONE && (int)SYNC_EACH == STORE_SYNC_EACH &&
		       (int)SYNC_GROUP == STORE_SYNC_GROUP,
	       "the words of [audit] sync are in the order of enum store_sync");

/* What [audit] says about the store itself. Its texts were checked when they were read. */
void run_set_store_policy(struct run *run)
{
	struct store_policy *policy = &run->store.policy;

	policy->sync = (enum store_sync)run->profile.audit.sync;
	policy->has_anchor = run->profile.audit.anchor == ANCHOR_SYSLOG;
	store_parse_limits(run->profile.audit.keep, &policy->keep_ms, &policy->keep_bytes);
	store_parse_limits(run->profile.audit.segment, &policy->segment_ms, &policy->segment_bytes);
}
