// SPDX-License-Identifier: Apache-2.0
#include "idna.h"

#include <idn2.h>
#include <string.h>

const char *idna_to_ascii(const char *name, char ret_ascii[RULE_NAME_BYTES])
{
	uint8_t *ascii = NULL;
	int rc = idn2_lookup_u8((const uint8_t *)name, &ascii,
				IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);

	if (rc != IDN2_OK)
		return idn2_strerror(rc);
	size_t len = strlen((const char *)ascii);
	if (len >= RULE_NAME_BYTES) {
		idn2_free(ascii);
		return idn2_strerror(IDN2_TOO_BIG_DOMAIN);
	}
	memcpy(ret_ascii, ascii, len + 1);
	idn2_free(ascii);
	return NULL;
}
