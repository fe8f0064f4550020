/* template.h -- text from a template and JSON: the one place where pages are escaped.
 *
 * {{name}}             the value, escaped for HTML; counts are grouped: 1 234 567
 * {{{name}}}           the value as it is: only for what svg.h and html_json() have made
 * {{#name}}...{{/name}} for each item of a list; once, with its members, for an object; once
 *                      where the value is true or a text or number that is not empty or zero
 * {{^name}}...{{/name}} where that gives nothing
 * {{.}}                the item itself
 *
 * A name is looked up in the innermost object first, then in those around it. Templates are ours: a
 * mistake in one is a bug. */
#ifndef REPORT_TEMPLATE_H
#define REPORT_TEMPLATE_H

#include <jansson.h>

struct buf;

void template_render(struct buf *out, const char *template, const json_t *data);

#endif
