# SPDX-License-Identifier: BSD-2-Clause
# The examples: examples/NAME/*.c becomes build/examples/NAME. Those that differ have a rule of their own.

# examples/embed has build files of its own (tests/cli/build/embed.sh).
EXAMPLES := $(patsubst examples/%/,$(O)/examples/%,$(filter-out %/embed/,$(wildcard examples/*/)))
# Without a C++ compiler its example is left out.
ifeq ($(shell command -v $(firstword $(CXX))),)
EXAMPLES := $(filter-out %/cxx,$(EXAMPLES))
endif
ifeq ($(PROFIL_SRC),)
EXAMPLES := $(filter-out %/profil,$(EXAMPLES))
endif
EXAMPLE_CC = $(CC) -std=gnu11 $(WARN) -Iinclude $(CFLAGS) -fno-omit-frame-pointer -MMD -MP -MF $@.d
EXAMPLE_CXX = $(CXX) -std=c++17 -Wall -Wextra -Wpedantic -Iinclude $(CFLAGS) -MMD -MP -MF $@.d
EXAMPLE_LIBS = $(O)/lib/libktr.a $(LIBKTR_LIBS)
EXAMPLES_C := $(filter-out %/cxx %/plugin %/patched %/probes %/provider %/dtrace %/task %/profil,$(EXAMPLES))

.SECONDEXPANSION:
$(EXAMPLES_C): $(O)/examples/%: $$(wildcard examples/$$*/*.c) $(O)/lib/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(EXAMPLE_CC) -o $@ $(filter %.c,$^) $(EXAMPLE_LIBS)

# Run-time probes are a library of their own.
$(O)/examples/probes: examples/probes/probes.c $(O)/lib/libktr-probe.a $(O)/lib/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(EXAMPLE_CC) -o $@ $< $(O)/lib/libktr-probe.a $(EXAMPLE_LIBS)

$(O)/examples/provider: examples/provider/provider.c $(O)/lib/libktr-provider.a $(O)/lib/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(EXAMPLE_CC) -o $@ $< $(O)/lib/libktr-provider.a $(EXAMPLE_LIBS)

$(O)/examples/dtrace: examples/dtrace/dtrace.c $(O)/lib/libktr-dtrace.a $(O)/lib/libktr-provider.a $(O)/lib/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(EXAMPLE_CC) -o $@ $< $(O)/lib/libktr-dtrace.a $(O)/lib/libktr-provider.a $(EXAMPLE_LIBS)

# A reader of other processes, which records nothing.
$(O)/examples/task: examples/task/task.c $(O)/lib/libktr-task.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(EXAMPLE_CC) -o $@ $< $(O)/lib/libktr-task.a $(TASK_LIBS) -lpthread

# A histogram in a buffer of its own.
$(O)/examples/profil: examples/profil/profil.c $(O)/lib/libktr-profil.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(EXAMPLE_CC) -o $@ $< -Wl,--wrap=pthread_create,--wrap=thrd_create $(O)/lib/libktr-profil.a -lpthread

$(O)/examples/cxx: examples/cxx/cxx.cc $(O)/lib/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(EXAMPLE_CXX) -o $@ $< $(EXAMPLE_LIBS)

# Host and module share the library, as programs with plugins do.
$(O)/examples/plugin.so: examples/plugin/module.c $(O)/lib/libktr.so
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(EXAMPLE_CC) -fPIC -shared -o $@ $< -L$(O)/lib -lktr

$(O)/examples/plugin: examples/plugin/plugin.c $(O)/examples/plugin.so $(O)/lib/libktr.so
	@mkdir -p $(@D)
	$(call brief,LINK)
	$(Q)$(EXAMPLE_CC) -o $@ $< -L$(O)/lib -lktr '-Wl,-rpath,$$ORIGIN/../lib'

$(O)/examples/patched: examples/patched/wordcount.c examples/patched/wordcount.patch $(O)/lib/libktr.a
	@mkdir -p $(@D)
	$(call brief,LINK)
	@patch -s -o $@.c examples/patched/wordcount.c examples/patched/wordcount.patch
	$(Q)$(EXAMPLE_CC) -o $@ $@.c $(EXAMPLE_LIBS)
