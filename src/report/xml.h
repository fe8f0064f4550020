/* xml.h -- text in XML. */
#ifndef REPORT_XML_H
#define REPORT_XML_H

struct buf;

/* Escaped. XML 1.0 has no control characters but newlines and tabs: others become '?'. */
void xml_text(struct buf *out, const char *text);
/* " name=\"value\"" */
void xml_attribute(struct buf *out, const char *name, const char *value);

#endif
