/* folder_json.c -- finding.json: what was expected and what was seen, for programs.
 *
 * README.md says the same for people; the calls with their outcomes are in the trace. Texts may
 * hold any bytes and JSON holds characters: a byte is written as the character of the same number,
 * so that every text is read back as it was. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/must.h"
#include "finding/finding.h"
#include "finding/folder.h"
#include "trace/script.h"

enum { JSON_MAX = 16 << 20, FACT_TEXT_MAX = 4096, ERRORS = 192, SECONDS_MAX = 3600 };

static json_t *json_of_bytes(const char *bytes, size_t len)
{
	struct buf text = BUF_INIT;
	json_t *json;

	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if (byte >= 0x80)
			buf_addch(&text, (char)(0xc0 | byte >> 6));
		buf_addch(&text, (char)(byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte));
	}
	json = json_stringn(buf_str(&text), text.len);
	buf_free(&text);
	return json;
}

/* False if it is no text, or one that json_of_bytes() did not write. */
static bool json_to_bytes(const json_t *json, struct buf *out)
{
	const char *text = json_string_value(json);
	size_t len = json_string_length(json);

	for (size_t i = 0; i < len; i++) {
		unsigned char first = (unsigned char)text[i];

		if (first > 0xc3)
			return false;
		buf_addch(out,
			  (char)(first < 0x80 ? first : (first & 3) << 6 | (text[++i] & 0x3f)));
	}
	return text;
}

/* The fields of a fact, but for its kind and its bytes. What is zero is left out. */
static const struct fact_field {
	const char *key;
	enum { FIELD_BOOL, FIELD_32, FIELD_64, FIELD_TEXT } type;
	size_t offset;
} fact_fields[] = {
#define FIELD(name, type) \
	{ \
#name, type, offsetof(struct fact, name) \
	}
	FIELD(path, FIELD_TEXT),    FIELD(mode, FIELD_32),          FIELD(uid, FIELD_32),
	FIELD(gid, FIELD_32),       FIELD(nlink, FIELD_32),         FIELD(size, FIELD_64),
	FIELD(rdev, FIELD_64),      FIELD(name, FIELD_TEXT),        FIELD(absent, FIELD_BOOL),
	FIELD(by_name, FIELD_BOOL), FIELD(offset, FIELD_64),        FIELD(flags, FIELD_32),
	FIELD(time, FIELD_32),      FIELD(wrong, FIELD_32),         FIELD(given_ns, FIELD_64),
	FIELD(unit_ns, FIELD_64),   FIELD(path_before, FIELD_TEXT), FIELD(call, FIELD_TEXT),
	FIELD(error, FIELD_32),
#undef FIELD
};
_Static_assert(sizeof(enum time_field) == 4 && sizeof(enum time_wrong) == 4, "FIELD_32");

static json_t *fact_field_json(const struct fact *fact, const struct fact_field *field)
{
	const void *at = (const char *)fact + field->offset;
	const char *text;
	uint32_t number;
	int64_t wide;

	switch (field->type) {
	case FIELD_BOOL:
		return *(const bool *)at ? json_true() : NULL;
	case FIELD_32:
		memcpy(&number, at, sizeof(number));
		return number ? json_integer(number) : NULL;
	case FIELD_64:
		memcpy(&wide, at, sizeof(wide));
		return wide ? json_integer(wide) : NULL;
	case FIELD_TEXT:
		memcpy(&text, at, sizeof(text));
		return text ? json_of_bytes(text, strlen(text)) : NULL;
	}
	return NULL;
}

static json_t *fact_json(const struct fact *fact)
{
	json_t *object = json_object();

	json_object_set_new(object, "kind", json_string(fact_names[fact->kind]));
	for (size_t i = 0; i < ARRAY_LEN(fact_fields); i++)
		json_object_set_new(object, fact_fields[i].key,
				    fact_field_json(fact, &fact_fields[i]));
	if (fact->bytes)
		json_object_set_new(object, "bytes", json_of_bytes(fact->bytes, fact->len));
	return object;
}

/* "rename("a", "b") = 0 or ENOENT", as traces say it; nothing where no outcome was judged. */
static json_t *allowed_json(const struct discrepancy *d, const struct call *c)
{
	const char *separator = " = ";
	struct buf text = BUF_INIT;
	json_t *json;

	call_print(c, DIALECT_NATIVE, &text);
	if (d->success_allowed) {
		buf_adds(&text, separator);
		outcome_print(&d->value, c->op, DIALECT_NATIVE, &text);
		separator = " or ";
	}
	for (int error = 1; error < ERRORS; error++)
		if (errset_has(&d->allowed, error)) {
			buf_addf(&text, "%s%s", separator, errno_name(error));
			separator = " or ";
		}
	json = json_of_bytes(buf_str(&text), text.len);
	buf_free(&text);
	return json;
}

static json_t *text_json(const struct buf *text)
{
	return json_of_bytes(buf_str(text), text->len);
}

static json_t *finding_json(const struct finding *f)
{
	const struct discrepancy *d = &f->discrepancy;
	const struct problem_row *problem = &problem_table[d->code];
	json_t *facts = json_array();
	json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o}", "title", text_json(&d->title),
				   "expected", text_json(&d->expected), "seen", text_json(&d->seen),
				   "differences", text_json(&d->diff), "rule", text_json(&d->rule));

	json_object_set_new(object, "problem", json_string(problem->sentence));
	json_object_set_new(object, "consequence", json_string(problem->consequence));
	json_object_set_new(object, "notes", text_json(&f->notes));
	if (d->code == PROBLEM_OUTCOME && f->count)
		json_object_set_new(object, "allowed", allowed_json(d, &f->calls[f->count - 1]));
	for (size_t i = 0; i < d->fact_count; i++)
		json_array_append_new(facts, fact_json(&d->facts[i]));
	json_object_set_new(object, "facts", facts);
	json_object_set_new(object, "replays",
			    json_pack("{s:i, s:i}", "tries", f->tries, "shown", f->shown));
	json_object_set_new(object, "program",
			    json_pack("{s:i, s:i, s:i}", "end", f->proof.end, "watch",
				      f->proof.watch, "wait_seconds", f->proof.wait_seconds));
	return object;
}

int folder_write_json(const struct finding *f, const char *dir, struct err *err)
{
	json_t *object = finding_json(f);
	char *text = json_dumps(object, JSON_INDENT(2) | JSON_SORT_KEYS), path[PATH_MAX];
	struct buf out = BUF_INIT;
	int status;

	must(text);
	buf_addf(&out, "%s\n", text);
	snprintf(path, sizeof(path), "%s/" FOLDER_JSON, dir);
	status = buf_write_file(&out, path, err);
	buf_free(&out);
	free(text);
	json_decref(object);
	return status;
}

static bool read_text(const json_t *object, const char *key, struct buf *out)
{
	const json_t *value = json_object_get(object, key);

	return !value || json_to_bytes(value, out);
}

/* A text of at most FACT_TEXT_MAX bytes, in the arena. */
static bool read_fact_bytes(const json_t *value, struct arena *arena, const char **ret, size_t *len)
{
	struct buf text = BUF_INIT;
	bool good = json_to_bytes(value, &text) && text.len <= FACT_TEXT_MAX;

	if (good) {
		*ret = arena_copy(arena, buf_str(&text), text.len);
		*len = text.len;
	}
	buf_free(&text);
	return good;
}

static bool read_fact_field(struct fact *fact, const struct fact_field *field, const json_t *value,
			    struct arena *arena)
{
	void *at = (char *)fact + field->offset;
	int64_t wide = json_integer_value(value);
	uint32_t number = (uint32_t)wide;
	const char *text;
	size_t len;

	switch (field->type) {
	case FIELD_BOOL:
		*(bool *)at = json_is_true(value);
		return json_is_boolean(value);
	case FIELD_32:
		memcpy(at, &number, sizeof(number));
		return json_is_integer(value) && wide == (int64_t)number;
	case FIELD_64:
		memcpy(at, &wide, sizeof(wide));
		return json_is_integer(value);
	case FIELD_TEXT:
		if (!read_fact_bytes(value, arena, &text, &len) || strlen(text) != len)
			return false;
		memcpy(at, &text, sizeof(text));
		return true;
	}
	return false;
}

/* Whether everything is there that checks of this kind use. */
static bool fact_is_whole(const struct fact *fact)
{
	if (!fact->path || fact->path[0] != '/' || fact->error < 0)
		return false;
	switch (fact->kind) {
	case FACT_LINKS:
	case FACT_DOTS:
	case FACT_ENTRY_INO:
	case FACT_ENTRY_TYPE:
		return fact->name;
	case FACT_XATTR:
		return fact->name && (fact->absent || fact->bytes);
	case FACT_DATA:
	case FACT_TARGET:
		return fact->bytes;
	case FACT_TIMES:
		return fact->time < TIME_FIELDS && fact->wrong < TIME_WRONGS && fact->unit_ns > 0;
	default:
		return true;
	}
}

static bool read_fact(struct fact *fact, const json_t *object, struct arena *arena)
{
	const char *kind = json_text(object, "kind");
	const json_t *value;
	int i = 0;

	while (i < FACT_KINDS && strcmp(kind, fact_names[i]))
		i++;
	if (i == FACT_KINDS)
		return false;
	fact->kind = (enum fact_kind)i;
	for (size_t j = 0; j < ARRAY_LEN(fact_fields); j++) {
		value = json_object_get(object, fact_fields[j].key);
		if (value && !read_fact_field(fact, &fact_fields[j], value, arena))
			return false;
	}
	value = json_object_get(object, "bytes");
	if (value && !read_fact_bytes(value, arena, &fact->bytes, &fact->len))
		return false;
	return fact_is_whole(fact);
}

static bool read_facts(struct discrepancy *d, const json_t *array)
{
	const json_t *item;
	size_t i;

	if (json_array_size(array) > FACTS_MAX)
		return false;
	d->facts = arena_alloc(&d->arena, FACTS_MAX * sizeof(*d->facts));
	json_array_foreach(array, i, item)
	{
		d->facts[i] = (struct fact){ 0 };
		if (!read_fact(&d->facts[i], item, &d->arena))
			return false;
	}
	d->fact_count = i;
	return true;
}

void folder_take_allowed(struct discrepancy *d, const struct item_return *allowed)
{
	for (size_t i = 0; i < allowed->count; i++) {
		const struct outcome *o = &allowed->outcomes[i];

		if (o->error) {
			errset_add(&d->allowed, o->error);
		} else {
			d->success_allowed = true;
			d->value = outcome_copy(o, &d->arena);
		}
	}
}

static bool read_allowed(struct discrepancy *d, const json_t *value)
{
	struct script script = { 0 };
	struct buf text = BUF_INIT;
	struct err none = { 0 };
	bool good = !value;

	if (value && json_to_bytes(value, &text)) {
		buf_addch(&text, '\n');
		good = !script_parse(&script, "allowed", text.data, text.len, &none);
		for (size_t i = 0; good && i < script.count; i++)
			if (script.items[i].type == ITEM_RETURN)
				folder_take_allowed(d, &script.items[i].ret);
		script_free(&script);
	}
	buf_free(&text);
	return good;
}

/* A number of an object in it. */
static unsigned read_number(const json_t *object, const char *group, const char *key, unsigned max)
{
	json_int_t value = json_integer_value(json_object_get(json_object_get(object, group), key));

	return value >= 0 && value <= max ? (unsigned)value : 0;
}

static bool read_object(struct finding *f, const json_t *object)
{
	struct discrepancy *d = &f->discrepancy;

	f->tries = read_number(object, "replays", "tries", INT_MAX);
	f->shown = read_number(object, "replays", "shown", INT_MAX);
	f->proof.end = (enum proof_end)read_number(object, "program", "end", PROOF_NOT_RUN);
	f->proof.watch = (enum repro_watch)read_number(object, "program", "watch", WATCH_ALL);
	f->proof.wait_seconds = read_number(object, "program", "wait_seconds", SECONDS_MAX);
	return read_text(object, "title", &d->title) &&
	       read_text(object, "expected", &d->expected) && read_text(object, "seen", &d->seen) &&
	       read_text(object, "differences", &d->diff) && read_text(object, "rule", &d->rule) &&
	       read_allowed(d, json_object_get(object, "allowed")) &&
	       read_facts(d, json_object_get(object, "facts"));
}

int folder_read_json(struct finding *f, const char *dir, struct err *err)
{
	struct buf text = BUF_INIT;
	json_t *object = NULL;
	char path[PATH_MAX];
	int status;

	snprintf(path, sizeof(path), "%s/" FOLDER_JSON, dir);
	status = buf_read_file(&text, path, JSON_MAX, err);
	if (!status) {
		object = json_loadb(buf_str(&text), text.len, JSON_ALLOW_NUL, NULL);
		if (!json_is_object(object) || !read_object(f, object))
			status = err_set(err, EINVAL, "%s does not describe a finding", path);
	}
	json_decref(object);
	buf_free(&text);
	return status;
}
