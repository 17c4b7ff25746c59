// SPDX-License-Identifier: Apache-2.0
#include "rules.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

enum { SHOWN_BYTES = 48 };

/* What is being read, for messages, and where they go. */
struct value {
	const char *text;
	char *fault;
};

static bool wrong(const struct value *value, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* `"VALUE" ` and the rest of the clause; control bytes of the value as ${0xHH}. */
static bool wrong(const struct value *value, const char *fmt, ...)
{
	size_t used = 0, i;
	va_list ap;

	value->fault[used++] = '"';
	for (i = 0; i < SHOWN_BYTES && value->text[i] != '\0'; i++) {
		unsigned char byte = (unsigned char)value->text[i];
		bool control = byte < ' ' || byte == 0x7f;

		used += (size_t)snprintf(value->fault + used, RULE_FAULT_BYTES - used,
					 control ? "${0x%02x}" : "%c", byte);
	}
	used += (size_t)snprintf(value->fault + used, RULE_FAULT_BYTES - used, "%s\" ",
				 value->text[i] != '\0' ? "..." : "");
	va_start(ap, fmt);
	vsnprintf(value->fault + used, RULE_FAULT_BYTES - used, fmt, ap);
	va_end(ap);
	return false;
}

/* Decimal, no sign, no leading zero. */
static bool read_number(const char *text, size_t len, unsigned most, unsigned *ret_number)
{
	unsigned number = 0;

	if (len == 0 || len > 5 || (text[0] == '0' && len > 1))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		number = number * 10 + (unsigned)(text[i] - '0');
	}
	if (number > most)
		return false;
	*ret_number = number;
	return true;
}

static bool read_port(const char *text, size_t len, uint16_t *ret_port)
{
	unsigned number;

	if (!read_number(text, len, UINT16_MAX, &number) || number == 0)
		return false;
	*ret_port = (uint16_t)number;
	return true;
}

static bool read_ports(const struct value *value, const char *text, struct rule *rule)
{
	size_t len = strcspn(text, "-");

	if (!read_port(text, len, &rule->port_low))
		return wrong(value, "has no port after the last colon (1-65535, or LOW-HIGH)");
	rule->port_high = rule->port_low;
	if (text[len] == '\0')
		return true;
	if (!read_port(text + len + 1, strlen(text + len + 1), &rule->port_high) ||
	    rule->port_high < rule->port_low)
		return wrong(value, "has no range of ports after the last colon (8000-8010)");
	if (rule->action == RULE_ALLOW && rule->port_high - rule->port_low >= RULE_PORTS_MAX)
		return wrong(value, "has %d ports, more than %d: name those that are used",
			     rule->port_high - rule->port_low + 1, RULE_PORTS_MAX);
	return true;
}

/* What inet_pton(3) takes, and nothing after it. */
static bool read_address(int family, const char *text, size_t len, struct rule_address *ret_address)
{
	char copy[INET6_ADDRSTRLEN];

	if (len >= sizeof(copy) || memchr(text, '\0', len) != NULL)
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	memset(ret_address, 0, sizeof(*ret_address));
	if (inet_pton(family, copy, ret_address->bytes) != 1)
		return false;
	ret_address->family = (uint8_t)family;
	return true;
}

static bool has_host_bits(const struct rule *rule)
{
	unsigned most = rule->address.family == AF_INET ? 32 : 128;

	for (unsigned bit = rule->bits; bit < most; bit++)
		if (rule->address.bytes[bit / 8] & (0x80 >> bit % 8))
			return true;
	return false;
}

/* Addresses that the sandbox keeps to itself: no packet to them reaches the gate. */
static bool stays_inside(const struct rule_address *address)
{
	static const uint8_t zero[16], one[16] = {[15] = 1};

	if (address->family == AF_INET)
		return address->bytes[0] == 127 || memcmp(address->bytes, zero, 4) == 0;
	return memcmp(address->bytes, zero, 16) == 0 || memcmp(address->bytes, one, 16) == 0;
}

/* Why no connection ever gets there; NULL: it can. */
static const char *never_reached(const struct rule_address *address, unsigned bits)
{
	static const struct rule_address names = {.family = AF_INET, .bytes = {198, 18}};
	const uint8_t *bytes = address->bytes;

	if (bits >= 15 && rule_net_holds(&names, 15, address))
		return "is of 198.18.0.0/15, which stands for names inside: write the name";
	if (address->family == AF_INET ? bytes[0] >> 4 == 0xe : bytes[0] == 0xff)
		return "is for many at once, and only TCP goes through the gate";
	if (address->family == AF_INET6 && bytes[0] == 0xfe && bytes[1] >> 6 == 2)
		return "is the address of a link, which no rule can name: write another one of "
		       "that host";
	return NULL;
}

static bool is_mapped(const struct rule_address *address)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return address->family == AF_INET6 && memcmp(address->bytes, prefix, sizeof(prefix)) == 0;
}

/* ADDRESS or NET/BITS; brackets are off. */
static bool read_net(const struct value *value, const char *text, size_t len, int family,
		     struct rule *rule)
{
	const char *slash = memchr(text, '/', len);
	size_t size = slash ? (size_t)(slash - text) : len;
	unsigned bits = family == AF_INET ? 32 : 128;

	rule->kind = RULE_NET;
	if (!read_address(family, text, size, &rule->address))
		return wrong(value, "is not an address (192.0.2.1, 192.0.2.0/24, [2001:db8::]/32)");
	if (slash != NULL && !read_number(slash + 1, len - size - 1, bits, &bits))
		return wrong(value, "has no number of bits after the slash (0-%u)", bits);
	rule->bits = (uint8_t)bits;
	if (has_host_bits(rule))
		return wrong(value,
			     "has bits set beyond the first %u: write the network's own "
			     "address",
			     bits);
	if (rule->action == RULE_DENY)
		return true;
	if (bits == 0)
		return wrong(value, "would allow every address: name networks or hosts");
	if (is_mapped(&rule->address))
		return wrong(value, "is a v4 address: write that");
	if (stays_inside(&rule->address))
		return wrong(value, "stays inside the sandbox: write host:PORT for the host's own "
				    "loopback");
	const char *never = never_reached(&rule->address, bits);
	return never == NULL || wrong(value, "%s", never);
}

static bool is_ascii(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

/* A name, or UTF-8 that has still to become one: its ASCII bytes are those of names. */
static bool read_name(const char *text, size_t len, char ret_name[RULE_NAME_BYTES],
		      uint8_t *ret_idna)
{
	*ret_idna = !is_ascii(text, len);
	if (!*ret_idna)
		return rule_clean_name(text, len, ret_name);
	if (len >= RULE_NAME_BYTES || !utf8_valid(text, len) || memchr(text, '\0', len) != NULL)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte < 0x80 && !(byte >= '0' && byte <= '9') && byte != '-' && byte != '.' &&
		    byte != '_' && !((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'))
			return false;
	}
	memcpy(ret_name, text, len);
	ret_name[len] = '\0';
	return true;
}

static bool is_local_name(const char *name)
{
	static const char local[] = "localhost";
	size_t len = strlen(name), tail = sizeof(local) - 1;

	return len >= tail && strcmp(name + len - tail, local) == 0 &&
	       (len == tail || name[len - tail - 1] == '.');
}

static bool looks_like_address(const char *text, size_t len)
{
	return len > 0 && strspn(text, "0123456789./") >= len;
}

static bool read_named(const struct value *value, const char *text, size_t len, struct rule *rule)
{
	static const char suffix[] = "@private";
	size_t tail = sizeof(suffix) - 1;

	if (rule->action == RULE_ALLOW && len > tail &&
	    memcmp(text + len - tail, suffix, tail) == 0) {
		rule->with_private = 1;
		len -= tail;
	}
	rule->kind = len > 2 && memcmp(text, "*.", 2) == 0 ? RULE_BELOW : RULE_EXACT;
	size_t skip = rule->kind == RULE_BELOW ? 2 : 0;

	if (!read_name(text + skip, len - skip, rule->name, &rule->idna))
		return wrong(value, "is not a name, *.name or address with its port");
	if (strcmp(rule->name, "host") == 0 && rule->kind == RULE_EXACT) {
		rule->kind = RULE_HOST;
		if (rule->with_private)
			return wrong(value, "is the host's own loopback: without @private");
	}
	if (rule->action == RULE_DENY)
		return true;
	if (is_local_name(rule->name))
		return wrong(value, "stays inside the sandbox: write host:PORT for the host's own "
				    "loopback");
	if (rule->kind == RULE_BELOW && !rule->idna && strchr(rule->name, '.') == NULL)
		return wrong(value,
			     "would allow all of a top-level domain: write "
			     "*.NAME.%s:PORT",
			     rule->name);
	return true;
}

static bool read_host(const struct value *value, const char *text, size_t len, struct rule *rule)
{
	if (len > 0 && text[0] == '[') {
		/* [V6] or [V6/BITS] or [V6]/BITS */
		const char *end = memchr(text, ']', len);
		char inner[INET6_ADDRSTRLEN + 8];
		size_t size = end ? (size_t)(end - text) - 1 : 0;
		size_t rest = end ? len - size - 2 : 0;

		if (end == NULL || size + rest >= sizeof(inner) || (rest > 0 && end[1] != '/'))
			return wrong(value, "is not an address in brackets ([2001:db8::1]:443)");
		memcpy(inner, text + 1, size);
		memcpy(inner + size, end + 1, rest);
		return read_net(value, inner, size + rest, AF_INET6, rule);
	}
	if (memchr(text, ':', len) != NULL)
		return wrong(value, "is not an address in brackets ([2001:db8::1]:443)");
	if (looks_like_address(text, len))
		return read_net(value, text, len, AF_INET, rule);
	return read_named(value, text, len, rule);
}

bool rule_parse_allow(const char *text, struct rule *ret_rule, char fault[RULE_FAULT_BYTES])
{
	const struct value value = {text, fault};
	const char *colon = strrchr(text, ':');
	struct rule rule = {.action = RULE_ALLOW};

	if (strcmp(text, "*") == 0 || strncmp(text, "*:", 2) == 0)
		return wrong(&value,
			     "would allow every destination: name them (*.example.org:443)");
	if (strstr(text, "://") != NULL)
		return wrong(&value, "is a URL: write name:port (example.org:443)");
	if (colon == NULL || strchr(colon, ']') != NULL)
		return wrong(&value, "has no port: write NAME:443");
	if (!read_host(&value, text, (size_t)(colon - text), &rule) ||
	    !read_ports(&value, colon + 1, &rule))
		return false;
	*ret_rule = rule;
	return true;
}

bool rule_parse_deny(const char *text, struct rule *ret_rule, char fault[RULE_FAULT_BYTES])
{
	const struct value value = {text, fault};
	const char *bracket = strrchr(text, ']');
	const char *colon = strrchr(bracket ? bracket : text, ':');
	struct rule rule = {.action = RULE_DENY, .port_low = 1, .port_high = UINT16_MAX};

	if (strcmp(text, "*") == 0 || strncmp(text, "*:", 2) == 0)
		return wrong(&value, "would deny every destination: leave allow empty");
	if (strstr(text, "://") != NULL)
		return wrong(&value, "is a URL: write name or name:port (example.org)");
	if (!read_host(&value, text, colon ? (size_t)(colon - text) : strlen(text), &rule) ||
	    (colon != NULL && !read_ports(&value, colon + 1, &rule)))
		return false;
	*ret_rule = rule;
	return true;
}

bool rule_parse_pin(const char *text, struct rule_pin *ret_pin, char fault[RULE_FAULT_BYTES])
{
	const struct value value = {text, fault};
	const char *equals = strchr(text, '=');
	struct rule_pin pin = {0};

	if (equals == NULL || !read_name(text, (size_t)(equals - text), pin.name, &pin.idna))
		return wrong(&value, "is not name=address (example.org=192.0.2.1)");
	const char *address = equals + 1;
	size_t len = strlen(address);
	if (len > 2 && address[0] == '[' && address[len - 1] == ']') {
		address++;
		len -= 2;
	}
	if (!read_address(AF_INET, address, len, &pin.address) &&
	    !read_address(AF_INET6, address, len, &pin.address))
		return wrong(&value, "has no address after = (example.org=192.0.2.1)");
	if (strcmp(pin.name, "host") == 0 || is_local_name(pin.name))
		return wrong(&value, "is a name of the sandbox's own");
	*ret_pin = pin;
	return true;
}

bool rule_parse_listen(const char *text, struct rule_listen *ret_listen,
		       char fault[RULE_FAULT_BYTES])
{
	const struct value value = {text, fault};
	size_t len = strcspn(text, ":");
	struct rule_listen listen = {0};

	if (!read_port(text, len, &listen.inside))
		return wrong(&value, "is not a port (1-65535), or PORT:PORT for another one on the "
				     "host");
	listen.host = listen.inside;
	if (text[len] == ':' && !read_port(text + len + 1, strlen(text + len + 1), &listen.host))
		return wrong(&value, "has no port of the host after the colon (1-65535)");
	*ret_listen = listen;
	return true;
}
