/* request_path.h -- what the path of a request names: a page, its data, or a file of a run.
 *
 * Only what belongs to runs has a name here. A path is taken apart before anything is opened: names
 * that begin with a full stop, slashes and NUL in disguise, and empty names mean nothing. */
#ifndef SERVE_REQUEST_PATH_H
#define SERVE_REQUEST_PATH_H

enum { REQUEST_PATH_MAX = 1024, REQUEST_NAMES_MAX = 16 };

enum request_kind {
	REQUEST_NOTHING,
	REQUEST_ICON,       /* browsers ask for it; there is none */
	REQUEST_INDEX_DATA, /* "/index.json" */
	REQUEST_DIRECTORY,  /* "/RUN/", and "/" */
	REQUEST_PAGE,       /* "/RUN/report.html" */
	REQUEST_DATA,       /* "/RUN/data.json" */
	REQUEST_FILE,       /* "/RUN/run.json", "/RUN/findings/001-TREE/trace" */
};

struct request_path {
	enum request_kind kind;
	char run[REQUEST_PATH_MAX];  /* directory of the run below the root; "." is the root */
	char file[REQUEST_PATH_MAX]; /* below that; only of a file */
};

/* The path as the client has sent it, percent signs included, without a query. */
void request_path_parse(struct request_path *p, const char *path);

#endif
