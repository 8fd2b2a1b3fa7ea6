/* SPDX-License-Identifier: BSD-2-Clause */
/* What a reader knows, written into a trace again: lines of sidecars, and event classes. */
#ifndef ANALYZE_REWRITE_H
#define ANALYZE_REWRITE_H

#include "analyze/read/trace_head.h"
#include "writer/format/emit.h"

#include <ktr/reader.h>

/* The line of info.jsonl that describes the trace. writer: what wrote it, less than 32 bytes. */
void ktr__rewrite_head(struct ktr__emit *emit, const struct ktr__trace_head *head,
		       const char *writer);

/* What the metadata begins with. process, pid: of a trace of one process; "" and 0: of several. */
void ktr__rewrite_metadata(struct ktr__emit *emit, const struct ktr__trace_head *head, const char *process,
			   uint32_t pid);

/* The line that ends it. */
void ktr__rewrite_end(struct ktr__emit *emit, uint64_t ns, uint64_t n_events, uint64_t n_lost);

void ktr__rewrite_class(struct ktr__emit *emit, unsigned bit, const char *name);
void ktr__rewrite_proc(struct ktr__emit *emit, uint32_t proc, uint32_t pid, uint64_t key,
		       const char *name, const char *cmdline, const struct ktr__end *end);
void ktr__rewrite_thread(struct ktr__emit *emit, const struct ktr_reader_thread *thread,
			 uint32_t word, uint32_t proc, const struct ktr__end *end);
void ktr__rewrite_module(struct ktr__emit *emit, uint32_t id, uint32_t proc,
			 const struct ktr__module_entry *module);
void ktr__rewrite_loss(struct ktr__emit *emit, const char *stream, const struct ktr_loss *loss,
		       uint64_t seq);

/* So many events of a source went into no ring. why: KTR_DROP_* */
void ktr__rewrite_dropped(struct ktr__emit *emit, unsigned why, uint64_t n_events);

/* The line of a call site. */
void ktr__rewrite_site(struct ktr__emit *emit, const struct ktr_reader_site *site);

/* Its event classes, for the metadata. */
void ktr__rewrite_event(struct ktr__emit *emit, const struct ktr_reader_site *site);

#endif
