# Makefile -- builds the program, its library, tests, benchmarks and man pages.
#
#   make                 build/assay (variant release)
#   make V=debug|asan|tsan|cov|fuzz     build/$V/assay
#   make tests | bench | man | tidy | cppcheck | install | clean
#   make VERBOSE=1 ...   shows the commands
#
# Registration is by file: every src/*/*.c and reffs/*.c is compiled; src/cmd/cmd_X.c defines
# command_X and src/target/target_X.c defines target_X, listed in build/gen/.

ifndef VERBOSE
.SILENT:
endif
say := $(if $(findstring s,$(firstword -$(MAKEFLAGS))),:,echo)

V ?= release
VARIANTS := release debug asan tsan cov fuzz
ifeq ($(filter $(V),$(VARIANTS)),)
$(error V=$(V): no such variant; there are: $(VARIANTS))
endif

B := build/$(V)
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
PREFIX ?= /usr/local

CC := gcc
# The release build reads foreign traces and images, and runs as root: a mistake in it ends the
# program instead of obeying an attacker. tests/lint/hardening looks at the result.
HARDENING := -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fPIE \
	$(if $(filter x86_64,$(shell uname -m)),-fcf-protection)
LDFLAGS_release := -pie -Wl,-z,relro,-z,now,-z,noexecstack
# A few loops over whole blocks are compiled for newer processors, too, and chosen between when the
# program runs.
BY_PROCESSOR := $(if $(filter x86_64,$(shell uname -m)),$(if \
	$(wildcard /usr/include/xxh_x86dispatch.h),-DBY_PROCESSOR))
# Processors since 2009; cmd/main.c says so on an older one.
CFLAGS_release := -O2 $(if $(filter x86_64,$(shell uname -m)),-march=x86-64-v2) $(HARDENING) $(BY_PROCESSOR)
CFLAGS_debug := -Og
CFLAGS_asan := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
CFLAGS_tsan := -O1 -fsanitize=thread
# Confined processes could not write down what they ran.
CFLAGS_cov := -O0 --coverage -DCONFINE_NOTHING
CFLAGS_fuzz := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer
ifeq ($(V),fuzz)
CC := clang
endif

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
	-Wpointer-arith -Wundef -Wvla -Wwrite-strings -Wno-unused-parameter $(if $(WERROR),-Werror)
PACKAGES := libxxhash jansson inih libcap libmicrohttpd z3 sqlite3 hiredis libssl libcrypto $(if $(wildcard reffs/*.c),fuse3)

# The tracers in the kernel, of calls and of a disk, need a compiler for them, the running kernel's
# types and libbpf; without them the rest is built, and `assay cover` says what is missing.
SKELETONS := tracer disk_requests
BTF := /sys/kernel/btf/vmlinux
TRACER_MISSING := $(strip $(if $(shell command -v clang),,clang) $(if $(shell command -v bpftool),,bpftool) \
	$(if $(wildcard $(BTF)),,$(BTF)) $(if $(filter 0,$(shell pkg-config libbpf; echo $$?)),,libbpf))
PACKAGES += $(if $(TRACER_MISSING),,libbpf)
# So are traces in the Common Trace Format without their library.
HAVE_CTF := $(filter 0,$(shell pkg-config babeltrace2; echo $$?))
PACKAGES += $(if $(HAVE_CTF),babeltrace2)
# The Valgrind tool that follows the paths of a checker (pathtool/) is of its own kind: a program
# without the C library, linked with Valgrind's. Without these, `assay fsck` says what is missing.
VALGRIND_LIBRARIES := $(shell pkg-config --variable=libdir valgrind 2>/dev/null)/valgrind
VALGRIND_FILES := $(dir $(firstword $(wildcard /usr/libexec/valgrind/vgpreload_core-amd64-linux.so \
	/usr/lib/x86_64-linux-gnu/valgrind/vgpreload_core-amd64-linux.so)))
PATHTOOL := $(if $(filter x86_64,$(shell uname -m)),$(if $(VALGRIND_FILES),$(if \
	$(wildcard $(VALGRIND_LIBRARIES)/libcoregrind-amd64-linux.a),build/pathtool/assay-paths-amd64-linux)))
BPF_ARCH := $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(shell uname -m)))
PACKAGE_CFLAGS := $(shell pkg-config --cflags $(PACKAGES))
PACKAGE_LIBS := $(shell pkg-config --libs $(PACKAGES))
ifneq ($(.SHELLSTATUS),0)
ifeq ($(filter clean,$(MAKECMDGOALS)),)
$(error libraries are missing; `./dev packages` installs them)
endif
endif

CPPFLAGS := -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Isrc -I. -Ibuild $(PACKAGE_CFLAGS) $(if $(HAVE_CTF),-DHAVE_CTF)
CFLAGS := -std=gnu17 -g $(CFLAGS_$(V)) $(WARNINGS)
LDFLAGS := $(filter-out -O% -D%,$(CFLAGS_$(V))) $(LDFLAGS_$(V))
LDLIBS := -Wl,--as-needed $(PACKAGE_LIBS) -lz -lpthread -lm

SOURCES := $(sort $(wildcard src/*/*.c reffs/*.c))
LIB_SOURCES := $(filter-out src/cmd/main.c,$(SOURCES))
LIB := $(B)/libassay.a
PROGRAM := $(if $(filter release,$(V)),build/assay,$(B)/assay)

UNIT := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/unit/*.c tests/property/*.c)))
CHECKERS := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/checkers/*.c)))
FUZZ := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
BENCH := $(patsubst %.c,$(B)/%,$(sort $(wildcard bench/*.c)))
object = $(patsubst %.c,$(B)/obj/%.o,$(1))

.PHONY: all tests bench man tidy analyze cppcheck install clean FORCE
.SECONDARY:
.DELETE_ON_ERROR:

all: $(PROGRAM) $(PATHTOOL)
tests: $(PROGRAM) $(PATHTOOL) $(UNIT) $(FUZZ) $(CHECKERS)
bench: $(PROGRAM) $(PATHTOOL) $(BENCH)

$(PROGRAM): $(call object,src/cmd/main.c) $(LIB)
	$(say) "  LD $@"
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# Made anew, so that no object of a deleted source stays in it.
$(LIB): $(call object,$(LIB_SOURCES)) $(B)/sources
	rm -f $@
	$(AR) rcs $@ $(filter %.o,$^)

# Where Valgrind looks for the tool it also looks for two files of its own.
PATHTOOL_SOURCES := $(sort $(wildcard pathtool/*.c)) src/symbolic/expr.c src/symbolic/expr_eval.c \
	src/symbolic/interval.c
PATHTOOL_CFLAGS := -std=gnu17 -O2 -g $(WARNINGS) -ffreestanding -fno-builtin -fno-stack-protector \
	-fno-strict-aliasing -fno-pie -fno-asynchronous-unwind-tables -fomit-frame-pointer \
	-DVGA_amd64=1 -DVGO_linux=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1 \
	-I. -Isrc -isystem /usr/include/valgrind
build/pathtool/obj/%.o: %.c build/pathtool/flags
	mkdir -p $(@D)
	$(say) "  CC $< (for Valgrind)"
	gcc $(PATHTOOL_CFLAGS) -MMD -MP -c -o $@ $<
build/pathtool/assay-paths-amd64-linux: $(PATHTOOL_SOURCES:%.c=build/pathtool/obj/%.o)
	$(say) "  LD $@"
	gcc -static -no-pie -nodefaultlibs -nostartfiles -u _start -Wl,-Ttext-segment=0x58000000 \
		-Wl,--build-id=none,--wrap=vgPlain_add_to_transtab,--wrap=vgPlain_tt_tc_do_chaining \
		-o $@ $^ $(VALGRIND_LIBRARIES)/libcoregrind-amd64-linux.a \
		$(VALGRIND_LIBRARIES)/libvex-amd64-linux.a -lgcc $(VALGRIND_LIBRARIES)/libgcc-sup-amd64-linux.a
	ln -sf $(VALGRIND_FILES)default.supp $(VALGRIND_FILES)vgpreload_core-amd64-linux.so $(@D)

GENERATED := build/gen/commands.h build/gen/targets.h build/gen/version.h \
	build/gen/embedded_targets.h build/gen/embedded_profiles.h $(SKELETONS:%=build/gen/%.h) \
	build/gen/embedded_families.h build/gen/embedded_checkers.h build/gen/embedded_content.h \
	build/gen/embedded_campaigns.h build/gen/kernel_hash.h build/gen/engine_hash.h \
	build/gen/embedded_guest.h build/gen/embedded_page.h build/gen/embedded_index.h \
	build/gen/embedded_compare.h

# What checkers are started with; a part of the program. It is loaded into programs of others: no
# sanitizer, in any variant.
build/checker-preload.so: $(wildcard src/checker/preload/*.[ch])
	mkdir -p $(@D)
	$(say) "  LD $@"
	gcc -std=gnu17 -D_GNU_SOURCE -g -O2 -fPIC -shared -fvisibility=hidden $(WARNINGS) -o $@ \
		$(filter %.c,$^)
$(call object,src/checker/checker_server.c): build/checker-preload.so

$(B)/obj/%.o: %.c $(B)/flags | $(GENERATED)
	mkdir -p $(@D)
	$(say) "  CC $<"
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(B)/tests/unit/test_symbolic_paths: | $(B)/tests/checkers/paths $(PATHTOOL)

$(UNIT): $(B)/%: $(B)/obj/%.o $(LIB)
	mkdir -p $(@D)
	$(say) "  LD $@"
	$(CC) $(LDFLAGS) -o $@ $^ -lcmocka $(LDLIBS)

# Checkers for tests are programs of others: not instrumented, and each also without shared
# libraries.
$(CHECKERS): $(B)/%: %.c
	mkdir -p $(@D)
	$(say) "  LD $@"
	gcc -std=gnu17 -D_GNU_SOURCE -g -O1 $(WARNINGS) -o $@ $< -lpthread
	gcc -std=gnu17 -D_GNU_SOURCE -g -O1 $(WARNINGS) -static -o $@-static $< -lpthread

# A fuzzer is driven by libFuzzer, or, in the other variants, replays its corpus.
ifeq ($(V),fuzz)
$(FUZZ): LDFLAGS := $(patsubst -fsanitize=fuzzer-no-link%,-fsanitize=fuzzer%,$(LDFLAGS))
else
FUZZ_MAIN := $(call object,tests/harness/replay.c)
endif
$(FUZZ): $(B)/%: $(B)/obj/%.o $(FUZZ_MAIN) $(LIB)
	mkdir -p $(@D)
	$(say) "  LD $@"
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BENCH): $(B)/%: $(B)/obj/%.o $(LIB)
	mkdir -p $(@D)
	$(say) "  LD $@"
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# What is written only when its text changes: lists of files, flags, the version.
define write_if_changed
mkdir -p $(@D); printf '%s\n' $(1) | cmp -s - $@ || printf '%s\n' $(1) >$@
endef

COMMANDS := $(patsubst src/cmd/cmd_%.c,%,$(filter src/cmd/cmd_%.c,$(SOURCES)))
TARGETS := $(patsubst src/target/target_%.c,%,$(filter src/target/target_%.c,$(SOURCES)))

build/gen/commands.h: FORCE
	$(call write_if_changed,'/* Made from src/cmd/cmd_*.c. */' $(patsubst %,'COMMAND(%)',$(COMMANDS)))
build/gen/targets.h: FORCE
	$(call write_if_changed,'/* Made from src/target/target_*.c. */' $(patsubst %,'TARGET_KIND(%)',$(TARGETS)))
build/gen/version.h: FORCE
	$(call write_if_changed,'#define ASSAY_VERSION "$(VERSION)"')
# What a kernel in a process must have been built from to be used.
build/gen/kernel_hash.h: FORCE
	$(call write_if_changed,'#define ASSAY_KERNEL_HASH "$(shell $(MAKE) -s --no-print-directory -f kernel/agent/Makefile hash)"')
# What workers of one swarm must have in common: the operations and what is drawn from them, and the
# model and the instruments.
hash_of = $(shell cat $(sort $(wildcard $(1))) | sha256sum | cut -c1-16)
build/gen/engine_hash.h: FORCE
	$(call write_if_changed,'#define ASSAY_OPS_HASH "$(call hash_of,src/op/*.[chd]* src/universe/*.[ch] profiles/*)"' \
		'#define ASSAY_ENGINE_HASH "$(call hash_of,$(foreach room,base tree model plan judge explore \
		target share swarm history schedule conform persistence workload crash ondisk audit \
		checker symbolic fsck,src/$(room)/*.[chd]*) targets/* families/* checkers/*)"')
# Shipped INI files, rows EMBEDDED("name", "text").
build/gen/embedded_%.h: FORCE
	@mkdir -p $(@D); tools/embed $*/*.ini >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
# What lies on disks that checkers are tested with, the same way.
build/gen/embedded_content.h: FORCE
	@mkdir -p $(@D); tools/embed checkers/*.trace >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
# The templates of pages, the same way.
build/gen/embedded_page.h: FORCE
	@mkdir -p $(@D); tools/embed src/report/page.html >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
build/gen/embedded_compare.h: FORCE
	@mkdir -p $(@D); tools/embed src/report/compare.html >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
build/gen/embedded_index.h: FORCE
	@mkdir -p $(@D); tools/embed src/serve/index.html >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
# The first program of a guest, the same way.
build/gen/embedded_guest.h: FORCE
	@mkdir -p $(@D); tools/embed src/confirm/guest/*.c >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
ifeq ($(TRACER_MISSING),)
# What a build without them left in their place is out of date.
$(foreach name,$(SKELETONS),$(shell grep -qs 'define TRACER_MISSING' build/gen/$(name).h && \
	touch -d @0 build/gen/$(name).h))
build/bpf/vmlinux.h:
	mkdir -p $(@D)
	bpftool btf dump file $(BTF) format c >$@
build/bpf/tracer.o: src/cover/bpf/tracer.bpf.c $(wildcard src/cover/bpf/*.h)
build/bpf/disk_requests.o: src/storage/bpf/disk_requests.bpf.c $(wildcard src/storage/bpf/*.h)
$(SKELETONS:%=build/bpf/%.o): build/bpf/vmlinux.h
	$(say) "  BPF $(filter %.bpf.c,$^)"
	clang -O2 -g -Wall -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -Ibuild/bpf -c -o $@ $(filter %.bpf.c,$^)
$(SKELETONS:%=build/gen/%.h): build/gen/%.h: build/bpf/%.o
	mkdir -p $(@D)
	bpftool gen skeleton $< name $* >$@
else
$(SKELETONS:%=build/gen/%.h): FORCE
	$(call write_if_changed,'#define TRACER_MISSING "$(TRACER_MISSING)"')
endif
$(B)/sources: FORCE
	$(call write_if_changed,$(LIB_SOURCES))
build/pathtool/flags: FORCE
	$(call write_if_changed,'$(PATHTOOL_CFLAGS)')
$(B)/flags: FORCE
	$(call write_if_changed,'$(CC) $(CPPFLAGS) $(CFLAGS)')

MAN := build/man/assay.1 $(COMMANDS:%=build/man/assay-%.1)
man: $(MAN)
build/man/assay.1: $(PROGRAM)
	mkdir -p $(@D)
	$(PROGRAM) --man | scdoc >$@
build/man/assay-%.1: $(PROGRAM)
	mkdir -p $(@D)
	$(PROGRAM) --man $* | scdoc >$@

# Static analysis; a file is looked at again only when it, or a header of it, has changed. The
# analyzer that follows paths is slow, and a change in one file moves its remarks to another: it has
# a target of its own, `analyze`.
ANALYZER := -*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.*,-clang-analyzer-unix.Vfork
ANALYZER := $(ANALYZER),-clang-analyzer-optin.performance.Padding
TIDY = mkdir -p $(@D) && clang-tidy --quiet $(1) $< -- -std=gnu17 $(CPPFLAGS) >$@.out 2>/dev/null || \
	{ cat $@.out; exit 1; }
build/lint/%.tidy: %.c build/release/obj/%.o .clang-tidy
	$(say) "  TIDY $<"
	$(call TIDY,)
	touch $@
build/lint/%.analyzed: %.c build/release/obj/%.o .clang-tidy
	$(say) "  ANALYZE $<"
	$(call TIDY,--checks='$(ANALYZER)')
	touch $@
# cppcheck sees no system headers, so the loops that jansson and libbpf define are unknown to it.
build/lint/%.cppcheck: %.c build/release/obj/%.o
	mkdir -p $(@D)
	$(say) "  CPPCHECK $<"
	cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 \
		--suppress=internalAstError --suppress=ctuuninitvar --suppress=unknownMacro \
		$(filter -D% -Isrc -I.,$(CPPFLAGS)) $<
	touch $@
# The generated skeletons that these include are not ours to tidy.
TIDIED := $(filter-out src/cover/live.c src/storage/disk_tracer.c,$(SOURCES))
tidy: $(TIDIED:%.c=build/lint/%.tidy)
analyze: $(TIDIED:%.c=build/lint/%.analyzed)
cppcheck: $(SOURCES:%.c=build/lint/%.cppcheck)

install: $(PROGRAM) $(PATHTOOL) man
	install -D -t $(DESTDIR)$(PREFIX)/bin $(PROGRAM)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 $(MAN)
	mkdir -p $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	$(PROGRAM) --completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/assay
ifneq ($(PATHTOOL),)
	install -D -t $(DESTDIR)$(PREFIX)/libexec/assay/pathtool $(PATHTOOL)
	ln -sf $(VALGRIND_FILES)default.supp $(VALGRIND_FILES)vgpreload_core-amd64-linux.so \
		$(DESTDIR)$(PREFIX)/libexec/assay/pathtool
endif
# What kernels are built from: all that is there, so nothing of an older installation may be left.
	rm -rf $(DESTDIR)$(PREFIX)/share/assay/kernel $(DESTDIR)$(PREFIX)/share/assay/src
	mkdir -p $(DESTDIR)$(PREFIX)/share/assay
	cp --parents -t $(DESTDIR)$(PREFIX)/share/assay kernel/build kernel/prune kernel/bisect \
		kernel/agent/Makefile \
		$$($(MAKE) -s --no-print-directory -f kernel/agent/Makefile inputs)

clean:
	rm -rf build

-include $(shell find $(B)/obj build/pathtool/obj -name '*.d' 2>/dev/null)
