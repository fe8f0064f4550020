/* cmd_serve.c -- `assay serve [RUN|DIR]`: pages of runs in a browser, live while they run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/must.h"
#include "base/stop.h"
#include "campaign/campaign_report.h"
#include "cli/command.h"
#include "cli/operands.h"
#include "serve/http_server.h"

static struct serve_settings {
	uint64_t port;
	const char *listen, *token;
} settings = {
	.port = 7357,
	.listen = "127.0.0.1",
};

#define ROW(field) offsetof(struct serve_settings, field)

static const struct opt opts[] = {
	{ "port", OPT_U64, ROW(port), "N", "TCP port; 0: any that is free", 0, 65535 },
	{ "listen", OPT_TEXT, ROW(listen), "ADDRESS",
	  "address to listen on, in figures; another one than of this machine alone requires a "
	  "token",
	  0, 0 },
	{ "token", OPT_TEXT, ROW(token), "FILE",
	  "a file whose first line is the token that requests need; default: a random one where it "
	  "is required",
	  0, 0 },
	OPT_END,
};

static int serve_until_stopped(struct http_server *s, struct err *err)
{
	struct buf url = BUF_INIT;
	int status;

	http_server_url(s, !settings.token, &url);
	printf("%s\n", url.data);
	fflush(stdout);
	buf_free(&url);
	status = http_server_run(s, err);
	http_server_close(s);
	return operand_code(status);
}

/* While the campaign runs: it writes to its database after every turn. */
static json_t *serve_read_campaign(const char *dir)
{
	struct err none = { 0 };
	struct campaign_db d;
	json_t *findings;

	if (campaign_db_open(&d, dir, CAMPAIGN_DB_GLANCE, &none))
		return NULL;
	findings = campaign_report_findings(&d, dir, 0, false, &none);
	campaign_db_close(&d);
	return findings;
}

static int run_serve(int argc, char **argv, struct err *err)
{
	const char *path = argc > 1 ? argv[1] : "runs";
	struct http_server *s;
	int code;

	if (argc > 2) {
		err_set(err, EINVAL, "expected one directory");
		return EXIT_USAGE;
	}
	code = operand_directory(path, err);
	if (code)
		return code;
	s = must_alloc(sizeof(*s));
	stop_catch_signals();
	code = operand_code(http_server_open(s, path, settings.listen, (unsigned)settings.port,
					     settings.token, err));
	if (!code) {
		s->index.read_campaign = serve_read_campaign;
		code = serve_until_stopped(s, err);
	}
	free(s);
	return code;
}

const struct command command_serve = {
	.name = "serve",
	.usage = "[RUN|DIR]",
	.summary = "show runs in a browser, live while they run",
	.text = "Serves pages of runs by HTTP and prints the URL. Of the directory of a run, "
		"_RUN_,\n"
		"that is its page, the same as report.html; while the run continues, new findings\n"
		"and figures appear without reloading it. Of another directory, _DIR_ (default:\n"
		"runs), it is a list of all runs below, also of those that begin later, and of "
		"the\n"
		"findings of a campaign with the times when they were first and last seen.\n"
		"Ends at Ctrl-C.\n"
		"\n"
		"The server only reads, and only files that belong to runs. It listens on\n"
		"127.0.0.1, where all users of this machine can reach it. Any other address\n"
		"(*--listen*) requires a token: one of *--token*, or a random one, which is then\n"
		"part of the printed URL. *--token* requires it on 127.0.0.1, too. Connections "
		"are\n"
		"not encrypted. Requests that name the server by another host name than the\n"
		"printed one, an address or localhost are refused. So are runs that another user\n"
		"could have written.\n"
		"\n"
		"Exit status: 0 stopped by a signal, 2 could not listen, for example because the\n"
		"port is in use, 64 no such directory.",
	.opts = opts,
	.settings = &settings,
	.run = run_serve,
};
