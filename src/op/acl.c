/* acl.c -- access control lists: text, values of attributes, entries. */
#include "op/acl.h"

#include <endian.h>
#include <linux/posix_acl_xattr.h>
#include <stdlib.h>
#include <string.h>

/* Named or not: "u::rwx" is the owner's entry, "u:7:rwx" one of user 7. */
static uint16_t tag_of(char letter, bool named)
{
	switch (letter) {
	case 'u':
		return named ? ACL_USER : ACL_USER_OBJ;
	case 'g':
		return named ? ACL_GROUP : ACL_GROUP_OBJ;
	case 'm':
		return named ? 0 : ACL_MASK;
	case 'o':
		return named ? 0 : ACL_OTHER;
	default:
		return 0;
	}
}

static bool perm_from_text(const char *text, uint16_t *ret)
{
	static const char letters[] = "rwx";
	uint16_t perm = 0;

	for (unsigned i = 0; i < 3; i++) {
		if (text[i] != letters[i] && text[i] != '-')
			return false;
		perm = (uint16_t)(perm << 1 | (text[i] != '-'));
	}
	*ret = perm;
	return !text[3] || text[3] == ',';
}

static struct acl_entry entry_from_text(const char *text)
{
	const struct acl_entry none = { .id = (uint32_t)ACL_UNDEFINED_ID };
	struct acl_entry e = none;
	char *end;
	bool named;

	if (!text[0] || text[1] != ':')
		return none;
	named = text[2] >= '0' && text[2] <= '9';
	e.tag = tag_of(text[0], named);
	if (named)
		e.id = (uint32_t)strtoul(text + 2, &end, 10);
	else
		end = (char *)text + 2;
	return *end == ':' && perm_from_text(end + 1, &e.perm) ? e : none;
}

void acl_from_text(const char *text, struct acl *ret)
{
	ret->count = 0;
	while (*text && ret->count < ENTRIES_OF_ACL_MAX) {
		ret->entries[ret->count++] = entry_from_text(text);
		text += strcspn(text, ",");
		text += *text == ',';
	}
}

bool acl_from_value(const char *bytes, size_t len, struct acl *ret)
{
	struct posix_acl_xattr_header header;
	struct posix_acl_xattr_entry entry;

	if (len < sizeof(header) || (len - sizeof(header)) % sizeof(entry) ||
	    len > BYTES_OF_ACL_MAX)
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (le32toh(header.a_version) != POSIX_ACL_XATTR_VERSION)
		return false;
	ret->count = (len - sizeof(header)) / sizeof(entry);
	for (size_t i = 0; i < ret->count; i++) {
		memcpy(&entry, bytes + sizeof(header) + i * sizeof(entry), sizeof(entry));
		ret->entries[i] = (struct acl_entry){ le16toh(entry.e_tag), le16toh(entry.e_perm),
						      le32toh(entry.e_id) };
	}
	return true;
}

size_t acl_to_value(const struct acl *acl, char to[BYTES_OF_ACL_MAX])
{
	struct posix_acl_xattr_header header = { htole32(POSIX_ACL_XATTR_VERSION) };
	char *at = to;

	memcpy(at, &header, sizeof(header));
	at += sizeof(header);
	for (size_t i = 0; i < acl->count; i++, at += sizeof(struct posix_acl_xattr_entry)) {
		const struct acl_entry *e = &acl->entries[i];
		struct posix_acl_xattr_entry entry = { htole16(e->tag), htole16(e->perm),
						       htole32(e->id) };

		memcpy(at, &entry, sizeof(entry));
	}
	return (size_t)(at - to);
}
