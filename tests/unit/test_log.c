/* test_log.c -- progress is for terminals only; clocks only go forward. */
#include <errno.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "tests/harness/unit.h"

enum { COLUMNS = 20 };

static void show(void)
{
	progress_show("%s", "a line that is longer than the terminal is wide");
	progress_end();
	progress_end();
}

/* What show() writes where stderr is fd; stderr is put back. A terminal hands on in pieces what
 * was written at once, so a mark is written behind it and waited for. */
static size_t shown_on(int fd, int read_fd, char *text, size_t size)
{
	const char mark = '$';
	int saved = dup(STDERR_FILENO);
	size_t len = 0;

	assert_return_code(dup2(fd, STDERR_FILENO), errno);
	show();
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_int_equal(write(fd, &mark, 1), 1);
	do {
		assert_true(len < size);
		assert_int_equal(read(read_fd, text + len, 1), 1);
	} while (text[len++] != mark);
	text[--len] = '\0';
	return len;
}

static void nothing_on_a_pipe(void **state)
{
	char text[256];
	int ends[2];

	setenv("TERM", "xterm", 1);
	assert_return_code(pipe(ends), errno);
	assert_int_equal(shown_on(ends[1], ends[0], text, sizeof(text)), 0);
	close(ends[0]);
	close(ends[1]);
}

static void one_line_on_a_terminal(void **state)
{
	struct winsize size = { .ws_row = 10, .ws_col = COLUMNS };
	int terminal, program;
	char text[256];

	if (openpty(&terminal, &program, NULL, NULL, &size) < 0)
		skip();
	setenv("TERM", "xterm", 1);
	shown_on(program, terminal, text, sizeof(text));
	assert_string_equal(text, "\ra line that is long\033[K\r\033[K");
	setenv("TERM", "dumb", 1);
	assert_int_equal(shown_on(program, terminal, text, sizeof(text)), 0);
	close(terminal);
	close(program);
}

static void clocks_go_forward(void **state)
{
	double clock = clock_seconds(), cpu = cpu_seconds();
	volatile unsigned work = 0;

	while (cpu_seconds() <= cpu)
		work++;
	assert_true(clock_seconds() > clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_on_a_pipe),
		cmocka_unit_test(one_line_on_a_terminal),
		cmocka_unit_test(clocks_go_forward),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
