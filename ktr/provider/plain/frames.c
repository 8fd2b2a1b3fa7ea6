/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .eh_frame_hdr as linkers write it, a table of starts sorted by address, and the entries of .eh_frame that it
 * leads to: Linux Standard Base, 10.6. Both are in memory, as unwinders read them. An entry is believed as far as
 * it lies in the object; encodings that linkers do not use are refused.
 */
#include "ktr/provider/plain/frames.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_PCREL4  0x1b /* DW_EH_PE_pcrel | sdata4 */
#define FRAMES_TABLE   0x3b /* DW_EH_PE_datarel | sdata4 */
#define FRAMES_UDATA4  0x03
#define FRAMES_HEADER  12
#define FRAMES_MAX     (1u << 20)

/* Of a function that begins as one that was called: the frame's end is rsp + 8, before it the return address. */
static const uint8_t frames_usual[] = { 0x0c, 7, 8, 0x90, 1 };

struct frames_object {
	uintptr_t base;
	uintptr_t header, header_end; /* of .eh_frame_hdr */
	uintptr_t begin, end; /* of what is loaded */
	const ElfW(Phdr) *phdr;
	unsigned n_phdr;
};

static int frames_found(struct dl_phdr_info *info, size_t size, void *context)
{
	struct frames_object *object = context;

	(void)size;
	if (info->dlpi_addr != object->base)
		return 0;
	object->phdr = info->dlpi_phdr;
	object->n_phdr = info->dlpi_phnum;
	for (unsigned i = 0; i < object->n_phdr; i++) {
		const ElfW(Phdr) *phdr = &object->phdr[i];
		uintptr_t begin = object->base + phdr->p_vaddr, end = begin + phdr->p_memsz;

		if (phdr->p_type == PT_GNU_EH_FRAME) {
			object->header = begin;
			object->header_end = end;
		}
		if (phdr->p_type != PT_LOAD)
			continue;
		object->begin = object->begin && object->begin < begin ? object->begin : begin;
		object->end = object->end > end ? object->end : end;
	}
	return 1;
}

/* The segment of text that an address is in, which is no data at the same time. */
static const ElfW(Phdr) *frames_text(const struct frames_object *object, uintptr_t at)
{
	for (unsigned i = 0; i < object->n_phdr; i++) {
		const ElfW(Phdr) *phdr = &object->phdr[i];

		if (phdr->p_type == PT_LOAD && phdr->p_flags & PF_X && !(phdr->p_flags & PF_W) &&
		    at - (object->base + phdr->p_vaddr) < phdr->p_filesz)
			return phdr;
	}
	return NULL;
}

static int32_t frames_number(uintptr_t at)
{
	int32_t value;

	memcpy(&value, (const void *)at, sizeof(value));
	return value;
}

/* n bytes of what is loaded and readable. */
static bool frames_there(const struct frames_object *object, uintptr_t at, size_t n)
{
	for (unsigned i = 0; i < object->n_phdr; i++) {
		const ElfW(Phdr) *phdr = &object->phdr[i];
		uintptr_t begin = object->base + phdr->p_vaddr;

		if (phdr->p_type == PT_LOAD && phdr->p_flags & PF_R && at >= begin && n <= phdr->p_filesz &&
		    at - begin <= phdr->p_filesz - n)
			return true;
	}
	return false;
}

static bool frames_leb(uintptr_t *at, uintptr_t end, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; *at < end && shift < 63; shift += 7) {
		uint8_t byte = *(const uint8_t *)(*at)++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Where the instructions of an entry begin and end. */
struct frames_code {
	uintptr_t at, end;
};

static bool frames_is_usual(struct frames_code code)
{
	size_t n = sizeof(frames_usual);

	if (code.end - code.at < n || memcmp((const void *)code.at, frames_usual, n) != 0)
		return false;
	for (code.at += n; code.at < code.end; code.at++)
		if (*(const uint8_t *)code.at)
			return false;
	return true;
}

/* An entry's length and what is in it. */
static bool frames_entry(const struct frames_object *object, uintptr_t at, struct frames_code *code)
{
	uint32_t n;

	if (!frames_there(object, at, 8))
		return false;
	n = (uint32_t)frames_number(at);
	if (n < 8 || n > 0xffffff || !frames_there(object, at, n + 4ul))
		return false;
	code->at = at + 4;
	code->end = at + 4 + n;
	return true;
}

/* What a function's entry shares with others': "zR", "zPLR", "zRS". */
static bool frames_shared(const struct frames_object *object, uintptr_t at, bool *is_usual)
{
	struct frames_code code;
	const char *text;
	uint64_t value, n;
	uint8_t encoding = 0;
	uintptr_t data;

	if (!frames_entry(object, at, &code) || frames_number(code.at) || *(const uint8_t *)(code.at + 4) != 1)
		return false;
	text = (const char *)code.at + 5;
	code.at += 5 + strnlen(text, code.end - code.at - 5) + 1;
	if (code.at >= code.end || *text != 'z')
		return false;
	/* Units of text and stack, the column of the return address, and what the letters stand for. */
	if (!frames_leb(&code.at, code.end, &value) || value != 1 || !frames_leb(&code.at, code.end, &value) ||
	    value != 0x78 || !frames_leb(&code.at, code.end, &value) || value != 16 ||
	    !frames_leb(&code.at, code.end, &n) || n > code.end - code.at)
		return false;
	data = code.at;
	code.at += n;
	*is_usual = frames_is_usual(code);
	for (text++; *text && data < code.at; text++) {
		uint8_t byte = *(const uint8_t *)data;

		if (*text == 'R') {
			encoding = byte;
			data++;
		} else if (*text == 'L') {
			data++;
		} else if (*text == 'P') {
			data += 1 + ((byte & 7) == 3 ? 4u : (byte & 7) == 2 ? 2u : 8u);
		} else {
			return false; /* B is of another machine */
		}
	}
	if (*text == 'S') /* the return of a signal's handler */
		*is_usual = false;
	return encoding == FRAMES_PCREL4 && (!*text || *text == 'S');
}

/* Until the first place behind the start nothing may be said of the stack. */
static bool frames_begins(struct frames_code code)
{
	while (code.at < code.end) {
		uint8_t byte = *(const uint8_t *)code.at++;
		uint64_t ignored;

		if ((byte & 0xc0) == 0x40 || (byte >= 2 && byte <= 4)) /* advance */
			return true;
		if (byte == 0x2e) { /* of arguments on the stack */
			if (!frames_leb(&code.at, code.end, &ignored))
				return false;
		} else if (byte && byte != 0x0a) { /* nop, remember_state */
			return false;
		}
	}
	return true;
}

static bool frames_frame(const struct frames_object *object, uintptr_t at, uintptr_t start,
			 struct ktr__plain_frame *frame)
{
	struct frames_code code;
	bool is_usual;
	uintptr_t pc;
	uint64_t n;

	if (!frames_entry(object, at, &code) || code.end - code.at < 12 ||
	    !frames_shared(object, code.at - (uint32_t)frames_number(code.at), &is_usual))
		return false;
	pc = code.at + 4;
	if (pc + (uintptr_t)(intptr_t)frames_number(pc) != start)
		return false;
	frame->start = start;
	frame->n_bytes = (uint32_t)frames_number(pc + 4);
	code.at = pc + 8;
	if (!frames_leb(&code.at, code.end, &n) || n > code.end - code.at)
		return false;
	code.at += n;
	frame->is_odd = !is_usual || !frames_begins(code);
	return frame->n_bytes && frame->n_bytes < 1u << 30;
}

int ktr__plain_frames_read(const struct ktr__object *loaded, struct ktr__plain_frames *frames)
{
	struct frames_object object = { .base = loaded->base };
	const uint8_t *header;
	const ElfW(Ehdr) *file;
	uint32_t n;

	memset(frames, 0, sizeof(*frames));
	if (!dl_iterate_phdr(frames_found, &object) || !object.header ||
	    object.header_end - object.header < FRAMES_HEADER)
		return -ENOEXEC;
	header = (const uint8_t *)object.header;
	n = (uint32_t)frames_number(object.header + 8);
	if (header[0] != 1 || header[1] != FRAMES_PCREL4 || header[2] != FRAMES_UDATA4 ||
	    header[3] != FRAMES_TABLE || !n || n > FRAMES_MAX ||
	    (object.header_end - object.header - FRAMES_HEADER) / 8 < n)
		return -ENOEXEC;
	frames->at = calloc(n, sizeof(*frames->at));
	if (!frames->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uintptr_t row = object.header + FRAMES_HEADER + 8ul * i;
		uintptr_t start = object.header + (uintptr_t)(intptr_t)frames_number(row);
		uintptr_t entry = object.header + (uintptr_t)(intptr_t)frames_number(row + 4);
		const ElfW(Phdr) *text = frames_text(&object, start);
		struct ktr__plain_frame *frame = &frames->at[frames->n];
		uintptr_t begin = text ? object.base + text->p_vaddr : 0;

		if (!text || (frames->begin && frames->begin != begin) ||
		    !frames_frame(&object, entry, start, frame) ||
		    frame->n_bytes > text->p_filesz - (start - begin) ||
		    (frames->n && start < frame[-1].start + frame[-1].n_bytes))
			continue;
		frames->begin = begin;
		frames->end = begin + text->p_filesz;
		frames->n++;
	}
	file = (const void *)object.begin;
	if (loaded->executable && frames_there(&object, object.begin, sizeof(*file)) &&
	    memcmp(file->e_ident, ELFMAG, SELFMAG) == 0)
		frames->entry = object.base + file->e_entry;
	if (frames->n)
		return 0;
	free(frames->at);
	frames->at = NULL;
	return -ENOEXEC;
}
