// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_IDNA_H
#define SBOX_IDNA_H

#include "rules.h"

/* UTF-8 to the form that name servers know (IDNA 2008, UTS 46 non-transitional). NULL, or what is
 * wrong with it. */
const char *idna_to_ascii(const char *name, char ret_ascii[RULE_NAME_BYTES]);

#endif
