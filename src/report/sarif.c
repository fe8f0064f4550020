/* sarif.c -- runs as SARIF 2.1.0, which code hosts show as findings of an analysis. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "report/formats.h"

static const char schema[] = "https://json.schemastore.org/sarif-2.1.0.json";

/* What POSIX allows but Linux does not do is less than what it forbids. */
static const char *sarif_level(const json_t *finding)
{
	return strcmp(json_text(finding, "severity"), "unlike-linux") ? "error" : "warning";
}

/* A path as a URI reference. */
static void sarif_add_uri(struct buf *out, const char *path)
{
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (isalnum(c) || strchr("/-._~", c))
			buf_addch(out, *path);
		else
			buf_addf(out, "%%%02X", c);
	}
}

static json_t *sarif_location(const struct report_run *run, const json_t *finding)
{
	struct buf uri = BUF_INIT;
	json_t *location;

	sarif_add_uri(&uri, run->dir);
	if (*json_text(finding, "folder")) {
		buf_addch(&uri, '/');
		sarif_add_uri(&uri, json_text(finding, "folder"));
		buf_adds(&uri, "/trace");
	}
	location = json_pack("{s:{s:{s:s}, s:{s:i}}, s:[{s:s, s:s}]}", "physicalLocation",
			     "artifactLocation", "uri", buf_str(&uri), "region", "startLine", 1,
			     "logicalLocations", "name", json_text(finding, "target"), "kind",
			     "module");
	buf_free(&uri);
	return location;
}

static json_t *sarif_result(const struct report_run *run, const json_t *finding, bool confirmed)
{
	return json_pack("{s:s, s:s, s:{s:s}, s:[o], s:{s:s}, s:{s:s, s:s, s:b}}", "ruleId",
			 json_text(finding, "code"), "level",
			 confirmed ? sarif_level(finding) : "note", "message", "text",
			 json_text(finding, "title"), "locations", sarif_location(run, finding),
			 "partialFingerprints", "assaySignature/v1",
			 json_text(finding, "signature"), "properties", "target",
			 json_text(finding, "target"), "severity", json_text(finding, "severity"),
			 "confirmed", confirmed);
}

static void sarif_add_rule(json_t *rules, const char *code)
{
	const json_t *rule;
	size_t i;

	json_array_foreach(rules, i, rule) if (!strcmp(json_text(rule, "id"), code)) return;
	json_array_append_new(rules, json_pack("{s:s, s:{s:s}}", "id", code, "shortDescription",
					       "text", code));
}

static void sarif_add_results(const struct report_run *run, const char *list, bool confirmed,
			      json_t *results, json_t *rules)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(json_object_get(run->summary, list), i, finding)
	{
		sarif_add_rule(rules, json_text(finding, "code"));
		json_array_append_new(results, sarif_result(run, finding, confirmed));
	}
}

static json_t *sarif_run(const struct report_run *run, const char *version)
{
	json_t *results = json_array(), *rules = json_array();
	bool told = strcmp(json_text(run->summary, "verdict"), "unknown") != 0;

	sarif_add_results(run, "findings", true, results, rules);
	sarif_add_results(run, "unconfirmed", false, results, rules);
	return json_pack("{s:{s:{s:s, s:s, s:o}}, s:o, s:[{s:b}], s:{s:s, s:s, s:s}}", "tool",
			 "driver", "name", "Assay", "version", version, "rules", rules, "results",
			 results, "invocations", "executionSuccessful", told, "properties",
			 "command", json_text(run->summary, "command"), "target",
			 json_text(run->summary, "target"), "verdict",
			 json_text(run->summary, "verdict"));
}

void report_sarif(const struct report_run *runs, size_t count, const char *version, struct buf *out)
{
	json_t *list = json_array(), *log;
	char *text;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, sarif_run(&runs[i], version));
	log = json_pack("{s:s, s:s, s:o}", "version", "2.1.0", "$schema", schema, "runs", list);
	text = json_dumps(log, JSON_INDENT(2));
	buf_addf(out, "%s\n", text ? text : "{}");
	free(text);
	json_decref(log);
}
