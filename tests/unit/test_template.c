/* test_template.c -- pages from templates: what is shown, and that nothing in it is markup. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "report/html.h"
#include "report/template.h"
#include "tests/harness/unit.h"

static void expect(const char *template, const char *data, const char *text)
{
	json_t *json = json_loads(data, 0, NULL);
	struct buf out = BUF_INIT;

	assert_non_null(json);
	template_render(&out, template, json);
	assert_string_equal(buf_str(&out), text);
	buf_free(&out);
	json_decref(json);
}

static void values_are_shown(void **state)
{
	expect("a {{x}} b {{y}} c", "{\"x\": \"1\", \"y\": true}", "a 1 b yes c");
	expect("{{n}}", "{\"n\": 1234567}", "1\u202f234\u202f567");
	expect("{{n}}|{{m}}", "{\"n\": 12, \"m\": 1.5}", "12|1.50");
	expect("{{missing}}", "{}", "");
	expect("no tag", "{}", "no tag");
}

static void values_are_escaped(void **state)
{
	expect("{{x}}", "{\"x\": \"</script><b a='\\\"'>&\"}",
	       "&lt;/script&gt;&lt;b a=&#39;&quot;&#39;&gt;&amp;");
	expect("{{x}}", "{\"x\": \"a\\u001bb\\n\"}", "a\\x1bb\n");
	expect("{{{x}}}", "{\"x\": \"<svg/>\"}", "<svg/>");
	/* A value is no template. */
	expect("{{x}}", "{\"x\": \"{{y}}\", \"y\": \"no\"}", "{{y}}");
}

static void lists_repeat(void **state)
{
	expect("{{#l}}[{{a}}{{b}}]{{/l}}",
	       "{\"b\": \"-\", \"l\": [{\"a\": \"1\"}, {\"a\": \"2\"}]}", "[1-][2-]");
	expect("{{#l}}<{{.}}>{{/l}}", "{\"l\": [\"a\", \"b\"]}", "<a><b>");
	expect("{{#l}}{{#l}}{{.}}{{/l}};{{/l}}", "{\"l\": [{\"l\": [\"a\", \"b\"]}, {\"l\": []}]}",
	       "ab;;");
}

static void what_is_nothing_is_left_out(void **state)
{
	static const char *const nothing[] = { "{}",           "{\"x\": \"\"}", "{\"x\": []}",
					       "{\"x\": {}}",  "{\"x\": 0}",    "{\"x\": false}",
					       "{\"x\": null}" };

	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
		expect("{{#x}}some{{/x}}{{^x}}none{{/x}}", nothing[i], "none");
	expect("{{#x}}some{{/x}}{{^x}}none{{/x}}", "{\"x\": \"0\"}", "some");
	expect("{{#x}}{{x}}{{/x}}", "{\"x\": \"itself\"}", "itself");
}

static void no_text_ends_a_script(void **state)
{
	json_t *json = json_pack("{s:s}", "</script>", "<!-- & </script>");
	struct buf out = BUF_INIT;
	json_t *again;

	html_json(&out, json);
	assert_null(strpbrk(buf_str(&out), "<>&"));
	again = json_loads(buf_str(&out), 0, NULL);
	assert_true(json_equal(json, again));
	json_decref(again);
	json_decref(json);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_shown),
		cmocka_unit_test(values_are_escaped),
		cmocka_unit_test(lists_repeat),
		cmocka_unit_test(what_is_nothing_is_left_out),
		cmocka_unit_test(no_text_ends_a_script),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
