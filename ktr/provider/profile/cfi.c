/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A function's entry (FDE) is a program that tells, from its first instruction on, where the frame lies; what is
 * common to many stands in another (CIE). Both are run here, for all functions that .eh_frame_hdr lists, in its
 * order, which is that of addresses. Rows that say what the one before says are left out.
 *
 * Bytes are taken as they come, and bounded by the segment that they lie in: what makes no sense ends the
 * function's rows, and its frames are not known.
 */
#include "ktr/provider/profile/cfi.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#define CFI_REG_RBP    6
#define CFI_REG_RSP    7
#define CFI_REG_RA     16
#define CFI_STATES     8 /* that are remembered within each other; compilers use one */

/* DW_EH_PE_*: how an address is written (LSB, DWARF extensions). */
#define CFI_PE_OMIT    0xff
#define CFI_PE_PCREL   0x10
#define CFI_PE_DATAREL 0x30
#define CFI_PE_TABLE   (CFI_PE_DATAREL | 0x0b) /* sdata4: the one form of table that linkers write */

struct cfi_bytes {
	const uint8_t *at, *end;
	bool bad; /* it ended too early */
};

/* What holds at an instruction. */
struct cfi_state {
	struct ktr__cfi_row row; /* all but its address */
	bool ra_unknown;         /* where the return address is: not below the CFA; or where rbp is */
	bool ends;               /* there is no return address */
};

struct cfi_common {
	const uint8_t *from; /* NULL: none was read yet */
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer; /* how addresses are written */
	bool has_data, is_signal;
	struct cfi_state first;
};

struct cfi_make {
	struct ktr__cfi *cfi;
	size_t max_bytes;
	uint64_t base;
	const uint8_t *low, *high; /* the segment with .eh_frame */
	struct cfi_common common;
	uint64_t ended; /* where the last function did */
	int code;
};

/* ---- bytes ---- */

static uint64_t cfi_take(struct cfi_bytes *b, unsigned n)
{
	uint64_t value = 0;

	if ((size_t)(b->end - b->at) < n) {
		b->bad = true;
		b->at = b->end;
		return 0;
	}
	memcpy(&value, b->at, n);
	b->at += n;
	return value;
}

static uint64_t cfi_uleb(struct cfi_bytes *b)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = cfi_take(b, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static int64_t cfi_sleb(struct cfi_bytes *b)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = cfi_take(b, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= ~0ull << shift;
	return (int64_t)value;
}

/* An address: the forms that are used on x86-64, without the bit of indirect ones. */
static uint64_t cfi_pointer(struct cfi_bytes *b, uint8_t form)
{
	uint64_t from = (uintptr_t)b->at, value;

	switch (form & 0x0f) {
	case 0x00: /* absptr */
	case 0x04: /* udata8 */
	case 0x0c: /* sdata8 */
		value = cfi_take(b, 8);
		break;
	case 0x01:
		value = cfi_uleb(b);
		break;
	case 0x09:
		value = (uint64_t)cfi_sleb(b);
		break;
	case 0x02:
		value = cfi_take(b, 2);
		break;
	case 0x0a:
		value = (uint64_t)(int16_t)cfi_take(b, 2);
		break;
	case 0x03:
		value = cfi_take(b, 4);
		break;
	case 0x0b:
		value = (uint64_t)(int32_t)cfi_take(b, 4);
		break;
	default:
		b->bad = true;
		return 0;
	}
	if ((form & 0x70) == CFI_PE_PCREL)
		return value + from;
	if (form & 0x70)
		b->bad = true;
	return value;
}

/* ---- rows ---- */

static bool cfi_room(struct cfi_make *make)
{
	struct ktr__cfi *cfi = make->cfi;
	size_t bytes = cfi->room_bytes ? 2 * cfi->room_bytes : 64u << 10;
	void *more;

	if ((cfi->n + 1) * sizeof(*cfi->row) <= cfi->room_bytes)
		return true;
	if (bytes > make->max_bytes) {
		make->code = -EFBIG;
		return false;
	}
	more = cfi->row ? mremap(cfi->row, cfi->room_bytes, bytes, MREMAP_MAYMOVE)
			: mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (more == MAP_FAILED) {
		make->code = -ENOMEM;
		return false;
	}
	cfi->row = more;
	cfi->room_bytes = bytes;
	return true;
}

static bool cfi_row_same(const struct ktr__cfi_row *a, const struct ktr__cfi_row *b)
{
	return a->cfa == b->cfa && a->rbp == b->rbp && a->kind == b->kind && a->extra == b->extra;
}

/* From that address on. */
static void cfi_row_add(struct cfi_make *make, uint64_t at, const struct cfi_state *state)
{
	static const struct ktr__cfi_row none = { .kind = KTR__CFI_NONE };
	struct ktr__cfi *cfi = make->cfi;
	struct ktr__cfi_row row = state && !state->ra_unknown ? state->row : none;

	if (make->code || at < make->base || at - make->base > UINT32_MAX)
		return;
	if (state && state->ends)
		row = (struct ktr__cfi_row){ .kind = KTR__CFI_END };
	row.at = (uint32_t)(at - make->base);
	/* Another one at the same address takes its place. */
	while (cfi->n && cfi->row[cfi->n - 1].at >= row.at)
		cfi->n--;
	if ((cfi->n && cfi_row_same(&cfi->row[cfi->n - 1], &row)) || !cfi_room(make))
		return;
	cfi->row[cfi->n++] = row;
}

/* ---- expressions ---- */

/*
 * Those that are met with: of linkers for a PLT, rsp + 8 + ((rip & 15) >= n) << 3; of compilers and in assembly,
 * *(rbp + n) and *(rsp + n), with something added to it.
 */
static void cfi_expression(struct cfi_state *state, const uint8_t *at, size_t n)
{
	static const uint8_t plt[] = { 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0, 0x2a, 0x33, 0x24, 0x22 };
	struct cfi_bytes b = { at, at + n, false };
	uint8_t reg;
	int64_t offset, extra = 0;

	state->row.kind = KTR__CFI_NONE;
	if (n == sizeof(plt) && memcmp(at, plt, 6) == 0 && memcmp(at + 7, plt + 7, 4) == 0 && at[6] >= 0x30 &&
	    at[6] <= 0x3f) {
		state->row.kind = KTR__CFI_PLT;
		state->row.extra = (int8_t)(at[6] - 0x30);
		return;
	}
	reg = (uint8_t)cfi_take(&b, 1); /* DW_OP_breg0 and on */
	offset = cfi_sleb(&b);
	if (cfi_take(&b, 1) != 0x06) /* DW_OP_deref */
		return;
	if (b.at != b.end) {
		if (cfi_take(&b, 1) != 0x23) /* DW_OP_plus_uconst */
			return;
		extra = (int64_t)cfi_uleb(&b);
	}
	if (b.bad || b.at != b.end || offset != (int32_t)offset || extra < 0 || extra > INT8_MAX)
		return;
	if (reg != 0x70 + CFI_REG_RBP && reg != 0x70 + CFI_REG_RSP)
		return;
	state->row.kind = reg == 0x70 + CFI_REG_RBP ? KTR__CFI_AT_RBP : KTR__CFI_AT_RSP;
	state->row.cfa = (int32_t)offset;
	state->row.extra = (int8_t)extra;
}

/* ---- programs ---- */

static void cfi_define(struct cfi_state *state, uint64_t reg, int64_t offset)
{
	bool known = (reg == CFI_REG_RSP || reg == CFI_REG_RBP) && offset == (int32_t)offset;

	state->row.kind = !known ? KTR__CFI_NONE : reg == CFI_REG_RSP ? KTR__CFI_RSP : KTR__CFI_RBP;
	state->row.cfa = known ? (int32_t)offset : 0;
	state->row.extra = 0;
}

/* The same register as before, another offset. */
static void cfi_define_offset(struct cfi_state *state, int64_t offset)
{
	if (state->row.kind != KTR__CFI_RSP && state->row.kind != KTR__CFI_RBP)
		return;
	cfi_define(state, state->row.kind == KTR__CFI_RSP ? CFI_REG_RSP : CFI_REG_RBP, offset);
}

static void cfi_saved(struct cfi_state *state, uint64_t reg, int64_t offset)
{
	if (reg == CFI_REG_RBP && offset == (int16_t)offset && offset % 8 == 0)
		state->row.rbp = (int16_t)offset;
	else if (reg == CFI_REG_RBP)
		state->ra_unknown = true;
	if (reg == CFI_REG_RA)
		state->ra_unknown = offset != -8;
}

static void cfi_saved_by(struct cfi_state *state, uint64_t reg, const uint8_t *at, size_t n)
{
	if (reg == CFI_REG_RBP && n == 2 && at[0] == 0x70 + CFI_REG_RBP && at[1] == 0)
		state->row.rbp = KTR__CFI_AT_IT;
	else if (reg == CFI_REG_RBP || reg == CFI_REG_RA)
		state->ra_unknown = true;
}

/* As the common part has it. */
static void cfi_restore(struct cfi_state *state, uint64_t reg, const struct cfi_state *first)
{
	if (reg == CFI_REG_RBP)
		state->row.rbp = first->row.rbp;
	if (reg == CFI_REG_RA) {
		state->ra_unknown = first->ra_unknown;
		state->ends = first->ends;
	}
}

static void cfi_undefined(struct cfi_state *state, uint64_t reg)
{
	if (reg == CFI_REG_RA)
		state->ends = true;
}

struct cfi_run {
	struct cfi_make *make;
	struct cfi_state state, kept[CFI_STATES];
	unsigned n_kept;
	uint64_t at; /* 0: in the common part, which has no places */
};

static void cfi_advance(struct cfi_run *run, uint64_t n)
{
	if (!run->at)
		return;
	cfi_row_add(run->make, run->at, &run->state);
	run->at += n * run->make->common.code_align;
}

/* Those with a register in the low bits of their first byte. */
static void cfi_step_short(struct cfi_run *run, struct cfi_bytes *b, uint8_t op)
{
	const struct cfi_common *common = &run->make->common;

	if (op >> 6 == 1)
		cfi_advance(run, op & 0x3f);
	else if (op >> 6 == 2)
		cfi_saved(&run->state, op & 0x3f, (int64_t)cfi_uleb(b) * common->data_align);
	else
		cfi_restore(&run->state, op & 0x3f, &common->first);
}

static void cfi_step_block(struct cfi_run *run, struct cfi_bytes *b, uint8_t op)
{
	uint64_t reg = op == 0x0f ? 0 : cfi_uleb(b), n = cfi_uleb(b);
	const uint8_t *block = b->at;

	if (n > (size_t)(b->end - b->at)) {
		b->bad = true;
		return;
	}
	b->at += n;
	if (op == 0x0f) /* DW_CFA_def_cfa_expression */
		cfi_expression(&run->state, block, n);
	else if (op == 0x10) /* DW_CFA_expression */
		cfi_saved_by(&run->state, reg, block, n);
	else if (reg == CFI_REG_RBP || reg == CFI_REG_RA) /* DW_CFA_val_expression */
		run->state.ra_unknown = true;
}

static void cfi_step_keep(struct cfi_run *run, struct cfi_bytes *b, bool keep)
{
	if (keep && run->n_kept < CFI_STATES)
		run->kept[run->n_kept++] = run->state;
	else if (!keep && run->n_kept)
		run->state = run->kept[--run->n_kept];
	else
		b->bad = true;
}

/* DW_CFA_*; false: what follows cannot be read. */
static void cfi_step(struct cfi_run *run, struct cfi_bytes *b, uint8_t op)
{
	const struct cfi_common *common = &run->make->common;
	uint64_t reg;

	switch (op) {
	case 0x00: /* nop */
		break;
	case 0x01: /* set_loc */
		reg = cfi_pointer(b, common->pointer);
		if (run->at && !b->bad) {
			cfi_row_add(run->make, run->at, &run->state);
			run->at = reg;
		}
		break;
	case 0x02: /* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04:
		cfi_advance(run, cfi_take(b, op == 0x02 ? 1 : op == 0x03 ? 2 : 4));
		break;
	case 0x05: /* offset_extended */
		reg = cfi_uleb(b);
		cfi_saved(&run->state, reg, (int64_t)cfi_uleb(b) * common->data_align);
		break;
	case 0x06: /* restore_extended */
		cfi_restore(&run->state, cfi_uleb(b), &common->first);
		break;
	case 0x07: /* undefined */
		cfi_undefined(&run->state, cfi_uleb(b));
		break;
	case 0x08: /* same_value */
		reg = cfi_uleb(b);
		if (reg == CFI_REG_RBP)
			run->state.row.rbp = KTR__CFI_SAME;
		break;
	case 0x09: /* register */
		reg = cfi_uleb(b);
		cfi_uleb(b);
		if (reg == CFI_REG_RBP || reg == CFI_REG_RA)
			run->state.ra_unknown = true;
		break;
	case 0x0a: /* remember_state */
	case 0x0b: /* restore_state */
		cfi_step_keep(run, b, op == 0x0a);
		break;
	case 0x0c: /* def_cfa */
		reg = cfi_uleb(b);
		cfi_define(&run->state, reg, (int64_t)cfi_uleb(b));
		break;
	case 0x0d: /* def_cfa_register */
		cfi_define(&run->state, cfi_uleb(b), run->state.row.cfa);
		break;
	case 0x0e: /* def_cfa_offset */
		cfi_define_offset(&run->state, (int64_t)cfi_uleb(b));
		break;
	case 0x0f: /* def_cfa_expression, expression, val_expression */
	case 0x10:
	case 0x16:
		cfi_step_block(run, b, op);
		break;
	case 0x11: /* offset_extended_sf */
		reg = cfi_uleb(b);
		cfi_saved(&run->state, reg, cfi_sleb(b) * common->data_align);
		break;
	case 0x12: /* def_cfa_sf */
		reg = cfi_uleb(b);
		cfi_define(&run->state, reg, cfi_sleb(b) * common->data_align);
		break;
	case 0x13: /* def_cfa_offset_sf */
		cfi_define_offset(&run->state, cfi_sleb(b) * common->data_align);
		break;
	case 0x2e: /* GNU_args_size */
		cfi_uleb(b);
		break;
	default:
		b->bad = true;
	}
}

/* False: it was left where it was not understood. */
static bool cfi_run(struct cfi_run *run, struct cfi_bytes *b)
{
	while (b->at < b->end && !b->bad) {
		uint8_t op = (uint8_t)cfi_take(b, 1);

		if (op >> 6)
			cfi_step_short(run, b, op);
		else
			cfi_step(run, b, op);
	}
	return !b->bad;
}

/* ---- entries ---- */

/* The bytes of an entry, after its length. */
static bool cfi_entry(const struct cfi_make *make, const uint8_t *at, struct cfi_bytes *b)
{
	uint64_t n;

	*b = (struct cfi_bytes){ at, make->high, at < make->low || at >= make->high };
	n = cfi_take(b, 4);
	if (n == UINT32_MAX)
		n = cfi_take(b, 8);
	if (b->bad || !n || n > (size_t)(b->end - b->at))
		return false;
	b->end = b->at + n;
	return true;
}

static bool cfi_augmentation(struct cfi_common *common, struct cfi_bytes *b, const char *text)
{
	const uint8_t *end = b->end;

	if (*text != 'z')
		return !*text;
	common->has_data = true;
	if (cfi_uleb(b) > (size_t)(end - b->at))
		return false;
	while (*++text && !b->bad)
		switch (*text) {
		case 'R':
			common->pointer = (uint8_t)cfi_take(b, 1);
			break;
		case 'P': { /* a personality: passed by */
			uint8_t form = (uint8_t)cfi_take(b, 1);

			cfi_pointer(b, form & 0x0f);
			break;
		}
		case 'L':
			cfi_take(b, 1);
			break;
		case 'S':
			common->is_signal = true;
			break;
		default:
			return false;
		}
	return !b->bad;
}

/* What functions have in common; kept as long as they do. */
static bool cfi_common(struct cfi_make *make, const uint8_t *at)
{
	struct cfi_common *common = &make->common;
	struct cfi_run run = { .make = make, .at = 0 };
	struct cfi_bytes b;
	const uint8_t *text, *data, *after;
	uint64_t n_data;

	if (common->from == at)
		return true;
	*common = (struct cfi_common){ .from = NULL };
	if (!cfi_entry(make, at, &b) || cfi_take(&b, 4) != 0 || (cfi_take(&b, 1) | 2) != 3) /* version 1, 3 */
		return false;
	text = b.at;
	while (cfi_take(&b, 1))
		;
	common->code_align = cfi_uleb(&b);
	common->data_align = cfi_sleb(&b);
	if (cfi_uleb(&b) != CFI_REG_RA || b.bad)
		return false;
	data = b.at;
	n_data = *text == 'z' ? cfi_uleb(&b) : 0;
	if (n_data > (size_t)(b.end - b.at))
		return false;
	after = b.at + n_data;
	b.at = data;
	if (!cfi_augmentation(common, &b, (const char *)text))
		return false;
	b.at = after;
	if (!cfi_run(&run, &b))
		return false;
	common->first = run.state;
	common->from = at;
	return true;
}

/* A function's rows. */
static void cfi_function(struct cfi_make *make, const uint8_t *at)
{
	struct cfi_run run = { .make = make };
	struct cfi_bytes b;
	uint64_t begin, size;
	const uint8_t *from;
	uint32_t back;

	if (!cfi_entry(make, at, &b))
		return;
	from = b.at;
	back = (uint32_t)cfi_take(&b, 4);
	if (!back || back > (size_t)(from - make->low) || !cfi_common(make, from - back))
		return;
	begin = cfi_pointer(&b, make->common.pointer);
	size = cfi_pointer(&b, make->common.pointer & 0x0f);
	if (make->common.has_data) {
		uint64_t n = cfi_uleb(&b);

		if (n > (size_t)(b.end - b.at))
			return;
		b.at += n;
	}
	if (b.bad || begin < make->ended)
		return;
	if (make->ended && begin > make->ended)
		cfi_row_add(make, make->ended, NULL);
	make->ended = begin + size;
	run.at = begin;
	run.state = make->common.first;
	if (make->common.is_signal) {
		run.state = (struct cfi_state){ .row = { .kind = KTR__CFI_SIGNAL } };
		cfi_row_add(make, begin, &run.state);
	} else {
		bool is_known = cfi_run(&run, &b); /* which moves run.at */

		cfi_row_add(make, run.at, is_known ? &run.state : NULL);
	}
}

/* ---- objects ---- */

/* The segment that an address lies in. */
static bool cfi_segment(struct cfi_make *make, const struct dl_phdr_info *info, const uint8_t *at)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		const uint8_t *from = (const uint8_t *)(info->dlpi_addr + phdr->p_vaddr);

		if (phdr->p_type != PT_LOAD || !(phdr->p_flags & PF_R) || at < from ||
		    at >= from + phdr->p_filesz)
			continue;
		make->low = from;
		make->high = from + phdr->p_filesz;
		return true;
	}
	return false;
}

int ktr__cfi_make(struct ktr__cfi *cfi, const struct dl_phdr_info *info, size_t max_bytes)
{
	struct cfi_make make = { .cfi = cfi, .max_bytes = max_bytes, .base = info->dlpi_addr };
	struct cfi_bytes b = { NULL, NULL, false };
	const uint8_t *head = NULL;
	uint64_t frames, n;

	memset(cfi, 0, sizeof(*cfi));
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) {
			head = (const uint8_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
			b = (struct cfi_bytes){ head, head + info->dlpi_phdr[i].p_memsz, false };
		}
	/* Version 1; where .eh_frame is, how many entries there are, and how the table is written. */
	if (!head || cfi_take(&b, 1) != 1)
		return -ENOENT;
	frames = cfi_take(&b, 1);
	n = cfi_take(&b, 1);
	if (cfi_take(&b, 1) != CFI_PE_TABLE || n != 0x03 || frames == CFI_PE_OMIT)
		return -ENOENT;
	frames = cfi_pointer(&b, (uint8_t)frames);
	n = cfi_take(&b, 4);
	if (b.bad || n > (size_t)(b.end - b.at) / 8 ||
	    !cfi_segment(&make, info, (const uint8_t *)(uintptr_t)frames)) // NOLINT
		return -ENOENT;
	for (uint64_t i = 0; i < n && !make.code; i++) {
		int32_t entry;

		memcpy(&entry, b.at + 8 * i + 4, sizeof(entry));
		cfi_function(&make, head + entry);
	}
	cfi_row_add(&make, make.ended, NULL);
	if (make.code)
		ktr__cfi_free(cfi);
	else
		ktr__cfi_part(cfi, max_bytes - cfi->room_bytes);
	return make.code;
}
