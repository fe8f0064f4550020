/* app_record.h -- an application runs on a mounted RefFS, and its calls become a script.
 *
 * The mount lies over a directory, in a private mount namespace: no other process sees it, and
 * it ends with us. Root needs nothing else, another user a user namespace. Nothing is traced: the
 * script is what the file system was asked for (reffs/record.h), and sync (app_sync.h). */
#ifndef APPCRASH_APP_RECORD_H
#define APPCRASH_APP_RECORD_H

struct err;

/* Between what prepares and what is crashed, as in every workload (workload.h). */
#define APP_RUN_MARK "# run\n"

struct app_record {
	const char *prepare; /* a command, or NULL */
	const char *app;
	const char *dir; /* that both run in: the mount point */
	const char *trace;
	double seconds; /* of each of them */
};

/* Both must exit with 0. */
int app_record(const struct app_record *a, struct err *err);

#endif
