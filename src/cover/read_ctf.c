/* read_ctf.c -- coverage from LTTng's traces, in the Common Trace Format, by libbabeltrace2.
 *
 * A directory is read through the library's own components: the source of files, a muxer, and a
 * sink that is ours. Fields are found by the names the kernel gives to arguments. Threads are
 * identified by the context "tid" or "vtid" where the trace has it, else by the CPU that a call
 * began on. */
#include "cover/readers.h"

#include <errno.h>

#include "base/err.h"

#ifndef HAVE_CTF

int read_ctf(struct coverage *c, const struct read_options *options, const char *path,
	     struct err *err)
{
	return err_set(err, EOPNOTSUPP,
		       "built without libbabeltrace2, which is needed for CTF traces");
}

#else

#include <babeltrace2/babeltrace.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "cover/events.h"
#include "op/kind.h"

struct ctf {
	struct events events;
	bt_message_iterator *messages;
	struct buf packed;
	uint64_t taken; /* events */
};

static bool strip_prefix(const char **name, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(*name, prefix, len))
		return false;
	*name += len;
	return true;
}

static const bt_field *ctf_member(const bt_field *structure, const char *name)
{
	if (!structure || bt_field_get_class_type(structure) != BT_FIELD_CLASS_TYPE_STRUCTURE)
		return NULL;
	return bt_field_structure_borrow_member_field_by_name_const(structure, name);
}

static bool ctf_integer(const bt_field *field, int64_t *ret)
{
	bt_field_class_type type = field ? bt_field_get_class_type(field) : 0;

	if (field && bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		*ret = (int64_t)bt_field_integer_unsigned_get_value(field);
	else if (field && bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		*ret = bt_field_integer_signed_get_value(field);
	else
		return false;
	return true;
}

static bool any_integer(const bt_field *payload, const char *const *names, int64_t *ret)
{
	for (; *names; names++)
		if (ctf_integer(ctf_member(payload, *names), ret))
			return true;
	return false;
}

static struct text any_string(const bt_field *payload, const char *const *names)
{
	const bt_field *field;

	for (; *names; names++) {
		field = ctf_member(payload, *names);
		if (field && bt_field_get_class_type(field) == BT_FIELD_CLASS_TYPE_STRING)
			return (struct text){ bt_field_string_get_value(field),
					      bt_field_string_get_length(field) };
	}
	return (struct text){ NULL, 0 };
}

static uint32_t thread_of(const bt_event *event)
{
	static const char *const tids[] = { "tid", "vtid", NULL };
	static const char *const pids[] = { "cpu_id", NULL };
	const bt_packet *packet = bt_event_borrow_packet_const(event);
	int64_t id = 0;

	if (any_integer(bt_event_borrow_common_context_field_const(event), tids, &id) ||
	    any_integer(bt_event_borrow_specific_context_field_const(event), tids, &id))
		return (uint32_t)id;
	if (packet)
		any_integer(bt_packet_borrow_context_field_const(packet), pids, &id);
	return (uint32_t)id;
}

/* What the kernel calls an argument. */
static const char *const *names_of(const struct syscall *call, unsigned arg)
{
	static const char *const flags[] = { "flags", "flag", NULL };
	const struct kind_info *kind;

	kind = kind_table[op_table[call->op].arg[call->row.arg[arg].to].kind];
	return kind->kernel_names ? kind->kernel_names : flags;
}

static void read_entry(struct trace_event *ev, const bt_field *payload)
{
	static const char *const fds[2][6] = { { "dfd", "fd", "fildes", "fd_in", "olddfd" },
					       { "newdfd", "fd_out" } };
	static const char *const paths[2][6] = { { "filename", "pathname", "path", "oldname" },
						 { "newname" } };
	const struct trace_row *row = &ev->call->row;
	const int8_t fd_at[2] = { row->fd, row->fd2 }, path_at[2] = { row->path, row->path2 };
	unsigned from;

	for (int i = 0; i < 2; i++) {
		if (fd_at[i] >= 0 && any_integer(payload, fds[i], &ev->value[fd_at[i]]))
			ev->known |= 1u << fd_at[i];
		if (path_at[i] >= 0)
			ev->path[i] = any_string(payload, paths[i]);
	}
	if (ev->call->op == OP_symlink || ev->call->op == OP_symlinkat)
		ev->path[0] = any_string(payload, paths[1]);
	for (unsigned i = 0; i < row->args; i++) {
		from = row->arg[i].from;
		if (any_integer(payload, names_of(ev->call, i), &ev->value[from]))
			ev->known |= 1u << from;
	}
}

/* The beginning of a call, and behind it its paths, until its end comes. */
static void ctf_keep_event(struct ctf *c, const struct trace_event *ev)
{
	buf_clear(&c->packed);
	buf_add(&c->packed, ev, sizeof(*ev));
	for (int i = 0; i < 2; i++)
		buf_add(&c->packed, ev->path[i].at ? ev->path[i].at : "", ev->path[i].len);
	process_pend(events_process(&c->events, ev->pid), c->packed.data, c->packed.len);
}

/* False where the thread's beginning was of another call. */
static bool ctf_recall_event(struct traced_process *p, const struct syscall *call,
			     struct trace_event *ret)
{
	const char *paths;

	if (!p->pending)
		return false;
	paths = p->pending + sizeof(*ret);
	memcpy(ret, p->pending, sizeof(*ret));
	for (int i = 0; i < 2; i++) {
		if (ret->path[i].at)
			ret->path[i].at = paths;
		paths += ret->path[i].len;
	}
	return ret->call == call;
}

static void ctf_exit(struct ctf *c, const char *name, uint32_t thread, const bt_field *payload)
{
	static const char *const rets[] = { "ret", NULL };
	struct traced_process *p = events_process(&c->events, thread);
	const struct syscall *call = syscall_find(name, strlen(name));
	struct trace_event ev;
	int64_t ret = 0;

	any_integer(payload, rets, &ret);
	if (ret > 0 && (!strcmp(name, "clone") || !strcmp(name, "fork") || !strcmp(name, "vfork")))
		events_clone(&c->events, thread, (uint32_t)ret, 0);
	if (!call || !ctf_recall_event(p, call, &ev)) {
		c->events.coverage->unknown++;
		return;
	}
	ev.ret = ret;
	events_call(&c->events, &ev);
	process_pend(events_process(&c->events, thread), NULL, 0);
}

static void ctf_event(struct ctf *c, const bt_event *event)
{
	const char *name = bt_event_class_get_name(bt_event_borrow_class_const(event));
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	struct trace_event ev = { .pid = thread_of(event) };

	c->taken++;
	if (name && strip_prefix(&name, "syscall_entry_")) {
		ev.call = syscall_find(name, strlen(name));
		if (ev.call && ev.call->row.special != SPECIAL_IOCTL) {
			read_entry(&ev, payload);
			ctf_keep_event(c, &ev);
		}
	} else if (name && strip_prefix(&name, "syscall_exit_")) {
		ctf_exit(c, name, ev.pid, payload);
	} else {
		c->events.coverage->unknown++;
	}
}

/* ---- the library's graph ---- */

static bt_graph_simple_sink_component_initialize_func_status
ctf_begin(bt_message_iterator *messages, void *data)
{
	struct ctf *c = data;

	bt_message_iterator_get_ref(messages);
	c->messages = messages;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status ctf_consume(bt_message_iterator *messages,
								      void *data)
{
	bt_message_array_const array;
	struct ctf *c = data;
	uint64_t count;

	switch (bt_message_iterator_next(messages, &array, &count)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		break;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
	default:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
	}
	for (uint64_t i = 0; i < count; i++) {
		if (bt_message_get_type(array[i]) == BT_MESSAGE_TYPE_EVENT)
			ctf_event(c, bt_message_event_borrow_event_const(array[i]));
		bt_message_put_ref(array[i]);
	}
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

static void ctf_finish(void *data)
{
	struct ctf *c = data;

	BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(c->messages);
}

/* A component of one of the library's plugins. */
static const bt_component_source *add_source(bt_graph *graph, const char *path)
{
	const bt_component_source *source = NULL;
	bt_value *params = bt_value_map_create(), *inputs = NULL;
	const bt_plugin *plugin = NULL;

	if (bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) == 0 &&
	    bt_value_array_append_string_element(inputs, path) == 0 &&
	    bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, &plugin) == 0 &&
	    bt_graph_add_source_component(
		    graph, bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs"),
		    "files", params, BT_LOGGING_LEVEL_NONE, &source) != 0)
		source = NULL;
	bt_plugin_put_ref(plugin);
	bt_value_put_ref(params);
	return source;
}

static const bt_component_filter *add_muxer(bt_graph *graph)
{
	const bt_component_filter *muxer = NULL;
	const bt_plugin *plugin = NULL;

	if (bt_plugin_find("utils", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, &plugin) == 0 &&
	    bt_graph_add_filter_component(
		    graph, bt_plugin_borrow_filter_component_class_by_name_const(plugin, "muxer"),
		    "muxer", NULL, BT_LOGGING_LEVEL_NONE, &muxer) != 0)
		muxer = NULL;
	bt_plugin_put_ref(plugin);
	return muxer;
}

/* Every stream of the trace into the muxer, which always has one free port more. */
static bool ctf_connect(bt_graph *graph, const bt_component_source *source,
			const bt_component_filter *muxer, const bt_component_sink *sink)
{
	uint64_t ports = bt_component_source_get_output_port_count(source);

	for (uint64_t i = 0; i < ports; i++)
		if (bt_graph_connect_ports(
			    graph, bt_component_source_borrow_output_port_by_index_const(source, i),
			    bt_component_filter_borrow_input_port_by_index_const(muxer, i),
			    NULL) != 0)
			return false;
	return bt_graph_connect_ports(
		       graph, bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
		       bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL) == 0;
}

static int ctf_run(struct ctf *c, const char *path, struct err *err)
{
	bt_graph *graph = bt_graph_create(0);
	const bt_component_source *source = add_source(graph, path);
	const bt_component_filter *muxer = source ? add_muxer(graph) : NULL;
	const bt_component_sink *sink = NULL;
	bt_graph_run_status status;
	int r = 0;

	if (!muxer ||
	    bt_graph_add_simple_sink_component(graph, "count", ctf_begin, ctf_consume, ctf_finish,
					       c, &sink) != 0 ||
	    !ctf_connect(graph, source, muxer, sink)) {
		r = err_set(
			err, EINVAL,
			"%s holds no trace in the Common Trace Format, or one cut within a packet",
			path);
	} else {
		do
			status = bt_graph_run(graph);
		while (status == BT_GRAPH_RUN_STATUS_AGAIN);
		if (status != BT_GRAPH_RUN_STATUS_OK && !c->taken)
			r = err_set(err, EINVAL, "%s cannot be read", path);
		c->events.coverage->cut = status != BT_GRAPH_RUN_STATUS_OK;
	}
	bt_current_thread_clear_error();
	bt_graph_put_ref(graph);
	return r;
}

int read_ctf(struct coverage *c, const struct read_options *options, const char *path,
	     struct err *err)
{
	struct ctf ctf = { .packed = BUF_INIT };
	int r;

	events_open(&ctf.events, c, options->mounts, options->mount_count, options->cwd);
	r = ctf_run(&ctf, path, err);
	events_free(&ctf.events);
	buf_free(&ctf.packed);
	return r;
}

#endif
