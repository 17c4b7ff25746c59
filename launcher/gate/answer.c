// SPDX-License-Identifier: Apache-2.0
#include "answer.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "resolve.h"
#include "tell.h"

enum {
	WAITING_MOST = 512, /* questions that wait for the name servers */
	TTL = 60,
	BADVERS = 16,
};

/* A question, until it is answered. */
struct asked {
	struct name_wait wait;
	struct message_question question;
	const struct rule *rule;
	void (*send)(const void *back, const uint8_t *bytes, size_t len);
	uint8_t back[ANSWER_BACK_BYTES];
};

static unsigned waiting;

static void reply(const struct asked *asked, int rcode, const struct rule_address *address)
{
	uint8_t bytes[MESSAGE_BYTES];
	size_t len = message_answer(&asked->question, rcode, address, TTL, bytes);

	asked->send(asked->back, bytes, len);
}

static bool wants_v4(const struct message_question *question)
{
	return question->type == ns_t_a || question->type == ns_t_any;
}

static void refuse(const struct asked *asked, enum gate_verdict verdict, const struct rule *rule)
{
	tell_name(asked->question.name, verdict, rule, asked->question.type);
	reply(asked, ns_r_nxdomain, NULL);
}

/* What is known now: answered, and told. */
static void answer_name(const struct asked *asked, const struct name *name)
{
	struct rule_address inside = {.family = AF_INET};
	enum gate_verdict verdict = GATE_ANSWERED;
	int rcode = ns_r_noerror;

	for (int i = 0; i < 4; i++)
		inside.bytes[i] = (uint8_t)(name->address >> (24 - 8 * i));
	if (name->state == NAME_NONE) {
		verdict = GATE_NO_SUCH_NAME;
		rcode = ns_r_nxdomain;
	} else if (name->state != NAME_KNOWN) {
		verdict = GATE_NO_ANSWER;
		rcode = ns_r_servfail;
	}
	tell_name(asked->question.name, verdict, asked->rule, asked->question.type);
	reply(asked, rcode, rcode == ns_r_noerror && wants_v4(&asked->question) ? &inside : NULL);
}

static void on_told(struct name_wait *wait, struct name *name)
{
	struct asked *asked = OWNER(wait, struct asked, wait);

	waiting--;
	answer_name(asked, name);
	free(asked);
}

static bool is_localhost(const char *name)
{
	size_t len = strlen(name);

	return strcmp(name, "localhost") == 0 ||
	       (len > 10 && strcmp(name + len - 10, ".localhost") == 0);
}

static void answer_localhost(const struct asked *asked)
{
	static const struct rule_address v4 = {.family = AF_INET, .bytes = {127, 0, 0, 1}};
	static const struct rule_address v6 = {.family = AF_INET6, .bytes = {[15] = 1}};

	reply(asked, ns_r_noerror,
	      wants_v4(&asked->question)          ? &v4
	      : asked->question.type == ns_t_aaaa ? &v6
						  : NULL);
}

/* Services are asked for as _http._tcp.NAME: it is NAME that has to be allowed. */
static const char *without_service(const char *name)
{
	while (name[0] == '_' && strchr(name, '.') != NULL)
		name = strchr(name, '.') + 1;
	return name;
}

/* Neither A nor AAAA: an allowed name has no such record, and nobody outside is asked. */
static void answer_other(const struct asked *asked, const char *name)
{
	const struct rule *rule =
		rule_for_name(policy.rules, policy.rule_count, without_service(name), 0);

	if (rule == NULL || rule->action == RULE_DENY) {
		refuse(asked, GATE_NOT_ALLOWED, rule);
		return;
	}
	tell_name(asked->question.name, GATE_ANSWERED, rule, asked->question.type);
	reply(asked, ns_r_noerror, NULL);
}

static void answer_address(struct asked *asked, const char *text)
{
	enum gate_verdict verdict;
	struct name *name = names_get(text, &verdict, &asked->rule);

	if (name == NULL) {
		refuse(asked, verdict, asked->rule);
		return;
	}
	struct asked *later = waiting < WAITING_MOST ? malloc(sizeof(*later)) : NULL;
	if (later == NULL) {
		reply(asked, ns_r_servfail, NULL);
		return;
	}
	*later = *asked;
	later->wait.told = on_told;
	waiting++;
	if (!resolve_ask(name, &later->wait))
		return;
	waiting--;
	free(later);
	answer_name(asked, name);
}

static void judge(struct asked *asked)
{
	struct message_question *question = &asked->question;
	char name[RULE_NAME_BYTES];

	if (!rule_clean_name(question->name, strlen(question->name), name))
		refuse(asked, GATE_MALFORMED, NULL);
	else if (question->class != ns_c_in && question->class != ns_c_any)
		refuse(asked, GATE_NOT_ALLOWED, NULL);
	else if (is_localhost(name))
		answer_localhost(asked);
	else if (wants_v4(question) || question->type == ns_t_aaaa)
		answer_address(asked, name);
	else
		answer_other(asked, name);
}

void answer(const uint8_t *bytes, size_t len,
	    void (*send)(const void *back, const uint8_t *bytes, size_t len), const void *back,
	    size_t back_len)
{
	struct asked asked = {.send = send};

	memcpy(asked.back, back, back_len < sizeof(asked.back) ? back_len : sizeof(asked.back));
	switch (message_read(bytes, len, &asked.question)) {
	case MESSAGE_FINE:
		judge(&asked);
		break;
	case MESSAGE_NOTHING:
		send(back, NULL, 0);
		break;
	case MESSAGE_BROKEN:
		reply(&asked, ns_r_formerr, NULL);
		break;
	case MESSAGE_OTHER:
		reply(&asked, ns_r_notimpl, NULL);
		break;
	case MESSAGE_VERSION:
		reply(&asked, BADVERS, NULL);
		break;
	}
}
