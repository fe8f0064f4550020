/* structures.h -- makes the tables of one format from its .def file. Included once in the header of
 * a format, to declare, and, with ONDISK_DEFINE, once in a source, to define.
 *
 *	#define ONDISK_TABLE "ondisk/ext.def"
 *	#define ONDISK_NAME(tag) ext_def_##tag
 *	#include "ondisk/structures.h"
 *
 * The rows of the file:
 *
 *	STRUCTURE(tag, "name", LITTLE or BIG)
 *	FIELD(tag, field, offset, size, role)
 *	ELEMENT(tag, field, index, offset, size, role)	of an array: its name is "field[index]"
 *	END(tag)
 *
 * They become `ext_def_tag`, a struct ondisk_structure; `ext_def_structures`, the list of all; and
 * the numbers tag_field_AT and tag_field_LEN, for ONDISK_LE(p, tag, field). */

/* Places and sizes, as constants. */
#ifndef ONDISK_DEFINE
#define STRUCTURE(tag, text, order) extern const struct ondisk_structure ONDISK_NAME(tag);
#define FIELD(tag, field, offset, size, role) \
	enum { tag##_##field##_AT = (offset), tag##_##field##_LEN = (size) };
#define ELEMENT(tag, field, index, offset, size, role) \
	enum { tag##_##field##_##index##_AT = (offset), tag##_##field##_##index##_LEN = (size) };
#define END(tag)
#include ONDISK_TABLE

#else

#define STRUCTURE(tag, text, order) static const struct ondisk_field tag##_fields[] = {
#define FIELD(tag, field, offset, size, role) { #field, offset, size, ONDISK_##role },
#define ELEMENT(tag, field, index, offset, size, role) \
	{ #field "[" #index "]", offset, size, ONDISK_##role },
#define END(tag) \
	} \
	;
#include ONDISK_TABLE
#undef STRUCTURE
#undef FIELD
#undef ELEMENT
#undef END

#define ONDISK_IS_LITTLE false
#define ONDISK_IS_BIG true
#define STRUCTURE(tag, text, order) \
	const struct ondisk_structure ONDISK_NAME(tag) = { \
		.name = text, \
		.fields = tag##_fields, \
		.field_count = sizeof(tag##_fields) / sizeof(tag##_fields[0]), \
		.big_endian = ONDISK_IS_##order, \
	};
#define FIELD(tag, field, offset, size, role)
#define ELEMENT(tag, field, index, offset, size, role)
#define END(tag)
#include ONDISK_TABLE
#undef STRUCTURE

#define STRUCTURE(tag, text, order) &ONDISK_NAME(tag),
static const struct ondisk_structure *const ONDISK_NAME(structures)[] = {
#include ONDISK_TABLE
};
#endif

#undef STRUCTURE
#undef FIELD
#undef ELEMENT
#undef END

#ifndef ONDISK_LE
#define ONDISK_LE(p, tag, field) ondisk_le((p) + tag##_##field##_AT, tag##_##field##_LEN)
#define ONDISK_BE(p, tag, field) ondisk_be((p) + tag##_##field##_AT, tag##_##field##_LEN)
#endif
