/* request_path.c -- what the path of a request names: a page, its data, or a file of a run. */
#include "serve/request_path.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"

struct path_names {
	char text[REQUEST_PATH_MAX];
	char *names[REQUEST_NAMES_MAX];
	size_t count;
	bool is_directory; /* a slash was behind the last one */
};

static int path_hex(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* A byte that a percent sign introduces; -1 for what no name can hold. */
static int path_escape(const char *at)
{
	int high = path_hex(at[1]), low = high < 0 ? -1 : path_hex(at[2]);
	int byte = low < 0 ? -1 : high << 4 | low;

	return byte == 0 || byte == '/' ? -1 : byte;
}

/* Percent signs are resolved once, in a copy. */
static bool path_decode(const char *path, char *ret, size_t size)
{
	size_t len = 0;

	for (; *path && len + 1 < size; path++) {
		int byte = *path == '%' ? path_escape(path) : (unsigned char)*path;

		if (byte < 0)
			return false;
		path += *path == '%' ? 2 : 0;
		ret[len++] = (char)byte;
	}
	ret[len] = '\0';
	return !*path;
}

static bool path_split(struct path_names *n, const char *path)
{
	char *rest, *name;

	if (*path != '/' || !path_decode(path + 1, n->text, sizeof(n->text)))
		return false;
	rest = n->text;
	while ((name = strsep(&rest, "/"))) {
		if (!*name && !rest) {
			n->is_directory = true;
			return true;
		}
		if (!*name || *name == '.' || n->count == REQUEST_NAMES_MAX)
			return false;
		n->names[n->count++] = name;
	}
	return true;
}

static void path_join(const struct path_names *n, size_t from, size_t to, char *ret)
{
	size_t len = 0;

	for (size_t i = from; i < to; i++)
		len += (size_t)snprintf(ret + len, REQUEST_PATH_MAX - len, "%s%s",
					i > from ? "/" : "", n->names[i]);
	if (from == to)
		snprintf(ret, REQUEST_PATH_MAX, ".");
}

/* Where the names of a run's directory end; n->count for what is no file of a run. */
static size_t path_run_end(const struct path_names *n)
{
	static const char *const folders[] = { "findings", "unconfirmed" };
	static const char *const files[] = { "run.json", "series.csv", "coverage.json", "trace" };

	for (size_t i = 0; i + 2 < n->count; i++)
		for (size_t k = 0; k < ARRAY_LEN(folders); k++)
			if (!strcmp(n->names[i], folders[k]))
				return i;
	for (size_t k = 0; k < ARRAY_LEN(files); k++)
		if (!strcmp(n->names[n->count - 1], files[k]))
			return n->count - 1;
	return n->count;
}

void request_path_parse(struct request_path *p, const char *path)
{
	struct path_names n = { .count = 0 };
	const char *last;
	size_t end;

	*p = (struct request_path){ .kind = REQUEST_NOTHING };
	if (!path_split(&n, path))
		return;
	end = n.count;
	last = n.count ? n.names[n.count - 1] : "";
	if (n.is_directory) {
		p->kind = REQUEST_DIRECTORY;
	} else if (n.count == 1 && !strcmp(last, "favicon.ico")) {
		p->kind = REQUEST_ICON;
	} else if (n.count == 1 && !strcmp(last, "index.json")) {
		p->kind = REQUEST_INDEX_DATA;
	} else if (!strcmp(last, "report.html") || !strcmp(last, "data.json")) {
		p->kind = *last == 'r' ? REQUEST_PAGE : REQUEST_DATA;
		end = n.count - 1;
	} else {
		end = path_run_end(&n);
		p->kind = end < n.count ? REQUEST_FILE : REQUEST_NOTHING;
	}
	path_join(&n, 0, end, p->run);
	path_join(&n, end, n.count, p->file);
}
