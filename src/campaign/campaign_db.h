/* campaign_db.h -- the database of a campaign: DIR/campaign.db (SQLite).
 *
 * docs/CAMPAIGN.md has the tables. One process writes: the one that has the lock of the directory.
 * A change is one transaction for each turn, so that a kill at any moment leaves the database as it
 * was after some turn. Readers come at any time and are waited for. A file of another program, or
 * of another version of the tables, is refused and not changed. */
#ifndef CAMPAIGN_CAMPAIGN_DB_H
#define CAMPAIGN_CAMPAIGN_DB_H

#include <stdint.h>

struct err;
struct sqlite3;
struct sqlite3_stmt;

struct campaign_db {
	struct sqlite3 *sql;
	char *path;
};

/* The version of the tables (PRAGMA user_version), and whose they are (PRAGMA application_id). */
enum { CAMPAIGN_DB_VERSION = 1, CAMPAIGN_DB_APPLICATION = 0x61737361 };
#define CAMPAIGN_DB_NAME "campaign.db"

enum campaign_db_use {
	CAMPAIGN_DB_READ,
	CAMPAIGN_DB_WRITE, /* one is made where there is none */
	/* Never writes to the file, not even to roll back what a killed writer has begun, and waits
	 * for a writer only for a moment. */
	CAMPAIGN_DB_GLANCE,
};

/* In this directory. */
int campaign_db_open(struct campaign_db *d, const char *dir, enum campaign_db_use use,
		     struct err *err);
void campaign_db_close(struct campaign_db *d);

/* A transaction. Both wait for readers, at most for some minutes. A commit that fails has been
 * rolled back. */
int campaign_db_begin(struct campaign_db *d, struct err *err);
int campaign_db_commit(struct campaign_db *d, struct err *err);
void campaign_db_rollback(struct campaign_db *d);

/* A statement with values for its question marks, a letter for each: i int64_t, d double, s text
 * (NULL: null). */
int campaign_db_run(struct campaign_db *d, struct err *err, const char *sql, const char *types,
		    ...);
/* The same of one that answers rows: 1 for each, then 0. */
int campaign_db_query(struct campaign_db *d, struct sqlite3_stmt **ret, struct err *err,
		      const char *sql, const char *types, ...);
int campaign_db_step(struct campaign_db *d, struct sqlite3_stmt *s, struct err *err);
void campaign_db_end(struct sqlite3_stmt *s);
int64_t campaign_db_integer(struct sqlite3_stmt *s, int column);
double campaign_db_real(struct sqlite3_stmt *s, int column);
const char *campaign_db_text(struct sqlite3_stmt *s, int column); /* "" for null */
int64_t campaign_db_last_id(const struct campaign_db *d);

/* Values by name, of the campaign as a whole; what is not there is 0. */
int campaign_db_get(struct campaign_db *d, const char *name, double *ret, struct err *err);
int campaign_db_set(struct campaign_db *d, const char *name, double value, struct err *err);

#endif
