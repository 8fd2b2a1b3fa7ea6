/* SPDX-License-Identifier: BSD-2-Clause */
/* The session's control page, as the writer's thread has it. */
#ifndef WRITER_CONTROL_H
#define WRITER_CONTROL_H

#include <stddef.h>
#include <stdint.h>

struct ktr__writer_thread;

/* The session is open. 0 or -errno. */
int ktr__control_open(struct ktr__writer_thread *self);
void ktr__control_close(struct ktr__writer_thread *self);

/* Takes a new copy; what cannot be read stays as it was. */
void ktr__control_look(struct ktr__writer_thread *self);

/* Stores a field of the session's page, and of the copy: at an offset in struct ktr_control. */
void ktr__control_put32(struct ktr__writer_thread *self, size_t field, uint32_t value);
void ktr__control_put64(struct ktr__writer_thread *self, size_t field, uint64_t value);

#endif
