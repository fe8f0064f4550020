/* kind_descriptor.c -- descriptors, directory streams, mappings and file handles, by the numbers a
 * script gives them. */
#include <fcntl.h>
#include <inttypes.h>

#include "base/buf.h"
#include "base/must.h"
#include "op/c_text.h"
#include "op/kind_functions.h"

static void fd_c_text(const struct kind_info *kind, const struct arg *arg, struct c_text *to)
{
	if (c_is_descriptor(arg->num))
		buf_addf(to->out, "fd[%" PRId64 "]", arg->num + to->process * C_FDS_MAX);
	else
		c_number((int32_t)arg->num, to->out);
}

static void dirfd_c_text(const struct kind_info *kind, const struct arg *arg, struct c_text *to)
{
	if (arg->num == AT_FDCWD)
		buf_adds(to->out, "AT_FDCWD");
	else
		fd_c_text(kind, arg, to);
}

/* A stream that is not open is number 0, which never is. */
static void stream_c_text(const struct kind_info *kind, const struct arg *arg, struct c_text *to)
{
	bool known = arg->num > 0 && arg->num < C_STREAMS_MAX;

	buf_addf(to->out, "&stream[%" PRId64 "]",
		 known ? arg->num + to->process * C_STREAMS_MAX : 0);
}

/* The same of a mapping. */
static void map_c_text(const struct kind_info *kind, const struct arg *arg, struct c_text *to)
{
	bool known = arg->num > 0 && arg->num < C_STREAMS_MAX;

	buf_addf(to->out, "&mapping[%" PRId64 "]",
		 known ? arg->num + to->process * C_STREAMS_MAX : 0);
}

static const int64_t descriptors[] = { -1, 0, INT32_MAX };

#define DESCRIPTOR \
	.form = FORM_NUM, VALUES(descriptors), .boundary = number_boundary_list, \
	.classes = sign_classes, .partitions = &partition_classes

const struct kind_info kind_fd = {
	.name = "fd",
	DESCRIPTOR,
	.places = 4,
	.picked = "3",
	.print = number_print,
	.lex = number_lex,
	.c_text = fd_c_text,
};

static const struct kind_name dirfd_names[] = {
	{ .name = "AT_FDCWD", .value = AT_FDCWD, .mask = -1 },
	{ .name = NULL },
};

const struct kind_info kind_dirfd = {
	.name = "dirfd",
	DESCRIPTOR,
	.places = 2,
	.picked = "AT_FDCWD",
	.names = dirfd_names,
	.print = names_print,
	.lex = names_lex,
	.c_text = dirfd_c_text,
};

const struct kind_info kind_dh = {
	.name = "dh",
	DESCRIPTOR,
	.places = 2,
	.picked = "1",
	.print = number_print,
	.lex = number_lex,
	.c_text = stream_c_text,
};

const struct kind_info kind_map = {
	.name = "map",
	DESCRIPTOR,
	.places = 2,
	.picked = "1",
	.print = number_print,
	.lex = number_lex,
	.c_text = map_c_text,
};

const struct kind_info kind_handle = {
	.name = "handle",
	DESCRIPTOR,
	.picked = "1 2",
	.print = number_print,
	.lex = number_lex,
	.c_text = number_c_text,
};
