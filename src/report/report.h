/* report.h -- a run told as a page: DIR/report.html from DIR/run.json and what lies beside it. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

struct err;

int report_write(const char *dir, struct err *err);

#endif
