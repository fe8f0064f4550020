/* report.h -- the HTML report of a run: DIR/report.html from DIR/run.json and the files beside it.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

struct err;

int report_write(const char *dir, struct err *err);

#endif
