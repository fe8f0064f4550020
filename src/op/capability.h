/* capability.h -- file capabilities: as text, and as the value of their attribute.
 *
 * The text is that of setcap(8): "cap_net_raw,cap_chown=ep". The letters say what a program gets
 * that is executed: e makes its capabilities effective, p and i say which sets they are in. */
#ifndef OP_CAPABILITY_H
#define OP_CAPABILITY_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_OF_CAPABILITY "security.capability"

enum { BYTES_OF_CAPABILITY = 20 }; /* of revision 2: XATTR_CAPS_SZ_2 */

/* A text that cannot be read becomes a value of a revision that no kernel knows. */
void capability_to_value(const char *text, char to[BYTES_OF_CAPABILITY]);

/* What bytes are to cap_convert_nscap(). */
enum capability_form {
	CAPABILITY_NONE,    /* no capabilities */
	CAPABILITY_PLAIN,   /* revision 2 */
	CAPABILITY_OF_ROOT, /* revision 3, which says in which user namespaces it holds */
};
enum capability_form capability_form_of(const char *bytes, size_t len);

#endif
