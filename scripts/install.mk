# SPDX-License-Identifier: BSD-2-Clause
# make install, uninstall and deb. Paths as GNU's: PREFIX, DESTDIR, and one variable for each directory.

VERSION := $(shell awk -F'"' '/define KTR_VERSION_TEXT/ {print $$2}' include/ktr/version.h)

BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR    ?= $(PREFIX)/share
MANDIR     ?= $(DATADIR)/man
UNITDIR    ?= $(PREFIX)/lib/systemd/system
INSTALL    ?= install

MAN_PAGES := $(wildcard man/*.[1-9] man/*/*.[1-9]) man/ktr-trace.5 man/ktr-json.5
PC_FILES  := ktr.pc ktr-dtrace.pc ktr-fbt.pc ktr-profil.pc ktr-task.pc ktrread.pc
SHELLS    := bash zsh fish
# Where each shell looks for completions, below $(DATADIR).
COMPLETION_bash := bash-completion/completions/ktr
COMPLETION_zsh  := zsh/site-functions/_ktr
COMPLETION_fish := fish/vendor_completions.d/ktr.fish
# bash and fish look for a file by the command's name; zsh reads in the file which commands it is for.
COMPLETION_LINKS := bash-completion/completions/ktrdump fish/vendor_completions.d/ktrdump.fish
# Commands that have FreeBSD's names, too, where BSD_NAMES=1 asks for them: other packages have commands called so.
BSD_LINKS := $(if $(BSD_NAMES),ktrace kdump kgmon)
MACH_LINKS := $(if $(BSD_NAMES),dtrace-analyze dtrace-visualize)
# What gdb loads for programs that use the library: by the name of its file.
GDB_AUTO := $(DATADIR)/gdb/auto-load$(LIBDIR)/libktr.so.$(VERSION)-gdb.py

# What one directory gets: $(call put,mode,directory,files).
put = $(INSTALL) -d "$(DESTDIR)$(2)" && $(INSTALL) -m $(1) $(3) "$(DESTDIR)$(2)"

# What a static link of libktrread takes: libdw.a needs more, which its own .pc file names.
READ_STATIC = $(filter-out -ldw $(DEMANGLE_LIBS),$(LIBREAD_LIBS)) \
	$(if $(filter -ldw,$(LIBREAD_LIBS)),$$(pkg-config --static --libs-only-l libdw 2>/dev/null || echo -ldw -lelf -lz))

TASK_STATIC = $(if $(filter -ldw,$(TASK_LIBS)),$$(pkg-config --static --libs-only-l libdw 2>/dev/null || echo -ldw -lelf -lz) -lelf) -lpthread

# A .pc file says where things are by its own place, so that a moved tree still works.
pc = sed -e 's|@version@|$(VERSION)|' -e "s|@libs@|$(READ_STATIC)|" -e "s|@task_libs@|$(TASK_STATIC)|" \
	-e "s|@includedir@|$$(realpath -ms --relative-to="$(LIBDIR)/pkgconfig" "$(INCLUDEDIR)")|"

.PHONY: install uninstall deb

install: all ## install under PREFIX (/usr/local), below DESTDIR if given; BSD_NAMES=1: ktrace, kdump and kgmon by these names, too
	$(call put,755,$(BINDIR),$(O)/bin/ktr)
	ln -sf ktr "$(DESTDIR)$(BINDIR)/ktrdump"
	$(foreach l,$(MACH_LINKS),ln -sf ktr "$(DESTDIR)$(BINDIR)/$(l)" &&) :
	$(foreach l,$(BSD_LINKS),ln -sf ktr "$(DESTDIR)$(BINDIR)/$(l)" &&) :
	$(call put,644,$(LIBDIR),$(O)/lib/libktr.a $(O)/lib/libktr_pic.a $(O)/lib/libktr-probe.a $(O)/lib/libktr-provider.a $(O)/lib/libktr-dtrace.a $(if $(FBT_SRC),$(O)/lib/libktr-fbt.a $(O)/lib/libktr-profil.a) $(O)/lib/libktr-task.a $(O)/lib/libktrread.a)
	for l in libktr.so libktr-writer.so libktr-probe.so libktr-provider.so libktr-dtrace.so libktr-agent.so $(if $(FBT_SRC),libktr-fbt.so libktr-profil.so) libktr-task.so libktrread.so; do \
		$(INSTALL) -m 644 $(O)/lib/$$l "$(DESTDIR)$(LIBDIR)/$$l.$(VERSION)" && \
		ln -sf $$l.$(VERSION) "$(DESTDIR)$(LIBDIR)/$$l.$(V_MAJOR)" || exit; done
	ln -sf libktr.so.$(V_MAJOR) "$(DESTDIR)$(LIBDIR)/libktr.so"
	ln -sf libktr-probe.so.$(V_MAJOR) "$(DESTDIR)$(LIBDIR)/libktr-probe.so"
	ln -sf libktr-provider.so.$(V_MAJOR) "$(DESTDIR)$(LIBDIR)/libktr-provider.so"
	$(if $(FBT_SRC),ln -sf libktr-fbt.so.$(V_MAJOR) "$(DESTDIR)$(LIBDIR)/libktr-fbt.so")
	$(if $(FBT_SRC),ln -sf libktr-profil.so.$(V_MAJOR) "$(DESTDIR)$(LIBDIR)/libktr-profil.so")
	ln -sf libktr-dtrace.so.$(V_MAJOR) "$(DESTDIR)$(LIBDIR)/libktr-dtrace.so"
	ln -sf libktr-task.so.$(V_MAJOR) "$(DESTDIR)$(LIBDIR)/libktr-task.so"
	ln -sf libktrread.so.$(V_MAJOR) "$(DESTDIR)$(LIBDIR)/libktrread.so"
	$(if $(FBT_SRC),$(call put,755,$(LIBDIR)/ktr-fbt,scripts/fbt/as))
	$(call put,644,$(INCLUDEDIR),include/ktr.h)
	$(call put,644,$(INCLUDEDIR)/ktr,include/ktr/*.h)
	$(call put,644,$(INCLUDEDIR)/ktr/compat/sys,include/compat/sys/*.h)
	$(INSTALL) -d "$(DESTDIR)$(LIBDIR)/pkgconfig"
	for f in $(PC_FILES); do $(pc) scripts/$$f.in >"$(DESTDIR)$(LIBDIR)/pkgconfig/$$f" && \
		chmod 644 "$(DESTDIR)$(LIBDIR)/pkgconfig/$$f" || exit; done
	$(foreach n,$(sort $(subst .,,$(suffix $(MAN_PAGES)))),$(call put,644,$(MANDIR)/man$(n),$(sort $(filter %.$(n),$(MAN_PAGES)))) &&) :
	$(foreach l,$(BSD_LINKS),ln -sf ktr-$(l).1 "$(DESTDIR)$(MANDIR)/man1/$(l).1" &&) :
	$(call put,644,$(DATADIR)/ktr,conf/loader.conf.sample tools/ktr-gdb.py)
	$(call put,644,$(DATADIR)/ktr/fleet,tools/fleet/questions/*.sql tools/fleet/grafana.json)
	$(INSTALL) -d "$(DESTDIR)$(UNITDIR)"
	sed 's|@bindir@|$(BINDIR)|' conf/ktr-ship.service.in >"$(DESTDIR)$(UNITDIR)/ktr-ship.service"
	chmod 644 "$(DESTDIR)$(UNITDIR)/ktr-ship.service"
	$(INSTALL) -m 644 scripts/ktr.magic "$(DESTDIR)$(DATADIR)/ktr/magic"
	$(INSTALL) -d "$(DESTDIR)$(dir $(GDB_AUTO))"
	$(INSTALL) -m 644 tools/ktr-gdb.py "$(DESTDIR)$(GDB_AUTO)"
	$(foreach s,$(SHELLS),$(INSTALL) -d "$(DESTDIR)$(DATADIR)/$(dir $(COMPLETION_$(s)))" && \
		scripts/completions.sh $(s) >"$(DESTDIR)$(DATADIR)/$(COMPLETION_$(s))" &&) :
	$(foreach l,$(COMPLETION_LINKS),ln -sf $(subst ktrdump,ktr,$(notdir $(l))) "$(DESTDIR)$(DATADIR)/$(l)" &&) :
	$(if $(DESTDIR),,@[ "$$(id -u)" != 0 ] || ldconfig || :)

uninstall: ## remove what install put there
	$(foreach l,$(MACH_LINKS),rm -f "$(DESTDIR)$(BINDIR)/$(l)" &&) :
	$(foreach l,$(BSD_LINKS),rm -f "$(DESTDIR)$(BINDIR)/$(l)" "$(DESTDIR)$(MANDIR)/man1/$(l).1" &&) :
	rm -f "$(DESTDIR)$(BINDIR)/ktr" "$(DESTDIR)$(BINDIR)/ktrdump" $(foreach f,libktr.a libktr_pic.a libktr-probe.a libktr-provider.a libktr-dtrace.a libktr-fbt.a libktr-profil.a libktr-task.a libktrread.a libktr.so libktr-probe.so libktr-provider.so libktr-dtrace.so libktr-fbt.so libktr-profil.so libktr-task.so libktrread.so \
		$(foreach l,libktr libktr-writer libktr-probe libktr-provider libktr-dtrace libktr-fbt libktr-profil libktr-agent libktr-task libktrread,$l.so.$(V_MAJOR) $l.so.$(VERSION)) \
		$(PC_FILES:%=pkgconfig/%),"$(DESTDIR)$(LIBDIR)/$(f)") "$(DESTDIR)$(INCLUDEDIR)/ktr.h"
	rm -f "$(DESTDIR)$(GDB_AUTO)" "$(DESTDIR)$(UNITDIR)/ktr-ship.service"
	rm -rf "$(DESTDIR)$(INCLUDEDIR)/ktr" "$(DESTDIR)$(DATADIR)/ktr" "$(DESTDIR)$(LIBDIR)/ktr-fbt"
	rm -f $(foreach f,$(foreach s,$(SHELLS),$(COMPLETION_$(s))) $(COMPLETION_LINKS),"$(DESTDIR)$(DATADIR)/$(f)")
	rm -f $(foreach page,$(MAN_PAGES),"$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page))")

deb: all ## build a Debian package, $(O)/ktr_VERSION_ARCH.deb
	scripts/deb.sh $(O) $(VERSION)
