/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modprobe_rules.h - the lines of modprobe.d(5) that keep AF_ALG's modules from
 * being loaded: the usual reason for a type that a kernel has and does not offer.
 */
#ifndef TOOLS_MODPROBE_RULES_H
#define TOOLS_MODPROBE_RULES_H

/*
 * Calls @tell for each, in the order modprobe reads them: "install MODULE ...",
 * which runs a command in the module's place, "blacklist MODULE", which keeps
 * its aliases from finding it, and "alias ... off". What may not be read is passed
 * over.
 */
void modprobe_rules(void (*tell)(void *user, const char *module,
				 const char *file, const char *rule),
		    void *user);

#endif
