/* compare.c -- compares a file system that was recovered in a guest with what was recovered when a
 * finding was made, and shown.
 *
 * Compiled for the guest, statically, with nothing of ours besides it; it takes the place of the
 * reproducer. The first argument is where the file system is mounted. The file /recovered
 * (crash/recovered_sums.c) has two lines, "root DIRECTORY" and "wrong TEXT", and a line for each
 * object: mode, link count, size, sums of contents and attributes, path; with a mode that has no
 * type, where it could not be read. Exit status: 1 the same is wrong here, 0 something else is
 * there, 2 could not tell. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { OBJECTS_MAX = 4096, LINE_MAX_BYTES = 8192, BYTES = 1 << 16, PART_MAX = 4000 };

/* FNV-1a. */
static const uint64_t sum_start = UINT64_C(0xcbf29ce484222325), sum_prime = UINT64_C(0x100000001b3);

struct object {
	char *path;
	unsigned mode, nlink;
	unsigned long long size, contents, attributes;
};

static struct object recovered[OBJECTS_MAX];
static size_t recovered_count, met, differ;
static char root[LINE_MAX_BYTES], wrong[LINE_MAX_BYTES];

static _Noreturn void cannot_tell(const char *what)
{
	printf("cannot tell: %s\n", what);
	exit(2);
}

static void read_line(FILE *file, const char *word, char *to)
{
	char line[LINE_MAX_BYTES];
	size_t len = strlen(word);

	if (!fgets(line, sizeof(line), file) || strncmp(line, word, len))
		cannot_tell("/recovered");
	line[strcspn(line, "\n")] = '\0';
	strcpy(to, line + len);
}

static void read_recovered(void)
{
	FILE *file = fopen("/recovered", "re");
	char line[LINE_MAX_BYTES];
	int path;

	if (!file)
		cannot_tell("/recovered");
	read_line(file, "root ", root);
	read_line(file, "wrong ", wrong);
	while (fgets(line, sizeof(line), file)) {
		struct object *o = &recovered[recovered_count++];

		line[strcspn(line, "\n")] = '\0';
		if (recovered_count == OBJECTS_MAX ||
		    sscanf(line, "%o %u %llu %llx %llx %n", &o->mode, &o->nlink, &o->size,
			   &o->contents, &o->attributes, &path) != 5)
			cannot_tell("a line of /recovered");
		o->path = strdup(line + path);
	}
	fclose(file);
}

static void differs(const char *path, const char *what)
{
	printf("something else: %s %s\n", path, what);
	differ++;
}

static uint64_t sum_add(uint64_t sum, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = (sum ^ (unsigned char)bytes[i]) * sum_prime;
	return sum;
}

static uint64_t sum_contents(const char *at, const struct stat *st, int *failed)
{
	static char bytes[BYTES];
	uint64_t sum = sum_start;
	ssize_t n = 0;
	int fd;

	if (S_ISLNK(st->st_mode)) {
		n = readlink(at, bytes, sizeof(bytes));
		sum = sum_add(sum, bytes, n > 0 ? (size_t)n : 0);
	} else if (S_ISREG(st->st_mode)) {
		fd = open(at, O_RDONLY | O_CLOEXEC);
		while (fd >= 0 && (n = read(fd, bytes, sizeof(bytes))) > 0)
			sum = sum_add(sum, bytes, (size_t)n);
		*failed |= fd < 0 || n < 0;
		close(fd);
	}
	*failed |= n < 0;
	return sum;
}

/* In no order; those of users. */
static uint64_t sum_attributes(const char *at)
{
	static char names[BYTES], value[BYTES];
	ssize_t len = llistxattr(at, names, sizeof(names)), n;
	uint64_t sum = 0;

	for (char *name = names; len > 0 && name < names + len; name += strlen(name) + 1) {
		if (strncmp(name, "user.", strlen("user.")) != 0)
			continue;
		n = lgetxattr(at, name, value, sizeof(value));
		sum += sum_add(sum_add(sum_start, name, strlen(name) + 1), value,
			       n > 0 ? (size_t)n : 0);
	}
	return sum;
}

static const struct object *find_recovered(const char *path)
{
	for (size_t i = 0; i < recovered_count; i++)
		if (!strcmp(recovered[i].path, path))
			return &recovered[i];
	return NULL;
}

static void compare_object(const struct object *o, const char *at, const struct stat *st,
			   int failed)
{
	uint64_t contents = failed ? 0 : sum_contents(at, st, &failed);
	int dir = S_ISDIR(st->st_mode), sized = S_ISREG(st->st_mode) || S_ISLNK(st->st_mode);

	if (failed || !(o->mode & S_IFMT)) {
		if (!failed || o->mode & S_IFMT)
			differs(o->path, failed ? "cannot be read" : "can be read");
	} else if (o->mode != st->st_mode) {
		differs(o->path, "has another mode");
	} else if (sized && o->size != (unsigned long long)st->st_size) {
		differs(o->path, "has another size");
	} else if (!dir && o->nlink != st->st_nlink) {
		differs(o->path, "has another link count");
	} else if (o->contents != contents) {
		differs(o->path, "has other contents");
	} else if (o->attributes != sum_attributes(at)) {
		differs(o->path, "has other attributes");
	}
}

/* `at` is a place for paths; what is there is the directory. */
static void walk(char *at, size_t root_len)
{
	size_t len = strlen(at);
	DIR *dir = opendir(at);
	const struct object *o;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct stat st = { 0 };
		int failed;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (len > PART_MAX)
			cannot_tell("a path is too long");
		sprintf(at + len, "/%s", entry->d_name);
		failed = lstat(at, &st) != 0;
		o = find_recovered(at + root_len);
		met++;
		if (o)
			compare_object(o, at, &st, failed);
		else
			differs(at + root_len, "is there");
		if (!failed && S_ISDIR(st.st_mode))
			walk(at, root_len);
	}
	at[len] = '\0';
	if (dir)
		closedir(dir);
}

int main(int argc, char **argv)
{
	static char at[2 * LINE_MAX_BYTES];

	if (argc < 2)
		return 2;
	read_recovered();
	snprintf(at, sizeof(at), "%s%s", argv[1], root);
	walk(at, strlen(at));
	if (met < recovered_count && !differ)
		differs("a name", "is missing");
	if (!differ)
		printf("wrong: %s\n", wrong);
	return differ ? 0 : 1;
}
