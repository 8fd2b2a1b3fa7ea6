/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * By the opcode maps of Intel's manual (volume 2, appendix A), one letter for each opcode. What differs between
 * makers (a near branch with a prefix 66) and what no compiler writes is refused. tests/cli/provider/plain.sh
 * compares this with what objdump(1) says of whole libraries.
 */
#include "ktr/provider/plain/insn.h"

#include <string.h>

/*
 * What follows an opcode: . nothing; m ModRM; b a byte; z four bytes, or two with prefix 66; w two; B ModRM and a
 * byte; Z ModRM and z; v as z, eight with REX.W; o an address of eight; e three; j and J a branch's byte and four;
 * t and T as B and Z if it is a test (F6, F7); p a prefix or another map; x is refused.
 */
static const char insn_one[257] = "mmmmbzxxmmmmbzxp"
				  "mmmmbzxxmmmmbzxx"
				  "mmmmbzpxmmmmbzpx"
				  "mmmmbzpxmmmmbzpx"
				  "pppppppppppppppp"
				  "................"
				  "xxpmppppzZbB...."
				  "jjjjjjjjjjjjjjjj"
				  "BZxBmmmmmmmmmmmm"
				  "..........x....."
				  "oooo....bz......"
				  "bbbbbbbbvvvvvvvv"
				  "BBw.ppBZe.w..bx."
				  "mmmmxxx.mmmmmmmm"
				  "jjjjbbbbJJxj...."
				  "p.pp..tT......mm";

static const char insn_two[257] = "mmmmx.....x.xm.x"
				  "mmmmmmmmmmmmmmmm"
				  "xxxxxxxxmmmmmmmm"
				  "......x.pxpxxxxx"
				  "mmmmmmmmmmmmmmmm"
				  "mmmmmmmmmmmmmmmm"
				  "mmmmmmmmmmmmmmmm"
				  "BBBBmmm.xxxxmmmm"
				  "JJJJJJJJJJJJJJJJ"
				  "mmmmmmmmmmmmmmmm"
				  "...mBmxx...mBmmm"
				  "mmmmmmmmmmBmmmmm"
				  "mmBmBBBm........"
				  "mmmmmmmmmmmmmmmm"
				  "mmmmmmmmmmmmmmmm"
				  "mmmmmmmmmmmmmmmm";

#define INSN_REX_W	  8
#define INSN_MOD(modrm)	  ((modrm) >> 6)
#define INSN_REG(modrm)	  ((modrm) >> 3 & 7)
#define INSN_RM(modrm)	  ((modrm)&7)
#define INSN_RSP	  4

struct insn_bytes {
	const uint8_t *at;
	size_t n;
	size_t next;
	bool short_operand, short_address, is_repeated, is_locked, has_legacy;
};

static bool insn_take(struct insn_bytes *from, uint8_t *byte)
{
	if (from->next >= from->n || from->next >= KTR__INSN_MAX)
		return false;
	*byte = from->at[from->next++];
	return true;
}

/* A number of one or four bytes with its sign, of others its place alone. */
static bool insn_number(struct insn_bytes *from, size_t n, int32_t *value)
{
	if (from->next + n > from->n || from->next + n > KTR__INSN_MAX)
		return false;
	if (n == 1)
		*value = (int8_t)from->at[from->next];
	else if (n >= 4)
		memcpy(value, from->at + from->next, 4);
	from->next += n;
	return true;
}

/* Up to the opcode. */
static bool insn_prefixes(struct insn_bytes *from, struct ktr__insn *insn, uint8_t *opcode)
{
	while (insn_take(from, opcode)) {
		switch (*opcode) {
		case 0x66:
			from->short_operand = true;
			break;
		case 0x67:
			from->short_address = true;
			break;
		case 0xf0:
			from->is_locked = true;
			break;
		case 0xf2:
		case 0xf3:
			from->is_repeated = true;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
			break;
		default:
			if ((*opcode & 0xf0) != 0x40)
				return true;
			insn->rex = *opcode;
			/* It is one if the opcode comes next. */
			if (from->next >= from->n || (insn_one[from->at[from->next]] == 'p' &&
						      from->at[from->next] != 0x0f))
				return false;
		}
	}
	return false;
}

static bool insn_modrm(struct insn_bytes *from, struct ktr__insn *insn)
{
	size_t n_displacement = 0;

	insn->has_modrm = true;
	if (!insn_take(from, &insn->modrm))
		return false;
	if (INSN_MOD(insn->modrm) == 3)
		return true;
	if (INSN_RM(insn->modrm) == 4) {
		insn->has_sib = true;
		if (!insn_take(from, &insn->sib))
			return false;
		if (INSN_MOD(insn->modrm) == 0 && (insn->sib & 7) == 5)
			n_displacement = 4;
	} else if (INSN_MOD(insn->modrm) == 0 && INSN_RM(insn->modrm) == 5) {
		if (from->short_address)
			return false;
		insn->rip_at = (uint8_t)from->next;
		n_displacement = 4;
	}
	if (INSN_MOD(insn->modrm))
		n_displacement = INSN_MOD(insn->modrm) == 1 ? 1 : 4;
	return !n_displacement || insn_number(from, n_displacement, &insn->displacement);
}

/* VEX of two and three bytes, EVEX: then the opcode, ModRM always but for vzeroupper, and a byte more in some. */
static bool insn_vectors(struct insn_bytes *from, struct ktr__insn *insn, uint8_t first)
{
	static const char with_byte[] = "\x70\x71\x72\x73\xc2\xc4\xc5\xc6";
	uint8_t byte[3], map = 1;
	int32_t ignored;
	size_t n = first == 0xc5 ? 1 : first == 0xc4 ? 2 : 3;

	if (from->short_operand || from->is_repeated || from->is_locked || insn->rex)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!insn_take(from, &byte[i]))
			return false;
	if (n > 1)
		map = byte[0] & (n == 2 ? 0x1f : 0x0f);
	if (map < 1 || map > 3 || !insn_take(from, &insn->opcode))
		return false;
	insn->map = 5;
	if (map == 1 && insn->opcode == 0x77)
		return n < 3;
	if (!insn_modrm(from, insn))
		return false;
	return !(map == 3 || (map == 1 && insn->opcode && strchr(with_byte, insn->opcode))) ||
	       insn_number(from, 1, &ignored);
}

static bool insn_operands(struct insn_bytes *from, struct ktr__insn *insn, char kind)
{
	size_t n_z = from->short_operand && !(insn->rex & INSN_REX_W) ? 2 : 4;

	if (strchr("mBZtT", kind) && !insn_modrm(from, insn))
		return false;
	switch (kind) {
	case '.':
	case 'm':
		return true;
	case 'b':
	case 'B':
		return insn_number(from, 1, &insn->value);
	case 'z':
	case 'Z':
		return insn_number(from, n_z, &insn->value);
	case 't':
		return INSN_REG(insn->modrm) > 1 || insn_number(from, 1, &insn->value);
	case 'T':
		return INSN_REG(insn->modrm) > 1 || insn_number(from, n_z, &insn->value);
	case 'v':
		return insn_number(from, insn->rex & INSN_REX_W ? 8 : n_z, &insn->value);
	case 'w':
		return insn_number(from, 2, &insn->value);
	case 'e':
		return insn_number(from, 3, &insn->value);
	case 'o':
		return !from->short_address && insn_number(from, 8, &insn->value);
	case 'j':
		return insn_number(from, 1, &insn->rel);
	case 'J':
		return n_z == 4 && insn_number(from, 4, &insn->rel);
	default:
		return false;
	}
}

static uint8_t insn_flow_two(const struct ktr__insn *insn)
{
	switch (insn->opcode) {
	case 0x05:
	case 0x07:
	case 0x34:
	case 0x35:
		return KTR__INSN_SYSTEM;
	case 0x0b:
	case 0xb9:
	case 0xff:
		return KTR__INSN_STOP;
	default:
		return (insn->opcode & 0xf0) == 0x80 ? KTR__INSN_BRANCH : KTR__INSN_NEXT;
	}
}

static uint8_t insn_flow_one(const struct ktr__insn *insn)
{
	switch (insn->opcode) {
	case 0xe8:
		return KTR__INSN_CALL;
	case 0xe9:
	case 0xeb:
		return KTR__INSN_JUMP;
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return KTR__INSN_BRANCH;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
		return KTR__INSN_RETURN;
	case 0xcc:
	case 0xf1:
	case 0xf4:
		return KTR__INSN_STOP;
	case 0xcd:
		return KTR__INSN_SYSTEM;
	case 0xff:
		return INSN_REG(insn->modrm) == 2 || INSN_REG(insn->modrm) == 3	  ? KTR__INSN_CALL_AT :
		       INSN_REG(insn->modrm) == 4 || INSN_REG(insn->modrm) == 5 ? KTR__INSN_JUMP_AT :
										    KTR__INSN_NEXT;
	default:
		return (insn->opcode & 0xf0) == 0x70 ? KTR__INSN_BRANCH : KTR__INSN_NEXT;
	}
}

/* Transactions (xbegin, xabort) have a branch within; 8f is XOP but for pop; of fe and ff some are none. */
static bool insn_is_odd(const struct ktr__insn *insn)
{
	if (insn->map != 1)
		return false;
	if (insn->opcode == 0xc6 || insn->opcode == 0xc7 || insn->opcode == 0x8f)
		return INSN_REG(insn->modrm) != 0;
	if (insn->opcode == 0xfe)
		return INSN_REG(insn->modrm) > 1;
	return insn->opcode == 0xff && INSN_REG(insn->modrm) == 7;
}

bool ktr__insn_read(const uint8_t *at, size_t n, struct ktr__insn *insn)
{
	struct insn_bytes from = { .at = at, .n = n };
	uint8_t opcode = 0;
	char kind;

	memset(insn, 0, sizeof(*insn));
	if (!insn_prefixes(&from, insn, &opcode))
		return false;
	insn->is_short = from.short_operand;
	insn->map = 1;
	if (opcode == 0xc4 || opcode == 0xc5 || opcode == 0x62) {
		if (!insn_vectors(&from, insn, opcode))
			return false;
		insn->n_bytes = (uint8_t)from.next;
		return true;
	}
	kind = insn_one[opcode];
	if (opcode == 0x0f) {
		insn->map = 2;
		if (!insn_take(&from, &opcode))
			return false;
		kind = insn_two[opcode];
		if (kind == 'p') {
			insn->map = opcode == 0x38 ? 3 : 4;
			kind = insn->map == 3 ? 'm' : 'B';
			if (!insn_take(&from, &opcode))
				return false;
		}
	}
	insn->opcode = opcode;
	if (!insn_operands(&from, insn, kind) || insn_is_odd(insn))
		return false;
	insn->flow = insn->map == 1 ? insn_flow_one(insn) : insn->map == 2 ? insn_flow_two(insn) : KTR__INSN_NEXT;
	insn->n_bytes = (uint8_t)from.next;
	return true;
}

/* ---- at another place ---- */

/* May the stack pointer be what it writes? Where it is read alone this may say so, too. */
static bool insn_names_rsp(const struct ktr__insn *insn)
{
	bool reg = INSN_REG(insn->modrm) == INSN_RSP && !(insn->rex & 4);
	bool rm = INSN_MOD(insn->modrm) == 3 && INSN_RM(insn->modrm) == INSN_RSP && !(insn->rex & 1);

	if (!insn->has_modrm || insn->map > 2)
		return false;
	if (insn->map == 2) /* moves, and what counts bits: the others have vectors there, or nothing */
		return (reg || rm) && ((insn->opcode & 0xf0) == 0x40 || (insn->opcode & 0xe0) == 0xa0 ||
				       (insn->opcode & 0xfe) == 0xc0 || (insn->opcode & 0xfe) == 0x02);
	if (insn->opcode && strchr("\x80\x81\x83\xc1\xc6\xc7\xd1\xd3\xf7\xfe\xff", insn->opcode))
		return rm; /* reg is part of the opcode */
	return reg || rm;
}

/* sub $N, %rsp; lea -N(%rsp), %rsp: what a function makes room with. */
static bool insn_makes_room(const struct ktr__insn *insn, uint32_t *n)
{
	bool is_sub = insn->rex == 0x48 && insn->modrm == 0xec && (insn->opcode == 0x81 || insn->opcode == 0x83);
	bool is_lea = insn->rex == 0x48 && insn->opcode == 0x8d && INSN_REG(insn->modrm) == INSN_RSP &&
		      insn->has_sib && insn->sib == 0x24;

	if (insn->map != 1 || insn->is_short || (!is_sub && !is_lea))
		return false;
	*n = is_sub ? (uint32_t)insn->value : 0u - (uint32_t)insn->displacement;
	return true;
}

bool ktr__insn_moves(const struct ktr__insn *insn, uint32_t *pushes)
{
	*pushes = 0;
	if (insn->flow != KTR__INSN_NEXT || insn->map == 0)
		return false;
	if (insn_makes_room(insn, pushes))
		return true;
	if (insn->map == 1 && ((insn->opcode >= 0x50 && insn->opcode <= 0x57) || insn->opcode == 0x68 ||
			       insn->opcode == 0x6a ||
			       (insn->opcode == 0xff && INSN_REG(insn->modrm) == 6))) { /* push */
		*pushes = 8;
		return !insn->is_short;
	}
	/* pop, enter, leave, popf, pushf; registers of segments, ports, and what the kernel alone may do */
	if (insn->map == 1 && ((insn->opcode >= 0x58 && insn->opcode <= 0x5f) || insn->opcode == 0x8f ||
			       insn->opcode == 0xc8 || insn->opcode == 0xc9 || insn->opcode == 0x9c ||
			       insn->opcode == 0x9d || insn->opcode == 0x8c || insn->opcode == 0x8e ||
			       (insn->opcode >= 0xe4 && insn->opcode <= 0xef) ||
			       (insn->opcode >= 0x6c && insn->opcode <= 0x6f)))
		return false;
	if (insn->map == 2 && (insn->opcode < 0x10 || (insn->opcode >= 0x30 && insn->opcode < 0x38) ||
			       (insn->opcode & 0xf6) == 0xa0 || insn->opcode == 0xaa))
		return insn->opcode == 0x31 || insn->opcode == 0x0d;
	/* mov %rsp, REGISTER writes the other one. */
	if (insn->map == 1 && insn->opcode == 0x89 && INSN_REG(insn->modrm) == INSN_RSP &&
	    !(INSN_MOD(insn->modrm) == 3 && INSN_RM(insn->modrm) == INSN_RSP && !(insn->rex & 1)))
		return true;
	/* So do those that take it as a number of a vector's, or xchg with rax. */
	if (insn->map == 1 && insn->opcode == 0x94 && !(insn->rex & 1))
		return false;
	if (insn->map == 1 && (insn->opcode == 0xbc || insn->opcode == 0xb4) && !(insn->rex & 1))
		return false;
	return !insn_names_rsp(insn);
}

bool ktr__insn_asks(const struct ktr__insn *insn, uint32_t depth, bool by_rbp)
{
	bool has_memory = insn->has_modrm && INSN_MOD(insn->modrm) != 3;

	if (insn->map == 1 && ((insn->opcode >= 0x58 && insn->opcode <= 0x5f) || insn->opcode == 0x8f))
		return !depth;
	if (!has_memory || (insn->map == 1 && (insn->opcode == 0x8d || insn->opcode == 0x89)))
		return false;
	if (by_rbp && INSN_MOD(insn->modrm) && INSN_RM(insn->modrm) == 5 && !(insn->rex & 1))
		return insn->displacement == 8;
	return insn->has_sib && insn->sib == 0x24 && (uint32_t)insn->displacement == depth;
}

bool ktr__insn_frames(const struct ktr__insn *insn)
{
	return insn->map == 1 && insn->rex == 0x48 && ((insn->opcode == 0x89 && insn->modrm == 0xe5) ||
						       (insn->opcode == 0x8b && insn->modrm == 0xec));
}

uint32_t ktr__insn_pops(const struct ktr__insn *insn)
{
	if (insn->map != 1)
		return 0;
	if (insn->opcode >= 0x58 && insn->opcode <= 0x5f)
		return 8;
	return insn->rex == 0x48 && insn->modrm == 0xc4 && (insn->opcode == 0x81 || insn->opcode == 0x83) ?
		       (uint32_t)insn->value :
		       0;
}

bool ktr__insn_is_filling(const struct ktr__insn *insn)
{
	if (insn->map == 2)
		return insn->opcode == 0x1f && !insn->rip_at;
	return insn->map == 1 && ((insn->opcode == 0x90 && !(insn->rex & 1)) || insn->opcode == 0xcc);
}

bool ktr__insn_is_endbr(const uint8_t *at)
{
	return memcmp(at, "\xf3\x0f\x1e\xfa", 4) == 0;
}
