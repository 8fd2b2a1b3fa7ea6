# SPDX-License-Identifier: BSD-2-Clause
# ktr: a user-space KTR. `make help` lists the targets.

O      ?= build
PREFIX ?= /usr/local
CC     ?= cc
CXX    ?= c++
AR     ?= ar
OBJCOPY ?= objcopy
NM     ?= nm
CFLAGS ?= -O2 -g

MAKEFLAGS += -r

V_MAJOR := $(shell awk '/define KTR_VERSION_MAJOR/ {print $$3}' include/ktr/version.h)
WARN := -Wall -Wextra -Wshadow -Wpointer-arith -Wcast-qual -Wstrict-prototypes \
	-Wmissing-prototypes -Wwrite-strings -Wvla -Wundef -Wformat=2
# Optional: names for addresses. Without it pointers and stacks print as numbers.
HAVE_LIBDW := $(if $(wildcard /usr/include/elfutils/libdwfl.h),1,0)
# Optional: names of C++ and Rust as their sources have them.
HAVE_DEMANGLE := $(if $(wildcard /usr/include/libiberty/demangle.h),1,0)
# Optional: ktr top.
HAVE_NCURSES := $(if $(wildcard /usr/include/ncurses.h),1,0)
# Optional: ktr sql, and the editing of its lines.
HAVE_SQLITE := $(if $(wildcard /usr/include/sqlite3.h),1,0)
HAVE_SNAPPY := $(if $(wildcard /usr/include/snappy-c.h),1,0)
HAVE_EDIT := $(if $(wildcard /usr/include/histedit.h),1,0)
# Optional: ktr ship, fetch and fleet, which load the library when they run.
HAVE_CURL := $(if $(shell pkg-config --exists libcurl 2>/dev/null && echo yes),1,0)
# Optional: what ktr ship sends is packed.
HAVE_LZ4 := $(if $(wildcard /usr/include/lz4.h),1,0)
# Shadow stacks of x86-64: objects are marked as fit for them, which changes no instruction. The marks of our own
# objects do not show where the C library's start files have none, so the linker is told (tests/cli/build/cet.sh
# looks at each object). Whoever wants more, or none of it, says so in CFLAGS.
SHSTK = $(eval SHSTK := $$(shell echo | $$(CC) $$(CFLAGS) -Werror -fcf-protection=return -xc -c - -o /dev/null 2>/dev/null && \
	echo -fcf-protection=return))$(SHSTK)
SHSTK_LINK = $(if $(and $(SHSTK),$(if $(filter -fcf-protection=none -fcf-protection=branch,$(CFLAGS)),,yes)),-Wl$(comma)-z$(comma)shstk)
comma := ,
# A probe in ktr's own functions would record the recorder, whatever somebody's CFLAGS ask for.
MOST_CFLAGS = -std=gnu11 $(WARN) $(SHSTK) -Iinclude -I. -D_GNU_SOURCE -DKTR_HAVE_LIBDW=$(HAVE_LIBDW) -DKTR_HAVE_DEMANGLE=$(HAVE_DEMANGLE) \
	-DKTR_HAVE_NCURSES=$(HAVE_NCURSES) -DKTR_HAVE_SQLITE=$(HAVE_SQLITE) -DKTR_HAVE_SNAPPY=$(HAVE_SNAPPY) -DKTR_HAVE_EDIT=$(HAVE_EDIT) -DKTR_HAVE_CURL=$(HAVE_CURL) -DKTR_HAVE_LZ4=$(HAVE_LZ4) -fvisibility=hidden -ffunction-sections $(CFLAGS) $(if $(filter -flto%,$(CFLAGS)),-fno-lto) \
	$(if $(findstring -fpatchable-function-entry,$(CFLAGS)),-fpatchable-function-entry=0)
ALL_CFLAGS = $(MOST_CFLAGS) $(EXTRA)
DEPS = -MMD -MP

# One short line per command; V=1 shows them whole.
Q     := $(if $(V),,@)
brief  = $(if $(V),,@printf '  %-4s %s\n' $(1) '$(@:$(O)/%=%)')

# Which object goes where: a folder is in a library whole or not at all. The floors are directories; an upper one may
# use a lower one, never the reverse (scripts/check-layers.sh).
src = $(wildcard $(addsuffix /*.c,$(1)))
folders = $(patsubst %/,%,$(sort $(dir $(wildcard $(1)/*/*.c))))
CONF_SRC    := $(call src,conf conf/eval)
# Expressions are compiled by tools, evaluated in libktr too.
EXPR_SRC    := $(call src,conf/expr conf/kit)
# What both sides use: a session's memory, a trace's bytes and files.
SHARED_SRC  := $(call src,ktr/session writer/format)
KTR_SRC     := $(call src,ktr/control ktr/record ktr/knob ktr/start)
KTR_ASM     := $(wildcard ktr/arch/*.S)
WRITER_SRC  := $(call src,writer ktr/provider/kernel)
# The shared library is split in two: libktr.so loads libktr-writer.so when a trace is to be written.
LOAD_SRC    := $(call src,ktr/load)
LOADED_SRC  := $(call src,writer/load)
ANALYZE_SRC := $(call src,$(filter-out $(if $(filter 0,$(HAVE_SQLITE)),analyze/sql),$(call folders,analyze)))
VIS_SRC     := $(call src,$(call folders,visualize)) visualize/page/page_assets.S visualize/flame/flame_assets.S
TOOLS_SRC   := $(call src,tools $(call folders,tools)) tools/bsd/dtrace_demo.S tools/attach/inject_code.S tools/fleet/question_files.S
TEST_SRC    := $(call src,tests/unit $(call folders,tests/unit))
# Probes that are made at run time: a library of their own, for those who call it.
PROBE_SRC   := $(call src,ktr/provider/probe ktr/provider/view ktr/provider/handler)
# Providers, and what their probes look like from outside, which the command uses too.
OFFER_SRC   := $(call src,ktr/provider/session)
PROVIDER_SRC := $(call src,ktr/provider/registry ktr/provider/view) $(OFFER_SRC)
# Types of functions as they lie in the cache, which a traced process reads, and the command writes, too.
TYPES_SRC   := $(call src,ktr/provider/types)
# Functions as probes, on x86-64.
FBT_SRC     := $(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),$(call src,ktr/provider/fbt ktr/provider/arcs ktr/provider/modules) $(wildcard ktr/provider/fbt/*.S ktr/provider/arcs/*.S) $(TYPES_SRC))
# Locks of programs that know nothing of ktr: in the agent. Of glibc on x86-64.
LOCK_SRC    := $(if $(FBT_SRC),$(call src,ktr/provider/lock))
# Where threads spend their CPU time: in the agent, on x86-64.
PROFILE_SRC := $(if $(FBT_SRC),$(call src,ktr/provider/timer ktr/provider/profile))
# The same into a program's own buffer: a library of its own, which needs nothing of libktr. How a thread begins is
# another matter in a shared library and in an archive.
PROFIL_SRC  := $(if $(FBT_SRC),$(call src,ktr/provider/timer ktr/provider/profil))
# What they wait for: likewise.
OFFCPU_SRC  := $(if $(FBT_SRC),$(call src,ktr/provider/offcpu))
# Memory of such programs: likewise, with the profiler's stacks.
HEAP_SRC    := $(if $(FBT_SRC),$(call src,ktr/provider/heap))
# What a program that runs already imports, led to those two.
IMPORTS_SRC := $(if $(FBT_SRC),$(call src,ktr/provider/imports))
# System calls of other processes, and FreeBSD's file of them: the command's alone.
KTRACE_SRC  := $(call src,ktr/provider/syscall writer/ktrace)
# Other processes' threads from outside: a library of its own, whose floors the command has, too.
TASK_SRC    := $(call src,analyze/task analyze/live analyze/symbols ktr/provider/syscall)
# A DTrace-like framework's names, on top of libktr-provider.
DTRACE_SRC  := $(call src,ktr/provider/mach ktr/provider/view ktr/provider/handler)

# Libktr and its providers for programs that know nothing of them: whole in one object, which is preloaded.
# With static probes of whatever they are made of, and functions that were not built to be probed, on x86-64.
AGENT_SRC   := $(call src,ktr/agent $(if $(FBT_SRC),ktr/provider/usdt ktr/provider/plain)) $(if $(FBT_SRC),$(wildcard ktr/provider/plain/*.S))

LIBKTR_SRC  := $(CONF_SRC) $(SHARED_SRC) $(KTR_SRC) $(KTR_ASM) $(WRITER_SRC)
LIBREAD_SRC := $(CONF_SRC) $(EXPR_SRC) $(SHARED_SRC) $(TYPES_SRC) $(ANALYZE_SRC)
TOOL_SRC    := $(VIS_SRC) $(TOOLS_SRC) $(OFFER_SRC) $(KTRACE_SRC)

obj = $(patsubst %,$(O)/$(1)/%.o,$(basename $(2)))
LIBKTR_OBJ  := $(call obj,obj,$(LIBKTR_SRC))
LIBKTR_PIC  := $(call obj,pic,$(filter-out $(WRITER_SRC) writer/%,$(LIBKTR_SRC)) $(LOAD_SRC))
# With what the writer needs of the floors below it; the linker leaves out what it does not.
LIBWRITER_PIC := $(call obj,pic,$(WRITER_SRC) $(LOADED_SRC) $(SHARED_SRC) $(CONF_SRC) $(call src,ktr/control))
SHARED_PIC   := $(call obj,pic,$(SHARED_SRC) $(CONF_SRC))
LIBPROBE_PIC := $(call obj,pic,$(PROBE_SRC)) $(SHARED_PIC)
# What libktr exports of conf/ is taken from there.
EXPORTED_CONF := $(addprefix conf/,error.c knob.c loader.c loader_file.c search.c tree.c)
LIBPROVIDER_PIC := $(call obj,pic,$(PROVIDER_SRC) $(call src,ktr/control) $(SHARED_SRC) $(filter-out $(EXPORTED_CONF),$(CONF_SRC)))
LIBFBT_PIC   := $(call obj,pic,$(FBT_SRC) $(call src,ktr/provider/view) ktr/record/module.c $(SHARED_SRC) $(filter-out $(EXPORTED_CONF),$(CONF_SRC)))
LIBTASK_PIC  := $(call obj,pic,$(TASK_SRC) conf/kit/array.c) $(SHARED_PIC)
LIBDTRACE_PIC := $(call obj,pic,$(DTRACE_SRC)) $(SHARED_PIC)
LIBPROFIL_PIC := $(call obj,pic,$(filter-out %/wrap.c,$(PROFIL_SRC)))
LIBPROFIL_WRAP := $(call obj,pic,ktr/provider/profil/create.c ktr/provider/profil/wrap.c)
LIBAGENT_PIC := $(call obj,pic,$(sort $(LIBKTR_SRC) $(PROVIDER_SRC) $(FBT_SRC) $(LOCK_SRC) $(PROFILE_SRC) $(OFFCPU_SRC) $(HEAP_SRC) $(IMPORTS_SRC) $(AGENT_SRC)))
LIBREAD_OBJ := $(call obj,obj,$(LIBREAD_SRC))
# Filters evaluate these for each event of a trace: not the small ones of libktr.so. What SQL asks is the command's, and
# so are types.
LIBREAD_PIC := $(call obj,pic,$(filter-out conf/eval/% analyze/sql/% analyze/types/% analyze/live/% analyze/task/% ktr/provider/types/%,$(LIBREAD_SRC))) $(call obj,read,$(call src,conf/eval))
TOOL_OBJ    := $(call obj,obj,$(TOOL_SRC))
# Of the command what decides who may be attached to: it is shown a made-up /proc; and what makes and takes bytes of a store.
TEST_TOOLS  := $(addprefix tools/attach/,attach_facts.c attach_refuse.c inject_maps.c) \
	$(addprefix tools/fleet/,frame.c frame_up.c native.c native_buffer.c rows.c utc.c)
TEST_OBJ    := $(call obj,obj,$(TEST_SRC) $(TEST_TOOLS) $(VIS_SRC) $(KTRACE_SRC))

LIBKTR_LIBS  := -lpthread
# libiberty is an archive alone: libktrread.a takes out of it what it needs.
DEMANGLE_LIBS := $(if $(filter 1,$(HAVE_DEMANGLE)),-liberty)
LIBREAD_LIBS := $(DEMANGLE_LIBS) -ljansson -lm $(if $(filter 1,$(HAVE_LIBDW)),-ldw)
TASK_LIBS    := $(DEMANGLE_LIBS) $(if $(filter 1,$(HAVE_LIBDW)),-ldw -lelf)
VIS_LIBS     := -lz $(if $(filter 1,$(HAVE_SNAPPY)),-lsnappy)
# The archive where there is one: the functions of the shared library call each other by its table, and a row costs more.
SQLITE_A     := $(filter /%,$(shell $(CC) -print-file-name=libsqlite3.a))
SQL_LIBS     := $(if $(filter 1,$(HAVE_SQLITE)),$(or $(SQLITE_A),-lsqlite3))
TYPES_LIBS   := $(if $(filter 1,$(HAVE_LIBDW)),-lelf)
LZ4_LIBS     := $(if $(filter 1,$(HAVE_LZ4)),-llz4)
TOOL_LIBS    := $(TYPES_LIBS) $(LZ4_LIBS) $(if $(filter 1,$(HAVE_NCURSES)),-lncursesw -ltinfo) $(if $(filter 1,$(HAVE_EDIT)),-ledit)

BINS := $(if $(wildcard tools/ktr.c),$(O)/bin/ktr $(O)/bin/ktrdump)
# Objects as they are, for our commands and tests, which call what is private.
ALL_ARCHIVES := $(O)/obj/libktr.a $(O)/obj/libktrread.a $(O)/pic/libshared.a
LIBS := $(O)/lib/libktr.a $(O)/lib/libktr_pic.a $(O)/lib/libktr.so $(O)/lib/libktr-writer.so $(O)/lib/libktr-probe.a $(O)/lib/libktr-probe.so \
	$(O)/lib/libktr-provider.a $(O)/lib/libktr-provider.so $(if $(FBT_SRC),$(O)/lib/libktr-fbt.a $(O)/lib/libktr-fbt.so) $(O)/lib/libktr-dtrace.a $(O)/lib/libktr-dtrace.so $(O)/lib/libktr-agent.so $(O)/lib/libktr-task.a $(O)/lib/libktr-task.so \
	$(if $(PROFIL_SRC),$(O)/lib/libktr-profil.a $(O)/lib/libktr-profil.so) \
	$(O)/lib/libktrread.a $(O)/lib/libktrread.so

include examples/build.mk

.PHONY: FORCE one check-one bench bench-writer bench-pack bench-reader bench-switch bench-peers bench-programs fuzz check-long check-kill check-peer check-san check-oom check-cxx check-abi check-foreign check-agent check-functions check-profile fleet-demo check-types check-fleet check-parquet check-strangers check-arm64 check-format setup-check setup-demo all lib examples test check demo bench setup help clean check-model layers check-ktrace check-task check-gmon bench-ktrace bench-agent bench-profile bench-fleet bench-ship
.DEFAULT_GOAL := all

all: setup lib $(BINS) examples ## build everything under build/

lib: $(LIBS) $(ALL_ARCHIVES)

examples: $(EXAMPLES)

# What is missing is installed through apt-get, with a word about it, where the README's commands or `make
# setup` ask for it; a plain `make` only names it. Silent when nothing is missing.
SETS_UP := $(filter setup check check-% demo fleet-demo bench bench-% fuzz,$(MAKECMDGOALS))
setup:
	@$(if $(SETS_UP),,KTR_NO_INSTALL=1) scripts/setup.sh build

setup-check:
	@scripts/setup.sh build check

setup-demo:
	@scripts/setup.sh build demo

# Where packages may be installed, that is done before anything else, for what is there decides what is built: make
# begins anew when this file has changed.
ifneq ($(SETS_UP),)
$(O)/packages.mk: FORCE
	@mkdir -p $(@D); [ -e $@ ] || echo '# written by scripts/setup.sh' >$@
	@KTR_INSTALLED=$@ scripts/setup.sh build $(if $(filter check check-one setup-check,$(MAKECMDGOALS)),check) \
		$(if $(filter demo bench-reader,$(MAKECMDGOALS)),demo)
include $(O)/packages.mk
endif

# Everything that is compiled waits for the packages.
$(LIBKTR_OBJ) $(LIBKTR_PIC) $(LIBWRITER_PIC) $(LIBPROBE_PIC) $(LIBPROVIDER_PIC) $(LIBFBT_PIC) $(LIBDTRACE_PIC) $(LIBTASK_PIC) $(LIBPROFIL_PIC) $(LIBPROFIL_WRAP) $(LIBAGENT_PIC) $(LIBREAD_OBJ) $(LIBREAD_PIC) $(TOOL_OBJ): | setup
$(call obj,obj,$(TEST_SRC)): | setup-check

# Where bytes are moved per event is optimised for speed; the rest of the libraries runs at start, per packet, or for
# events out of the ordinary (record.c and payload.c are as fast either way), and is kept small, so that libktr's text
# stays within 64 KiB (tests/cli/build/size.sh). The flags behind -Oz are those of gcc's passes that were found to make
# this code larger; where a compiler does not know all of them, -Os has to do.
HOT := ktr/record/stack writer/format/codec writer/format/codec_pack writer/format/codec_payload writer/format/crc32c
COLD := $(filter-out $(HOT),$(basename $(LIBKTR_SRC) $(LOAD_SRC) $(LOADED_SRC)))
SMALL_BEST := -Oz -fno-caller-saves -fno-move-loop-invariants -fno-move-loop-stores \
	      -fno-optimize-sibling-calls -fno-expensive-optimizations -fno-if-conversion \
	      -fno-forward-propagate -fno-guess-branch-probability -foptimize-strlen -fno-tree-pre \
	      -fno-tree-dse -fno-tree-loop-im -fno-ipa-sra -fno-tree-tail-merge -fno-ipa-modref
SMALL = $(eval SMALL := $$(shell echo | $$(CC) -Werror $(SMALL_BEST) -xc -c - -o /dev/null 2>/dev/null && \
	echo $(SMALL_BEST) || echo -Os))$(SMALL)
# In the shared libraries they are optimised together, which takes another 2.5 % off; the objects are whole without.
LTO := $(if $(findstring clang,$(shell $(CC) --version)),,-flto -flto-partition=one)
$(COLD:%=$(O)/obj/%.o): EXTRA = $(SMALL) -fno-asynchronous-unwind-tables
$(HOT:%=$(O)/pic/%.o): EXTRA = $(LTO) $(if $(LTO),-ffat-lto-objects)
$(COLD:%=$(O)/pic/%.o): EXTRA = $(SMALL) -fno-asynchronous-unwind-tables $(LTO) $(if $(LTO),-ffat-lto-objects)
# A variadic function saves the vector registers too, unless there are none. (AArch64's gcc takes types to be others
# where there are none, and refuses to optimise such files together with the rest.)
VARIADIC := conf/error ktr/record/own writer/format/emit
NO_VECTORS := $(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),-mgeneral-regs-only)
$(VARIADIC:%=$(O)/obj/%.o): EXTRA = $(SMALL) -fno-asynchronous-unwind-tables $(NO_VECTORS)
$(VARIADIC:%=$(O)/pic/%.o): EXTRA = $(SMALL) -fno-asynchronous-unwind-tables $(NO_VECTORS) $(LTO) $(if $(LTO),-ffat-lto-objects)

$(O)/obj/tools/attach/inject_code.o: ktr/agent/ask.h
$(O)/obj/tools/bsd/dtrace_demo.o: tools/bsd/dtrace_demo.json
$(O)/obj/tools/fleet/question_files.o: $(wildcard tools/fleet/questions/*.sql)
$(O)/obj/visualize/page/page_assets.o: $(wildcard visualize/page/program/*.html visualize/page/program/*.css) $(patsubst %,$(O)/obj/visualize/page/%.js,engine view compare)
$(O)/obj/visualize/page/page_assets.o: ASM_DIRS = -I$(O)/obj/visualize/page
$(O)/obj/visualize/flame/flame_assets.o: $(wildcard visualize/flame/*)

# The program of a page, as it lies in visualize/page/program but for comments and empty lines: what a worker runs as well, and the rest; and
# the one around two pages.
PAGE_ENGINE  := text blob data rows histogram filter within match kinds window around tasks
PAGE_VIEW    := ask nodes draw lines marks flow hit search panel detail range link main
PAGE_COMPARE := text blob nodes compare
$(O)/obj/visualize/page/engine.js: $(PAGE_ENGINE:%=visualize/page/program/%.js)
$(O)/obj/visualize/page/view.js: $(PAGE_VIEW:%=visualize/page/program/%.js)
$(O)/obj/visualize/page/compare.js: $(PAGE_COMPARE:%=visualize/page/program/%.js)
$(O)/obj/visualize/page/%.js: Makefile
	@mkdir -p $(@D)
	$(call brief,JS)
	$(Q)sed -e '/^[[:blank:]]*\/\*.*\*\/$$/d' -e '/^[[:blank:]]*\/\*/,/\*\/$$/d' -e 's/[[:blank:]]*\/\* .* \*\/$$//' $(filter %.js,$^) | sed '/^$$/d' >$@

# What objects are made with: a file that is rewritten when it changes, so that they are made anew.
$(O)/flags: FORCE | setup
	@mkdir -p $(@D)
	@echo '$(CC) $(MOST_CFLAGS) $(SMALL) $(LTO)' | cmp -s - $@ || echo '$(CC) $(MOST_CFLAGS) $(SMALL) $(LTO)' >$@

FORCE:

# Called by functions whose vectors carry arguments.
$(patsubst %,$(O)/pic/ktr/provider/%.o,fbt/fire fbt/call fbt/record fbt/values arcs/table): EXTRA = $(NO_VECTORS) -fno-plt

# Filters evaluate expressions for each event of a trace, libktr.so only where a trigger is set.
$(patsubst %.c,$(O)/obj/%.o,$(call src,conf/eval)): EXTRA =

$(O)/obj/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call brief,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(DEPS) -c $< -o $@

$(O)/pic/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call brief,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -fPIC -ftls-model=initial-exec $(DEPS) -c $< -o $@

$(O)/read/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call brief,CC)
	$(Q)$(CC) $(MOST_CFLAGS) -fPIC $(DEPS) -c $< -o $@

# A thread sanitizer sees no assembly: what has a second version in C leaves itself out.
ASM_TSAN = $(if $(findstring -fsanitize=thread,$(CFLAGS)),-DKTR_TSAN=1)

$(O)/obj/%.o: %.S
	@mkdir -p $(@D)
	$(call brief,CC)
	$(Q)$(CC) -Iinclude -I. $(ASM_DIRS) $(ASM_TSAN) $(DEPS) -c $< -o $@

$(O)/pic/%.o: %.S
	@mkdir -p $(@D)
	$(call brief,CC)
	$(Q)$(CC) -Iinclude -I. -fPIC $(ASM_TSAN) $(DEPS) -c $< -o $@

$(O)/obj/libktr.a: $(LIBKTR_OBJ)
$(O)/obj/libktrread.a: $(LIBREAD_OBJ)
$(O)/pic/libshared.a: $(SHARED_PIC)
$(ALL_ARCHIVES):
	@mkdir -p $(@D)
	@rm -f $@
	$(call brief,AR)
	$(Q)$(AR) rcs $@ $^

# An archive for others is one object whose names are those of the shared library. What is private in it is local: it
# does not meet a program's names, nor the same of another of these archives, which may be of another version. What
# two of them export is weak in one; vfork is, too, for who has one of his own. A program's own files have the hidden
# ktr__module_entry, ktr__probe_module, ktr__fbt_module and ktr__dtrace_module, which list its points: there is one of
# each. Machine code, for any compiler.
define one_object
	@mkdir -p $(@D)
	@rm -f $@
	$(call brief,AR)
	$(Q){ $(NM) -D --defined-only $(1) | awk '$$2 != "A" { sub(/@.*/, "", $$3); print $$3 }'; echo ktr__module_entry; echo ktr__probe_module; echo ktr__fbt_module; echo ktr__dtrace_module; } >$(@:.a=.names)
	$(Q)$(CC) -r -nostdlib -fno-lto $(4) -o $(@:.a=.o) $(2)
	$(Q)$(OBJCOPY) -w --keep-global-symbols=$(@:.a=.names) $(addprefix -W ,$(3)) -R '.gnu.lto_*' -R '.gnu.debuglto_*' $(@:.a=.o)
	$(Q)$(AR) rcs $@ $(@:.a=.o)
	@rm -f $(@:.a=.o) $(@:.a=.names)
endef

$(O)/lib/libktr.a: $(LIBKTR_OBJ) $(O)/lib/libktr.so
	$(call one_object,$(O)/lib/libktr.so,$(LIBKTR_OBJ),vfork)

# For somebody's shared object. Not the archive for programs: one that may be unloaded has to call dlopen(3) to stay
# (ktr/start/start.c), of which the linker would warn in every static program.
LIBKTR_WHOLE_PIC := $(call obj,pic,$(LIBKTR_SRC))
$(O)/lib/libktr_pic.a: $(LIBKTR_WHOLE_PIC) $(O)/lib/libktr.so
	$(call one_object,$(O)/lib/libktr.so,$(LIBKTR_WHOLE_PIC),vfork)

# For both, programs and shared objects.
$(O)/lib/libktr-probe.a: $(call obj,pic,$(PROBE_SRC)) $(O)/pic/libshared.a $(O)/lib/libktr-probe.so
	$(call one_object,$(O)/lib/libktr-probe.so,$(filter-out %.so,$^))

$(O)/lib/libktr-provider.a: $(LIBPROVIDER_PIC) $(O)/lib/libktr-provider.so
	$(call one_object,$(O)/lib/libktr-provider.so,$(LIBPROVIDER_PIC))

$(O)/lib/libktr-fbt.a: $(LIBFBT_PIC) $(O)/lib/libktr-fbt.so
	$(call one_object,$(O)/lib/libktr-fbt.so,$(LIBFBT_PIC))

$(O)/lib/libktr-dtrace.a: $(call obj,pic,$(DTRACE_SRC)) $(O)/pic/libshared.a $(O)/lib/libktr-dtrace.so
	$(call one_object,$(O)/lib/libktr-dtrace.so,$(filter-out %.so,$^))

# What its folders have for others alone would ask for others' folders: it is left out, as in the shared library.
$(O)/lib/libktr-task.a: $(LIBTASK_PIC) $(O)/lib/libktr-task.so
	$(call one_object,$(O)/lib/libktr-task.so,$(LIBTASK_PIC),'ktr_error_*',-Wl$(comma)--gc-sections \
		$$(sed '/^ktr__/d; s/^/-Wl$(comma)-u$(comma)/' $(@:.a=.names)))

# Besides, an object for those who have the linker wrap calls that make threads.
$(O)/lib/libktr-profil.a: $(LIBPROFIL_PIC) $(LIBPROFIL_WRAP) $(O)/lib/libktr-profil.so
	$(call one_object,$(O)/lib/libktr-profil.so,$(filter-out %/stand_in.o %/create.o,$(LIBPROFIL_PIC)),,-Wl$(comma)--gc-sections \
		$$(sed -n '/^ktr_[a-z]/s/^/-Wl$(comma)-u$(comma)/p' $(@:.a=.names)))
	$(Q)$(CC) -r -nostdlib -fno-lto -o $(@:.a=-wrap.o) $(LIBPROFIL_WRAP)
	$(Q)$(OBJCOPY) -w --keep-global-symbol='__wrap_*' $(@:.a=-wrap.o)
	$(Q)$(AR) rcs $@ $(@:.a=-wrap.o)
	@rm -f $(@:.a=-wrap.o)

$(O)/lib/libktrread.a: $(LIBREAD_PIC) $(O)/lib/libktrread.so
	$(call one_object,$(O)/lib/libktrread.so,$(LIBREAD_PIC) $(DEMANGLE_LIBS),'ktr_error_*')

SHARED_FLAGS = $(CFLAGS) $(SHSTK_LINK) $(LDFLAGS) -shared -Wl,-soname,$(@F).$(V_MAJOR) -Wl,-z,nodelete -Wl,-z,defs \
	       -Wl,--gc-sections -Wl,-Bsymbolic $(LTO)

$(O)/lib/libktr.so: $(LIBKTR_PIC) ktr/libktr.map | $(O)/lib/libktr-writer.so
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(SHARED_FLAGS) -Wl,--version-script=ktr/libktr.map -o $@ $(LIBKTR_PIC) $(LIBKTR_LIBS) -ldl
	@ln -sf libktr.so $@.$(V_MAJOR)

$(O)/lib/libktr-writer.so: $(LIBWRITER_PIC) writer/libktr-writer.map
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(SHARED_FLAGS) -Wl,--version-script=writer/libktr-writer.map -o $@ $(LIBWRITER_PIC) -lpthread
	@ln -sf libktr-writer.so $@.$(V_MAJOR)

$(O)/lib/libktr-probe.so: $(LIBPROBE_PIC) ktr/provider/probe/libktr-probe.map $(O)/lib/libktr.so
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(SHARED_FLAGS) -Wl,--version-script=ktr/provider/probe/libktr-probe.map '-Wl,-rpath,$$ORIGIN' -o $@ $(LIBPROBE_PIC) \
		-L$(O)/lib -lktr $(LIBKTR_LIBS)
	@ln -sf libktr-probe.so $@.$(V_MAJOR)

$(O)/lib/libktr-provider.so: $(LIBPROVIDER_PIC) ktr/provider/registry/libktr-provider.map $(O)/lib/libktr.so
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(SHARED_FLAGS) -Wl,--version-script=ktr/provider/registry/libktr-provider.map '-Wl,-rpath,$$ORIGIN' -o $@ \
		$(LIBPROVIDER_PIC) -L$(O)/lib -lktr $(LIBKTR_LIBS)
	@ln -sf libktr-provider.so $@.$(V_MAJOR)

$(O)/lib/libktr-fbt.so: $(LIBFBT_PIC) ktr/provider/fbt/libktr-fbt.map $(O)/lib/libktr-provider.so
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(SHARED_FLAGS) -Wl,--version-script=ktr/provider/fbt/libktr-fbt.map '-Wl,-rpath,$$ORIGIN' -o $@ $(LIBFBT_PIC) \
		-L$(O)/lib -lktr-provider -lktr $(LIBKTR_LIBS)
	@ln -sf libktr-fbt.so $@.$(V_MAJOR)

$(O)/lib/libktr-dtrace.so: $(LIBDTRACE_PIC) ktr/provider/mach/libktr-dtrace.map $(O)/lib/libktr-provider.so
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(SHARED_FLAGS) -Wl,--version-script=ktr/provider/mach/libktr-dtrace.map '-Wl,-rpath,$$ORIGIN' -o $@ $(LIBDTRACE_PIC) \
		-L$(O)/lib -lktr-provider -lktr $(LIBKTR_LIBS)
	@ln -sf libktr-dtrace.so $@.$(V_MAJOR)

$(O)/lib/libktr-agent.so: $(LIBAGENT_PIC) ktr/agent/libktr-agent.map ktr/agent/global.list
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(subst -Wl$(comma)-Bsymbolic,-Wl$(comma)--dynamic-list=ktr/agent/global.list,$(SHARED_FLAGS)) \
		-Wl,--version-script=ktr/agent/libktr-agent.map -o $@ $(LIBAGENT_PIC) $(LIBKTR_LIBS) -ldl
	@ln -sf libktr-agent.so $@.$(V_MAJOR)

$(O)/lib/libktr-task.so: $(LIBTASK_PIC) analyze/task/libktr-task.map
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(SHARED_FLAGS) -Wl,--as-needed -Wl,--version-script=analyze/task/libktr-task.map -o $@ $(LIBTASK_PIC) \
		$(TASK_LIBS) -lpthread
	@ln -sf libktr-task.so $@.$(V_MAJOR)

$(O)/lib/libktr-profil.so: $(LIBPROFIL_PIC) ktr/provider/profil/libktr-profil.map
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(SHARED_FLAGS) -Wl,--version-script=ktr/provider/profil/libktr-profil.map -o $@ $(LIBPROFIL_PIC) -lpthread -ldl
	@ln -sf libktr-profil.so $@.$(V_MAJOR)

$(O)/lib/libktrread.so: $(LIBREAD_PIC) analyze/libktrread.map
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(SHARED_FLAGS) -Wl,--as-needed -Wl,--version-script=analyze/libktrread.map -o $@ $(LIBREAD_PIC) \
		$(LIBREAD_LIBS) -lpthread
	@ln -sf libktrread.so $@.$(V_MAJOR)

$(O)/bin/ktr: $(TOOL_OBJ) $(O)/obj/libktrread.a $(O)/obj/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(TOOL_OBJ) $(O)/obj/libktrread.a $(O)/obj/libktr.a $(TOOL_LIBS) $(SQL_LIBS) $(VIS_LIBS) $(LIBREAD_LIBS) $(LIBKTR_LIBS)

# The same program, which looks at the name that it is called by.
$(O)/bin/ktrdump: | $(O)/bin/ktr
	$(Q)ln -sf ktr $@

$(O)/tests/unit: $(TEST_OBJ) $(O)/obj/libktrread.a $(O)/obj/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -rdynamic -o $@ $(TEST_OBJ) $(O)/obj/libktrread.a $(O)/obj/libktr.a \
		-lcunit $(TYPES_LIBS) $(LZ4_LIBS) $(SQL_LIBS) $(VIS_LIBS) $(LIBREAD_LIBS) $(LIBKTR_LIBS)

# One suite alone, for a sanitizer that is asked of that.
$(O)/tests/unit-crew: $(call obj,obj,tests/unit/main.c tests/unit/analyze/test_crew.c) $(O)/obj/libktrread.a $(O)/obj/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -rdynamic -o $@ $^ -lcunit $(LIBREAD_LIBS) $(LIBKTR_LIBS)

# ---- the two-file form ----

ONE := $(O)/one
$(ONE)/ktr.c: scripts/one.sh include/ktr/version.h $(wildcard include/*.h include/ktr/*.h conf/*.h conf/*/*.h ktr/*/*.h ktr/arch/* writer/*.h writer/*/*.h) $(LIBKTR_SRC) LICENSE
	$(Q)scripts/one.sh $(ONE) $(VERSION) $(LIBKTR_SRC)

one: $(ONE)/ktr.c ## make the library as two files to drop into a project: build/one/ktr.c, ktr.h

$(ONE)/ktr.o: $(ONE)/ktr.c
	$(call brief,CC)
	$(Q)$(CC) -std=gnu11 $(WARN) $(CFLAGS) -c $< -o $@

$(O)/tests/unit-one: $(TEST_OBJ) $(ONE)/ktr.o $(O)/obj/libktrread.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -rdynamic -o $@ $(TEST_OBJ) $(ONE)/ktr.o $(O)/obj/libktrread.a \
		-lcunit $(TYPES_LIBS) $(LZ4_LIBS) $(SQL_LIBS) $(VIS_LIBS) $(LIBREAD_LIBS) -lpthread

check-one: setup-check $(O)/tests/unit-one ## run the unit tests on the two-file form
	$(O)/tests/unit-one
	KTR_PATH=thread $(O)/tests/unit-one record record_text

test: all $(O)/tests/unit ## run the unit tests
	$(O)/tests/unit

check: setup-check all $(O)/tests/unit $(O)/tests/unit-one ## pass all quick tests; prints the CUnit summary
	scripts/check.sh $(O)

demo: setup-demo all ## trace a real program, explain a stall, draw it: leaves demo-out/
	scripts/demo.sh $(O)

fleet-demo: setup-demo all ## three hosts ship to a ClickHouse server that apt-get fetches, are asked about, and one is fetched: leaves fleet-out/
	scripts/setup.sh build fleet demo
	O=$(O) CC="$(CC)" sh scripts/fleet_demo.sh

# ---- measurements: not tests, nothing depends on them ----

BENCH := $(O)/bench
# Real frames for the stack event; loops aligned, so that neighbours do not shift them.
BENCH_EVENT := -fno-omit-frame-pointer -fno-optimize-sibling-calls -falign-functions=64 -falign-loops=64

$(BENCH)/bench: $(wildcard tests/bench/*.[ch]) $(O)/obj/libktrread.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(filter %bench.c %launch.c %row.c %print.c %limits.c %startup.c,$^) $(O)/obj/libktrread.a

$(BENCH)/worker-exe: $(wildcard tests/bench/*.[ch] include/ktr/*.h) $(O)/lib/libktr.a $(O)/lib/libktr-probe.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(BENCH_EVENT) -o $@ tests/bench/worker.c tests/bench/event.c tests/bench/peer.c $(O)/lib/libktr-probe.a $(O)/lib/libktr.a $(LIBKTR_LIBS)

$(BENCH)/libevent.so: tests/bench/event.c tests/bench/peer.c $(wildcard tests/bench/*.h include/ktr/*.h) $(O)/lib/libktr.so $(O)/lib/libktr-probe.so
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(BENCH_EVENT) -fPIC -shared -Wl,-soname,libevent.so -o $@ $(filter %.c,$^) \
		-L$(O)/lib -lktr-probe -lktr '-Wl,-rpath,$$ORIGIN/../lib'

$(BENCH)/worker-so: tests/bench/worker.c $(wildcard tests/bench/*.h) $(BENCH)/libevent.so
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(BENCH_EVENT) -o $@ $< $(BENCH)/libevent.so '-Wl,-rpath,$$ORIGIN' \
		'-Wl,-rpath,$$ORIGIN/../lib' -Wl,-rpath-link,$(O)/lib -lpthread

$(BENCH)/nothing-exe: tests/bench/nothing.c $(wildcard include/ktr/*.h) $(O)/lib/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(O)/lib/libktr.a $(LIBKTR_LIBS)

$(BENCH)/nothing-so: tests/bench/nothing.c $(wildcard include/ktr/*.h) $(O)/lib/libktr.so
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< -L$(O)/lib -lktr '-Wl,-rpath,$$ORIGIN/../lib'

$(BENCH)/nothing-off: tests/bench/nothing.c $(wildcard include/ktr/*.h)
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -DKTR_OFF -o $@ $<

BENCH_BINS := $(addprefix $(BENCH)/,bench worker-exe worker-so nothing-exe nothing-so nothing-off)

bench: setup all $(BENCH_BINS) $(if $(FBT_SRC),$(BENCH)/fbt) ## ns per event, and per call of a probed function; JSON=file writes it as JSON too, RUNS=5 adds which rows hold by the median of so many
	$(BENCH)/bench $(if $(JSON),-j $(JSON))
	$(if $(RUNS),for i in $$(seq $(RUNS)); do $(BENCH)/bench >$(BENCH)/run-$$i.txt || exit; done; \
		python3 tests/bench/medians.py $$(printf '$(BENCH)/run-%d.txt ' $$(seq $(RUNS))))
	$(if $(FBT_SRC),$(BENCH)/fbt)

$(BENCH)/agent_host: tests/bench/agent_host.c tests/bench/peer.c $(wildcard tests/bench/*.h) include/ktr/fbt.h
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(BENCH_EVENT) -o $@ $(filter %.c,$^) -lpthread

bench-fleet: all ## fifteen questions on EVENTS=20000000 events in ClickHouse, timed, and compared with ktr sql
	scripts/setup.sh build fleet
	O=$(O) CC="$(CC)" EVENTS=$(or $(EVENTS),20000000) sh tests/fleet/bench.sh

bench-ship: all ## what ktr ship costs beside a loop that walks the trace and packs the same blocks; memory, --rate, the traced program: EVENTS=4000000
	O=$(O) CC="$(CC)" EVENTS=$(or $(EVENTS),4000000) sh tests/fleet/cost.sh

bench-agent: all $(BENCH)/agent_host ## what the agent costs: locks and memory, where it stands before the C library, and functions: RUNS=15 processes
	python3 tests/bench/agent.py $(BENCH)/agent_host $(O)/lib/libktr-agent.so $(O)/bin/ktr $(RUNS)

$(BENCH)/profile_host: tests/bench/profile_host.c
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -fno-optimize-sibling-calls -o $@ $<

bench-profile: all $(BENCH)/profile_host ## how long a sample of ktr profile interrupts a thread, beside an empty handler: RUNS=5 rounds
	python3 tests/bench/profile.py $(BENCH)/profile_host $(O)/bin/ktr $(RUNS)

$(BENCH)/fbt: tests/bench/fbt.c tests/bench/peer.c $(wildcard tests/bench/peer.h include/ktr/*.h) $(O)/lib/libktr-fbt.so
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(BENCH_EVENT) -fpatchable-function-entry=16,14 -include include/ktr/fbt.h -o $@ $(filter %.c,$^) \
		-L$(O)/lib -Wl,-u,ktr__fbt_attach,--push-state,--no-as-needed,-lktr-fbt,--pop-state -lktr-provider \
		-lktr '-Wl,-rpath,$$ORIGIN/../lib'

$(BENCH)/paced: $(addprefix tests/bench-writer/,paced.c child.c reference.c paced.h) $(O)/lib/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(filter %.c,$^) $(O)/lib/libktr.a $(LIBKTR_LIBS)

bench-writer: setup all $(BENCH)/paced ## rate the writer keeps up with beside a loop that only copies, bytes, CPU: SECONDS=10, EVENTS="ctr2 mix", JSON=file as in bench
	$(BENCH)/paced -d /var/tmp/ktr-bench.out $(if $(SECONDS),-t $(SECONDS)) $(if $(JSON),-j $(JSON)) $(EVENTS)

$(BENCH)/pack: tests/bench-writer/pack.c $(O)/obj/libktrread.a $(O)/obj/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(O)/obj/libktrread.a $(O)/obj/libktr.a $(LIBREAD_LIBS) $(LIBKTR_LIBS)

bench-pack: setup all $(BENCH)/pack ## the writer's innermost work on one core: packing, checksums, write(2), and walking it again
	$(BENCH)/pack

$(BENCH)/reader: tests/bench-reader/reader.c $(O)/obj/libktrread.a $(O)/obj/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(O)/obj/libktrread.a $(O)/obj/libktr.a $(LIBREAD_LIBS) $(LIBKTR_LIBS)

$(BENCH)/commands: tests/bench-reader/commands.c $(O)/obj/libktrread.a $(O)/obj/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(O)/obj/libktrread.a $(O)/obj/libktr.a $(LIBREAD_LIBS) $(LIBKTR_LIBS)

bench-reader: setup all $(BENCH)/reader $(BENCH)/commands ## how fast a trace is read and drawn, beside the limits: TRACE=directory, by default the demo's
	$(BENCH)/reader $(or $(TRACE),demo-out/trace)
	$(BENCH)/commands $(O)/bin/ktr $(or $(TRACE),demo-out/trace)

$(BENCH)/switch: tests/bench-switch/switch.c $(O)/obj/libktrread.a $(O)/obj/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(O)/obj/libktrread.a $(O)/obj/libktr.a $(LIBREAD_LIBS) $(LIBKTR_LIBS)

bench-switch: setup all $(BENCH)/switch ## from `ktr sysctl` to the first event of a running program
	$(BENCH)/switch $(O)/bin/ktr

bench-programs: all ## what points cost in memcached, CPU per request, beside the least they could: BURSTS, REQUESTS, WORKERS, JSON=file
	@O=$(O) CC="$(CC)" sh tests/bench-programs/run.sh

bench-peers: setup all ## the same event by ktr, LTTng-UST, uftrace, trace_marker (installed from Debian); CPU time of two threads by profilers
	@O=$(O) CC="$(CC)" sh tests/bench-peers/run.sh
	@O=$(O) CC="$(CC)" sh tests/bench-peers/samples.sh

bench-ktrace: all ## what ktr ktrace costs dd bs=1, git status, nginx, beside strace -f and perf trace: RUNS=5, WHAT="dd git nginx"
	@O=$(O) sh tests/bench-ktrace/run.sh

# ---- longer checks ----

fuzz: ## fuzz every parser and reader, SECONDS_EACH=60
	scripts/fuzz.sh $(O)

check-long: all ## 200 million events under stress and 1,000 kills on each path; half an hour
	O=$(O) tests/stress/long.sh
	OPENS=200 ROUNDS=40000000 O=$(O) sh tests/cli/trace/ctf.sh
	EVENTS=100000000 ROTATIONS=60 RATE=1000000 O=$(O) sh tests/cli/read/tail.sh
	SECONDS_EACH=60 O=$(O) sh tests/cli/provider/probes.sh
	FULL=1 O=$(O) sh tests/cli/provider/fbt.sh
	FULL=1 O=$(O) sh tests/cli/provider/fbt_own.sh
	ROUNDS=40 O=$(O) sh tests/cli/provider/fbt_args_life.sh
	FULL=1 O=$(O) sh tests/cli/provider/lock_told.sh
	FULL=1 O=$(O) sh tests/cli/tool/task.sh
	FLIPS=20000000 SWITCHES=20000 O=$(O) sh tests/stress/fbt.sh
	FLIPS=20000000 O=$(O) sh tests/stress/plain.sh
	O=$(O) sh tests/stress/lock_times.sh
	BLOCKS=100000000 O=$(O) sh tests/stress/heap.sh
	$(MAKE) $(O)/tests/unit
	KTR_TEST_ALL=1 $(O)/tests/unit reader_damage fsck

check-kill: setup-check all ## a writer is killed at each of its calls, and KILLS=10000 times at random from SEED= on; all open what is left
	O=$(O) sh tests/kill/run.sh

check-parquet: all ## a trace as Parquet in hyparquet, parquet-wasm and DuckDB, which npm fetches into NODE_MODULES=
	sh tests/page/parquet.sh $(O)

check-peer: all ## a peer writes into every page of sessions: SECONDS=150 for each of four hosts on each path
	SECONDS=$${SECONDS:-150} O=$(O) sh tests/stress/peer.sh

check-san: all ## stress, kills and unit tests under address, undefined and thread sanitizers
	O=$(O)/asan sh tests/stress/sanitize.sh address,undefined
	O=$(O)/tsan sh tests/stress/sanitize.sh thread
	$(MAKE) O=$(O)/asan CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all" all $(O)/asan/tests/unit
	$(O)/asan/tests/unit
	$(MAKE) O=$(O)/tsan CFLAGS="-O1 -g -fsanitize=thread -fno-sanitize-recover=all" all $(O)/tsan/tests/unit
	TSAN_OPTIONS=halt_on_error=1 $(O)/tsan/tests/unit crew
	HOST=$(O) O=$(O)/tsan TSAN_OPTIONS=halt_on_error=1 sh tests/cli/read/threads.sh

check-oom: all ## each allocation of the library and of the commands fails in its turn
	O=$(O) sh tests/oom/run.sh

check-cxx: all ## every macro and class in C and C++: compilers, standards, levels, LTO
	FULL=1 O=$(O) sh tests/cli/build/classes.sh
	FULL=1 O=$(O) sh tests/cli/build/builds.sh

check-abi: all ## programs and libraries of earlier commits with the present ones
	O=$(O) sh tests/abi/history.sh

check-strangers: all ## hosts that live odd lives, on each path, whoever takes their events; LIVES="fork abort ..." chooses
	O=$(O) CC="$(CC)" LINKS="static shared" sh tests/strangers/matrix.sh $(LIVES)
	O=$(O) CC="$(CC)" sh tests/strangers/traced_sandbox.sh

check-fleet: all ## ktr ship and what asks for it, on a ClickHouse server that apt-get fetches; KILLS=, SEED= of the campaign
	scripts/setup.sh build fleet
	O=$(O) CC="$(CC)" sh tests/fleet/run.sh

check-types: all ## what `ktr types` says of SQLite and pugixml beside what gdb does: COUNT=200 functions of each build, 0 all
	O=$(O) sh tests/types/run.sh

check-ktrace: all ## what ktr ktrace records of fifty programs is what strace tells of them; ROUNDS=1000 attaches; each cut and bit of a file
	COUNT=1 FULL=1 O=$(O) CC="$(CC)" sh tests/cli/bsd/strace.sh
	FULL=1 O=$(O) CC="$(CC)" sh tests/cli/bsd/trace.sh
	FULL=1 O=$(O) CC="$(CC)" sh tests/cli/bsd/ktrace_filter.sh
	ROUNDS=$${ROUNDS:-1000} O=$(O) CC="$(CC)" sh tests/cli/bsd/attach.sh
	FULL=1 O=$(O) CC="$(CC)" sh tests/cli/bsd/kdump.sh

check-task: all ## stops of other processes in earnest: a busy program is sampled for a minute at 1 kHz, twice; what each stop took
	FULL=1 O=$(O) sh tests/cli/tool/task.sh

check-gmon: all ## gprof, kgmon and profil in earnest: counts and times of 2 and 16 threads, longer
	O=$(O) sh tests/cli/bsd/counted.sh
	O=$(O) sh tests/cli/bsd/counted_loaded.sh
	O=$(O) sh tests/cli/bsd/kgmon.sh
	O=$(O) sh tests/cli/bsd/kern_prof.sh
	FULL=1 O=$(O) sh tests/cli/show/gmon.sh
	FULL=1 O=$(O) sh tests/cli/provider/profil.sh

check-profile: all ## the profiler in earnest: the time of threads and places beside clocks, storms of loads and forks, EINTR; WHAT="truth libktr attach masked storm eintr", RATES, SEEDS, MS, SECONDS
	FULL=1 O=$(O) sh tests/cli/profile/profile.sh
	O=$(O) tests/profile/campaign.sh $(WHAT)

check-agent: all ## programs of Debian's that know nothing of ktr, under ktr run --agent and attached to: as without; PROGRAMS="git ..." ATTACHED="nginx ..."
	O=$(O) sh tests/agent/run.sh $(PROGRAMS)
	O=$(O) WITH="--lock all --heap all" sh tests/agent/run.sh $(or $(PROGRAMS),sqlite3 cmake nginx memcached)
	O=$(O) CC="$(CC)" sh tests/agent/attach.sh $(ATTACHED)

check-foreign: all ## somebody else's programs with ktr in them: their tests, every event counted; PROGRAMS="pigz nginx ..."
	O=$(O) CC="$(CC)" sh tests/foreign/run.sh $(PROGRAMS)

check-functions: all ## somebody else's programs, all of their functions probed: their tests, calls beside the compiler's count; PROGRAMS="sqlite3 libjsoncpp ..."
	FUNCTIONS=1 O=$(O) CC="$(CC)" sh tests/foreign/run.sh $(PROGRAMS)

check-arm64: ## cross-compile and run the unit tests under qemu-user
	scripts/check-arm64.sh

.PHONY: check-page
check-page: all ## pages and exports in headless Chromium (node, npm); screenshots in build/page/shots
	tests/page/check.sh $(O)

check-model: ## check the recording protocols with spin
	tests/model/check.sh

include scripts/install.mk

check-format: ## check how the text of the tree is written
	scripts/check-format.sh

layers: ## check the floors
	scripts/check-layers.sh

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

clean: ## remove build/
	rm -rf $(O)

# What others have put there, the programs of check-foreign or an installed tree, is not make's.
-include $(shell find $(O) \( -path $(O)/foreign -o -path $(O)/types -o -path $(O)/bench-programs \) -prune -o -type f -name '*.d' -print 2>/dev/null)
