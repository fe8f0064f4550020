/* campaign_db.c -- the database of a campaign: opened, checked, asked. */
#include "campaign/campaign_db.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/stop.h"
#include "base/trust.h"

/* A reader that holds it: how long one try waits, and how many there are; fewer when we are to
 * stop. */
enum { BUSY_MS = 3000, BUSY_GLANCE_MS = 200, BUSY_TRIES = 60, BUSY_TRIES_STOPPING = 3 };

static const char tables[] =
	"CREATE TABLE about(name TEXT PRIMARY KEY, value REAL NOT NULL);"
	"CREATE TABLE arms(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, section TEXT NOT "
	"NULL,"
	" instrument TEXT NOT NULL, target TEXT NOT NULL, state TEXT NOT NULL,"
	" reason TEXT NOT NULL, turns INTEGER NOT NULL DEFAULT 0,"
	" failures INTEGER NOT NULL DEFAULT 0, failures_in_row INTEGER NOT NULL DEFAULT 0,"
	" part INTEGER NOT NULL DEFAULT 0, folder INTEGER NOT NULL DEFAULT 0,"
	" seconds REAL NOT NULL DEFAULT 0, cpu_seconds REAL NOT NULL DEFAULT 0,"
	" states INTEGER NOT NULL DEFAULT 0, code INTEGER NOT NULL DEFAULT 0,"
	" findings INTEGER NOT NULL DEFAULT 0, run_states INTEGER NOT NULL DEFAULT 0,"
	" run_code INTEGER NOT NULL DEFAULT 0, weight REAL NOT NULL DEFAULT 0,"
	" recent_seconds REAL NOT NULL DEFAULT 0, yield_seconds REAL NOT NULL DEFAULT 0,"
	" yield_cpu REAL NOT NULL DEFAULT 0, yield_states REAL NOT NULL DEFAULT 0,"
	" yield_code REAL NOT NULL DEFAULT 0, yield_findings REAL NOT NULL DEFAULT 0,"
	" best_states REAL NOT NULL DEFAULT 0, best_code REAL NOT NULL DEFAULT 0);"
	"CREATE TABLE turns(id INTEGER PRIMARY KEY, arm INTEGER NOT NULL REFERENCES arms(id),"
	" state TEXT NOT NULL, started INTEGER NOT NULL, ended INTEGER, folder TEXT NOT NULL,"
	" resumed INTEGER NOT NULL, seed TEXT NOT NULL, version TEXT NOT NULL,"
	" kernel TEXT NOT NULL, exit_code INTEGER, signal INTEGER, reason TEXT,"
	" seconds REAL NOT NULL DEFAULT 0, cpu_seconds REAL NOT NULL DEFAULT 0,"
	" states INTEGER NOT NULL DEFAULT 0, code INTEGER NOT NULL DEFAULT 0,"
	" findings INTEGER NOT NULL DEFAULT 0);"
	"CREATE INDEX turns_running ON turns(state) WHERE state = 'running';"
	"CREATE TABLE findings(id INTEGER PRIMARY KEY, target TEXT NOT NULL, cause TEXT NOT NULL,"
	" signature TEXT NOT NULL, code TEXT NOT NULL, title TEXT NOT NULL, severity TEXT NOT NULL,"
	" confirmed INTEGER NOT NULL, known TEXT, first_seen INTEGER NOT NULL,"
	" last_seen INTEGER NOT NULL, times INTEGER NOT NULL, turn INTEGER NOT NULL,"
	" calls INTEGER NOT NULL, folder TEXT NOT NULL, row TEXT NOT NULL, UNIQUE(target, cause));"
	"CREATE TABLE sightings(finding INTEGER NOT NULL REFERENCES findings(id),"
	" arm INTEGER NOT NULL REFERENCES arms(id), kernel TEXT NOT NULL,"
	" first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL, times INTEGER NOT NULL,"
	" PRIMARY KEY(finding, arm, kernel)) WITHOUT ROWID;";

/* ---- failures ---- */

static int campaign_db_errno(int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return EBUSY;
	case SQLITE_NOTADB:
		return EINVAL;
	case SQLITE_CORRUPT:
		return EUCLEAN;
	case SQLITE_READONLY:
		return EROFS;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return EACCES;
	default:
		return EIO;
	}
}

static int campaign_db_fail(const struct campaign_db *d, int code, struct err *err)
{
	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(err, EBUSY, "%s: another process keeps it locked", d->path);
	case SQLITE_NOTADB:
		return err_set(err, EINVAL, "%s: not a database", d->path);
	case SQLITE_CORRUPT:
		return err_set(err, EUCLEAN, "%s: the database is damaged: %s", d->path,
			       sqlite3_errmsg(d->sql));
	default:
		return err_set(err, campaign_db_errno(code), "%s: %s", d->path,
			       d->sql ? sqlite3_errmsg(d->sql) : sqlite3_errstr(code));
	}
}

/* ---- statements ---- */

static int campaign_db_bind(struct sqlite3_stmt *s, const char *types, va_list args)
{
	int code = SQLITE_OK;

	for (int i = 1; types[i - 1] && code == SQLITE_OK; i++) {
		const char *text;

		switch (types[i - 1]) {
		case 'i':
			code = sqlite3_bind_int64(s, i, va_arg(args, int64_t));
			break;
		case 'd':
			code = sqlite3_bind_double(s, i, va_arg(args, double));
			break;
		case 's':
			text = va_arg(args, const char *);
			code = text ? sqlite3_bind_text(s, i, text, -1, SQLITE_TRANSIENT)
				    : sqlite3_bind_null(s, i);
			break;
		default:
			must(!"a letter for a known type");
		}
	}
	return code;
}

static int campaign_db_prepare(struct campaign_db *d, struct sqlite3_stmt **ret, struct err *err,
			       const char *sql, const char *types, va_list args)
{
	int code = sqlite3_prepare_v2(d->sql, sql, -1, ret, NULL);

	if (code == SQLITE_OK)
		code = campaign_db_bind(*ret, types, args);
	if (code == SQLITE_OK)
		return 0;
	sqlite3_finalize(*ret);
	*ret = NULL;
	return campaign_db_fail(d, code, err);
}

int campaign_db_query(struct campaign_db *d, struct sqlite3_stmt **ret, struct err *err,
		      const char *sql, const char *types, ...)
{
	va_list args;
	int status;

	va_start(args, types);
	status = campaign_db_prepare(d, ret, err, sql, types, args);
	va_end(args);
	return status;
}

int campaign_db_step(struct campaign_db *d, struct sqlite3_stmt *s, struct err *err)
{
	int code = sqlite3_step(s);

	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : campaign_db_fail(d, code, err);
}

void campaign_db_end(struct sqlite3_stmt *s)
{
	sqlite3_finalize(s);
}

int campaign_db_run(struct campaign_db *d, struct err *err, const char *sql, const char *types, ...)
{
	struct sqlite3_stmt *s;
	va_list args;
	int status;

	va_start(args, types);
	status = campaign_db_prepare(d, &s, err, sql, types, args);
	va_end(args);
	if (!status)
		status = campaign_db_step(d, s, err);
	sqlite3_finalize(s);
	return status < 0 ? status : 0;
}

int64_t campaign_db_integer(struct sqlite3_stmt *s, int column)
{
	return sqlite3_column_int64(s, column);
}

double campaign_db_real(struct sqlite3_stmt *s, int column)
{
	return sqlite3_column_double(s, column);
}

const char *campaign_db_text(struct sqlite3_stmt *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s, column);

	return text ? text : "";
}

int64_t campaign_db_last_id(const struct campaign_db *d)
{
	return sqlite3_last_insert_rowid(d->sql);
}

/* The first value of a query; 0 if it answers no row. */
static int campaign_db_value(struct campaign_db *d, double *ret, struct err *err, const char *sql,
			     const char *text)
{
	struct sqlite3_stmt *s;
	int status = campaign_db_query(d, &s, err, sql, text ? "s" : "", text);

	*ret = 0;
	if (status)
		return status;
	status = campaign_db_step(d, s, err);
	if (status > 0)
		*ret = campaign_db_real(s, 0);
	campaign_db_end(s);
	return status < 0 ? status : 0;
}

/* ---- transactions ---- */

static int campaign_db_insist(struct campaign_db *d, const char *sql, struct err *err)
{
	int code = SQLITE_BUSY;

	for (int tries = 0; code == SQLITE_BUSY; tries++) {
		if (tries == (stop_requested ? BUSY_TRIES_STOPPING : BUSY_TRIES))
			break;
		code = sqlite3_exec(d->sql, sql, NULL, NULL, NULL);
	}
	return code == SQLITE_OK ? 0 : campaign_db_fail(d, code, err);
}

int campaign_db_begin(struct campaign_db *d, struct err *err)
{
	return campaign_db_insist(d, "BEGIN IMMEDIATE", err);
}

int campaign_db_commit(struct campaign_db *d, struct err *err)
{
	int status = campaign_db_insist(d, "COMMIT", err);

	if (status)
		campaign_db_rollback(d);
	return status;
}

/* Some failures have rolled it back already. */
void campaign_db_rollback(struct campaign_db *d)
{
	if (!sqlite3_get_autocommit(d->sql))
		sqlite3_exec(d->sql, "ROLLBACK", NULL, NULL, NULL);
}

/* ---- opening ---- */

static int campaign_db_make(struct campaign_db *d, struct err *err)
{
	struct buf sql = BUF_INIT;
	int status;

	buf_addf(&sql, "%sPRAGMA application_id = %d; PRAGMA user_version = %d", tables,
		 CAMPAIGN_DB_APPLICATION, CAMPAIGN_DB_VERSION);
	status = campaign_db_begin(d, err);
	if (!status && sqlite3_exec(d->sql, sql.data, NULL, NULL, NULL) != SQLITE_OK)
		status = campaign_db_fail(d, sqlite3_errcode(d->sql), err);
	if (!status)
		status = campaign_db_commit(d, err);
	else
		campaign_db_rollback(d);
	buf_free(&sql);
	return status;
}

static int campaign_db_check(struct campaign_db *d, enum campaign_db_use use, struct err *err)
{
	double application, version, entries;
	int status = campaign_db_value(d, &application, err, "PRAGMA application_id", NULL);

	if (!status)
		status = campaign_db_value(d, &version, err, "PRAGMA user_version", NULL);
	if (!status)
		status = campaign_db_value(d, &entries, err, "SELECT count(*) FROM sqlite_schema",
					   NULL);
	if (status)
		return status;
	if (use == CAMPAIGN_DB_WRITE && application == 0 && version == 0 && entries == 0)
		return campaign_db_make(d, err);
	if (application != CAMPAIGN_DB_APPLICATION)
		return err_set(err, EINVAL, "%s: not the database of a campaign", d->path);
	if (version != CAMPAIGN_DB_VERSION)
		return err_set(
			err, EINVAL,
			"%s: its tables have version %.0f, this Assay has version %d: use the "
			"Assay that made it, or another directory",
			d->path, version, CAMPAIGN_DB_VERSION);
	return 0;
}

/* What the file itself might ask SQLite to do is not done. */
static int campaign_db_configure(struct campaign_db *d, enum campaign_db_use use, struct err *err)
{
	int code;

	sqlite3_busy_timeout(d->sql, use == CAMPAIGN_DB_GLANCE ? BUSY_GLANCE_MS : BUSY_MS);
	sqlite3_extended_result_codes(d->sql, 0);
	sqlite3_db_config(d->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(d->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	code = sqlite3_exec(d->sql,
			    use == CAMPAIGN_DB_WRITE
				    ? "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL"
				    : "PRAGMA query_only = ON",
			    NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : campaign_db_fail(d, code, err);
}

static int campaign_db_connect(struct campaign_db *d, enum campaign_db_use use, struct err *err)
{
	/* A reader may have to roll back what a killed writer has begun. */
	static const int flags[] = {
		[CAMPAIGN_DB_READ] = SQLITE_OPEN_READWRITE,
		[CAMPAIGN_DB_WRITE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
		[CAMPAIGN_DB_GLANCE] = SQLITE_OPEN_READONLY,
	};
	int code =
		sqlite3_open_v2(d->path, &d->sql,
				flags[use] | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_PRIVATECACHE, NULL);

	return code == SQLITE_OK ? 0 : campaign_db_fail(d, code, err);
}

static int campaign_db_check_file(const struct campaign_db *d, const char *dir,
				  enum campaign_db_use use, struct err *err)
{
	if (!access(d->path, F_OK))
		return trust_check(d->path, err);
	if (errno != ENOENT && errno != ENOTDIR)
		return err_sys(err, errno, "%s", d->path);
	return use == CAMPAIGN_DB_WRITE
		     ? 0
		     : err_set(err, ENOENT, "%s: not the directory of a campaign", dir);
}

int campaign_db_open(struct campaign_db *d, const char *dir, enum campaign_db_use use,
		     struct err *err)
{
	char *absolute = realpath(dir, NULL);
	struct buf path = BUF_INIT;
	int status = 0;

	*d = (struct campaign_db){ 0 };
	if (!absolute)
		return err_sys(err, errno, "%s", dir);
	buf_addf(&path, "%s/" CAMPAIGN_DB_NAME, absolute);
	free(absolute);
	d->path = path.data;
	status = campaign_db_check_file(d, dir, use, err);
	if (!status)
		status = campaign_db_connect(d, use, err);
	if (!status)
		status = campaign_db_configure(d, use, err);
	if (!status)
		status = campaign_db_check(d, use, err);
	if (status)
		campaign_db_close(d);
	return status;
}

void campaign_db_close(struct campaign_db *d)
{
	sqlite3_close(d->sql);
	free(d->path);
	*d = (struct campaign_db){ 0 };
}

/* ---- values by name ---- */

int campaign_db_get(struct campaign_db *d, const char *name, double *ret, struct err *err)
{
	return campaign_db_value(d, ret, err, "SELECT value FROM about WHERE name = ?", name);
}

int campaign_db_set(struct campaign_db *d, const char *name, double value, struct err *err)
{
	return campaign_db_run(d, err,
			       "INSERT INTO about VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE SET "
			       "value = ?2",
			       "sd", name, value);
}
