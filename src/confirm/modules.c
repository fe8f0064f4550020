/* modules.c -- modules of an unpacked kernel, with those that they need, in the order to load them.
 */
#include "confirm/modules.h"

#include <elf.h>
#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "process/shell.h"
#include "storage/program.h"

enum { MODULE_BYTES_MAX = 64 << 20, DECOMPRESS_SECONDS = 60, DEPTH_MAX = 16 };

/* How a file is compressed, by the end of its name. */
static const struct compression {
	const char *ending, *command, *package;
} compressions[] = {
	{ ".ko.xz", "xz -dc", "xz-utils" },
	{ ".ko.zst", "zstd -dcq", "zstd" },
	{ ".ko.gz", "gzip -dc", "gzip" },
	{ ".ko", NULL, NULL },
};

/* What ends so has a module in it; NULL for another one. */
static const struct compression *compression_of(const char *name)
{
	size_t len = strlen(name), ending_len;

	for (size_t i = 0; i < ARRAY_LEN(compressions); i++) {
		ending_len = strlen(compressions[i].ending);
		if (len > ending_len && !strcmp(name + len - ending_len, compressions[i].ending))
			return &compressions[i];
	}
	return NULL;
}

/* As the kernel has it: file names may have a dash where that has an underscore. */
static char *module_name(const char *text, size_t len)
{
	char *name = must_alloc(len + 1);

	for (size_t i = 0; i < len; i++)
		name[i] = (char)(text[i] == '-' ? '_' : text[i]);
	return name;
}

static void modules_add_path(struct modules *m, const char *path, const char *file)
{
	const struct compression *how = compression_of(file);

	if (!how)
		return;
	m->paths = must_realloc(m->paths, (m->path_count + 1) * sizeof(*m->paths));
	m->names = must_realloc(m->names, (m->path_count + 1) * sizeof(*m->names));
	m->paths[m->path_count] = must_strdup(path);
	m->names[m->path_count++] = module_name(file, strlen(file) - strlen(how->ending));
}

int modules_open(struct modules *m, const char *dir, struct err *err)
{
	char *roots[] = { (char *)dir, NULL };
	FTSENT *entry;
	FTS *walk;

	*m = (struct modules){ 0 };
	if (!dir)
		return 0;
	walk = fts_open(roots, FTS_PHYSICAL | FTS_NOSTAT | FTS_NOCHDIR, NULL);
	if (!walk)
		return err_sys(err, errno, "%s", dir);
	while ((entry = fts_read(walk)))
		if (entry->fts_info == FTS_NSOK || entry->fts_info == FTS_F)
			modules_add_path(m, entry->fts_path, entry->fts_name);
	fts_close(walk);
	return 0;
}

void modules_close(struct modules *m)
{
	for (size_t i = 0; i < m->path_count; i++) {
		free(m->paths[i]);
		free(m->names[i]);
	}
	for (size_t i = 0; i < m->count; i++) {
		free(m->chosen[i].name);
		buf_free(&m->chosen[i].object);
	}
	free(m->paths);
	free(m->names);
	free(m->chosen);
}

/* Into a file in memory: a module is larger than what is kept of a program's output. */
static int module_decompress(const struct compression *how, const char *path, struct buf *out,
			     struct err *err)
{
	struct buf command = BUF_INIT, output = BUF_INIT;
	int fd = memfd_create("module", MFD_CLOEXEC), status = 0, r;

	if (fd < 0)
		return err_sys(err, errno, "cannot make a file in memory");
	buf_addf(&command, "%s ", how->command);
	shell_add_quoted(&command, path, strlen(path));
	buf_addf(&command, " >&%d", PROGRAM_FD);
	program_lacking(how->command, how->package, &output);
	r = output.len ? err_set(err, ENOENT, "%s", output.data)
		       : program_run(command.data, fd, DECOMPRESS_SECONDS, &status, &output, err);
	if (!r && status)
		r = err_set(err, EIO, "%s cannot be unpacked: %s", path, buf_str(&output));
	if (!r && lseek(fd, 0, SEEK_SET))
		r = err_sys(err, errno, "%s", path);
	if (!r)
		r = buf_read_fd(out, fd, MODULE_BYTES_MAX, err);
	close(fd);
	buf_free(&command);
	buf_free(&output);
	return r;
}

static int module_read(const char *path, struct buf *out, struct err *err)
{
	const struct compression *how = compression_of(path);

	return how->command ? module_decompress(how, path, out, err)
			    : buf_read_file(out, path, MODULE_BYTES_MAX, err);
}

/* The section of the object, its header; NULL where there is none, or it is cut off. */
static const Elf64_Shdr *module_section(const struct buf *object, const char *name)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)object->data;
	const Elf64_Shdr *sections, *names;

	if (object->len < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shoff % sizeof(uint64_t) ||
	    head->e_shoff > object->len ||
	    (object->len - head->e_shoff) / sizeof(*sections) < head->e_shnum ||
	    head->e_shstrndx >= head->e_shnum)
		return NULL;
	sections = (const Elf64_Shdr *)(object->data + head->e_shoff);
	names = &sections[head->e_shstrndx];
	for (size_t i = 0; i < head->e_shnum; i++) {
		uint64_t at = names->sh_offset + sections[i].sh_name;

		if (at < object->len && !strcmp(object->data + at, name) &&
		    sections[i].sh_offset <= object->len &&
		    sections[i].sh_size <= object->len - sections[i].sh_offset)
			return &sections[i];
	}
	return NULL;
}

/* The names of the modules that it needs, with commas between. */
static const char *module_needs(const struct buf *object)
{
	static const char key[] = "depends=";
	const Elf64_Shdr *section = module_section(object, ".modinfo");
	const char *at, *end;

	if (!section)
		return "";
	at = object->data + section->sh_offset;
	end = at + section->sh_size;
	for (; at < end; at += strnlen(at, (size_t)(end - at)) + 1)
		if (!strncmp(at, key, strlen(key)))
			return at + strlen(key);
	return "";
}

static bool modules_has_chosen(const struct modules *m, const char *name)
{
	for (size_t i = 0; i < m->count; i++)
		if (!strcmp(m->chosen[i].name, name))
			return true;
	return false;
}

static const char *modules_find_path(const struct modules *m, const char *name)
{
	for (size_t i = 0; i < m->path_count; i++)
		if (!strcmp(m->names[i], name))
			return m->paths[i];
	return NULL;
}

static int modules_choose_deep(struct modules *m, const char *name, size_t len,
			       const char *parameters, unsigned depth, struct err *err)
{
	struct module module = { .name = module_name(name, len), .parameters = parameters };
	const char *path = modules_find_path(m, module.name), *needs;
	size_t need_len;
	int r = 0;

	if (!path || modules_has_chosen(m, module.name)) {
		free(module.name);
		return 0;
	}
	if (depth > DEPTH_MAX)
		r = err_set(err, ELOOP, "%s: its modules need each other", path);
	if (!r)
		r = module_read(path, &module.object, err);
	needs = r ? "" : module_needs(&module.object);
	for (; !r && *needs; needs += need_len + strspn(needs + need_len, ",")) {
		need_len = strcspn(needs, ",");
		r = modules_choose_deep(m, needs, need_len, "", depth + 1, err);
	}
	if (r) {
		free(module.name);
		buf_free(&module.object);
		return r;
	}
	m->chosen = must_realloc(m->chosen, (m->count + 1) * sizeof(*m->chosen));
	m->chosen[m->count++] = module;
	return 0;
}

int modules_choose(struct modules *m, const char *name, const char *parameters, struct err *err)
{
	return modules_choose_deep(m, name, strlen(name), parameters, 0, err);
}
