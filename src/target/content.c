/* content.c -- what lies below a layered file system before it is mounted. */
#include "target/content.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "channel/client.h"
#include "trace/script.h"

static int content_read(const struct target_description *d, struct script *ret, struct err *err)
{
	return script_parse(ret, "content", d->content, strlen(d->content), err);
}

int content_check(const struct target_description *d, struct err *err)
{
	struct script script = { 0 };
	struct err why = { 0 };
	int ret;

	if (!d->content)
		return 0;
	if (!d->content_dir)
		return err_set(err, EINVAL, "%s: content without content_dir", d->name);
	ret = content_read(d, &script, &why);
	script_free(&script);
	return ret ? err_set(err, -ret, "%s: %s", d->name, why.text) : 0;
}

static int content_call(const struct target_description *d, const struct channel_client *client,
			const struct item *item, struct err *err)
{
	enum target_fate fate;
	struct outcome outcome;
	int ret = channel_call(client, &item->call, &outcome, &fate, err);

	if (ret)
		return ret;
	if (fate != FATE_FINE)
		return err_set(err, EIO, "%s: content:%u: the call does not return", d->name,
			       item->line);
	if (outcome.error)
		return err_set(err, EINVAL, "%s: content:%u: the call returns %s", d->name,
			       item->line, errno_name(outcome.error));
	return 0;
}

int content_make(const struct target_description *d, const struct channel_client *client,
		 struct err *err)
{
	struct script script = { 0 };
	int ret = content_read(d, &script, err);

	for (size_t i = 0; i < script.count && !ret; i++)
		if (script.items[i].type == ITEM_CALL)
			ret = content_call(d, client, &script.items[i], err);
	script_free(&script);
	return ret;
}
