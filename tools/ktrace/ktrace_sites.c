/* SPDX-License-Identifier: BSD-2-Clause */
/* A site's format is that of a scope (KTRGRAPH): its key is the number of the thread that makes the call. */
#include "tools/ktrace/ktrace_sites.h"

#include "conf/kit/array.h"
#include "tools/bsd/call_text.h"
#include "writer/ktrace/trace.h"

#include <ktr/class.h>
#include <ktr/session.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KTRACE_SITES_FORMAT 640

unsigned ktrace_sites_n_args(const struct ktr__call *call)
{
	return call->n_args < KTR_ARGS_MAX ? call->n_args : KTR_ARGS_MAX - 1;
}

int ktrace_sites_is_address(const struct ktr__call *call, unsigned i)
{
	return (call->record == KTR__STRUCT_ADDR_IN && i == 1) ||
	       (call->record == KTR__STRUCT_ADDR_SENDTO && i == 4);
}

/* Adds an attribute: how it is printed and its name. Its type. */
static uint8_t ktrace_sites_attribute(const struct ktr__call *call, unsigned i, char *format, char *names)
{
	struct ktr__call_arg arg;
	uint8_t type = KTR_ARG_I32;
	const char *conversion = "%d";
	size_t n = strlen(format);

	ktr__call_arg(call, i, &arg);
	if (call->args[i] == 'n') {
		type = KTR_ARG_STR;
		conversion = "\"%s\"";
	} else if (call_text_has_names(call, i) || ktrace_sites_is_address(call, i)) {
		type = KTR_ARG_STR;
		conversion = "%s";
	} else if (arg.kind == '*') {
		type = KTR_ARG_PTR;
		conversion = "%p";
	} else if (arg.kind == '^') {
		type = KTR_ARG_U32;
		conversion = "%u";
	} else if (arg.kind) {
		type = arg.kind == '+' ? KTR_ARG_U64 : KTR_ARG_I64;
		conversion = arg.kind == '+' ? "%ju" : "%jd";
	}
	snprintf(format + n, KTRACE_SITES_FORMAT - n, "%s%s:%s",
		 format[n - 1] == ' ' && format[n - 2] == ':' ? "" : ", ", arg.name, conversion);
	n = strlen(names);
	snprintf(names + n, KTRACE_SITES_FORMAT - n, ",%s", arg.name);
	return type;
}

static uint32_t ktrace_sites_make(struct ktrace_sites *sites, const struct ktr__call *call, const char *end,
				  struct ktr__ktrace_site *site, const char *format)
{
	char name[96], whole[KTRACE_SITES_FORMAT + 8];

	snprintf(name, sizeof(name), "syscall::%s:%s", call->name, end);
	snprintf(whole, sizeof(whole), "%s%s", format, site->n_args == 1 ? "none" : "");
	site->mask = sites->mask;
	site->class_name = "syscall";
	site->name = name;
	site->func = call->name;
	site->format = whole;
	site->type[0] = KTR_ARG_U64;
	return ktr__ktrace_trace_site(sites->out, site);
}

static uint32_t ktrace_sites_make_entry(struct ktrace_sites *sites, const struct ktr__call *call)
{
	char format[KTRACE_SITES_FORMAT], names[KTRACE_SITES_FORMAT] = "key";
	struct ktr__ktrace_site site = { .names = names, .n_args = 1 };

	snprintf(format, sizeof(format),
		 "KTRGRAPH group:\"scope\", id:\"%s\", start:0x%%jX, attributes: ", call->name);
	for (unsigned i = 0; i < ktrace_sites_n_args(call); i++)
		site.type[site.n_args++] = ktrace_sites_attribute(call, i, format, names);
	return ktrace_sites_make(sites, call, "entry", &site, format);
}

static uint32_t ktrace_sites_make_return(struct ktrace_sites *sites, const struct ktr__call *call, unsigned variant)
{
	char format[KTRACE_SITES_FORMAT], names[KTRACE_SITES_FORMAT] = "key,result";
	struct ktr__ktrace_site site = { .names = names, .n_args = 2 };
	int is_address = !(variant & KTRACE_SITES_ERROR) && call_text_gives_address(call);
	size_t n;

	snprintf(format, sizeof(format),
		 "KTRGRAPH group:\"scope\", id:\"%s\", stop:0x%%jX, attributes: result:%s", call->name,
		 is_address ? "%p" : "%jd");
	site.type[1] = is_address ? KTR_ARG_PTR : KTR_ARG_I64;
	for (unsigned bit = KTRACE_SITES_ERROR; bit < KTRACE_SITES_RETURNS; bit <<= 1) {
		if (!(variant & bit))
			continue;
		n = strlen(format);
		snprintf(format + n, sizeof(format) - n,
			 "%s", bit == KTRACE_SITES_ERROR ? ", error:%s" : ", on:\"%s\"");
		n = strlen(names);
		snprintf(names + n, sizeof(names) - n, "%s", bit == KTRACE_SITES_ERROR ? ",error" : ",on");
		site.type[site.n_args++] = KTR_ARG_STR;
	}
	if (call->n_args == KTR_ARGS_MAX)
		site.type[site.n_args++] = ktrace_sites_attribute(call, KTR_ARGS_MAX - 1, format, names);
	return ktrace_sites_make(sites, call, "return", &site, format);
}

/* Calls that have no name, of 32-bit programs and of kernels that are newer than the table. */
static int ktrace_sites_numbers(struct ktrace_sites *sites)
{
	struct ktr__ktrace_site site = {
		.mask = sites->mask,
		.class_name = "syscall",
		.name = "syscall::number:entry",
		.func = "number",
		.format =
			"KTRGRAPH group:\"scope\", id:\"call\", start:0x%jX, attributes: number:%ju, is_32bit:%d, arg0:%p, arg1:%p",
		.names = "key,number,is_32bit,arg0,arg1",
		.n_args = 5,
		.type = { KTR_ARG_U64, KTR_ARG_U64, KTR_ARG_I32, KTR_ARG_PTR, KTR_ARG_PTR },
	};

	sites->number_entry = ktr__ktrace_trace_site(sites->out, &site);
	site.name = "syscall::number:return";
	site.format = "KTRGRAPH group:\"scope\", id:\"call\", stop:0x%jX, attributes: result:%jd, number:%ju";
	site.names = "key,result,number";
	site.n_args = 3;
	site.type[1] = KTR_ARG_I64;
	site.type[2] = KTR_ARG_U64;
	sites->number_return = ktr__ktrace_trace_site(sites->out, &site);
	return sites->number_entry && sites->number_return ? 0 : -ENOMEM;
}

static int ktrace_sites_others(struct ktrace_sites *sites)
{
	struct ktr__ktrace_site site = {
		.mask = sites->data_mask,
		.class_name = "sysdata",
		.name = "syscall::data",
		.func = "data",
		.format = "%s %d \"%s\" %ju bytes: %s",
		.names = "what,fd,on,bytes,data",
		.n_args = 5,
		.type = { KTR_ARG_STR, KTR_ARG_I32, KTR_ARG_STR, KTR_ARG_U64, KTR_ARG_STR },
	};

	sites->data = ktr__ktrace_trace_site(sites->out, &site);
	site = (struct ktr__ktrace_site){
		.mask = KTR_SIG,
		.class_name = "sig",
		.name = "syscall::signal",
		.func = "signal",
		.format = "signal %s, code %d, handler %p",
		.names = "signal,code,handler",
		.n_args = 3,
		.type = { KTR_ARG_STR, KTR_ARG_I32, KTR_ARG_PTR },
	};
	sites->signal = ktr__ktrace_trace_site(sites->out, &site);
	site = (struct ktr__ktrace_site){
		.mask = KTR_PROC,
		.class_name = "proc",
		.name = "syscall::program",
		.func = "program",
		.format = "program %s%s",
		.names = "program,bits",
		.n_args = 2,
		.type = { KTR_ARG_STR, KTR_ARG_STR },
	};
	sites->program = ktr__ktrace_trace_site(sites->out, &site);
	site = (struct ktr__ktrace_site){
		.mask = sites->data_mask,
		.class_name = "sysdata",
		.name = "syscall::utrace",
		.func = "utrace",
		.format = "utrace %ju bytes: %s",
		.names = "bytes,data",
		.n_args = 2,
		.type = { KTR_ARG_U64, KTR_ARG_STR },
	};
	sites->user = ktr__ktrace_trace_site(sites->out, &site);
	return sites->data && sites->signal && sites->program && sites->user ? ktrace_sites_numbers(sites)
									     : -ENOMEM;
}

/* The site of a row of a table of them, made when it is first needed. NULL: no memory. */
static uint32_t *ktrace_sites_known(uint32_t **table, uint32_t *room, size_t at)
{
	return ktr__array_grow(table, room, (uint32_t)at, sizeof(**table)) ? NULL : &(*table)[at];
}

uint32_t ktrace_sites_entry(struct ktrace_sites *sites, const struct ktr__call *call)
{
	uint32_t *site = ktrace_sites_known(&sites->entry, &sites->n_entries, (size_t)(call - ktr__call_row(0)));

	if (!site)
		return 0;
	if (!*site)
		*site = ktrace_sites_make_entry(sites, call);
	return *site;
}

uint32_t ktrace_sites_return(struct ktrace_sites *sites, const struct ktr__call *call, unsigned variant)
{
	uint32_t *site = ktrace_sites_known(&sites->returns, &sites->n_returns,
					    (size_t)(call - ktr__call_row(0)) * KTRACE_SITES_RETURNS + variant);

	if (!site)
		return 0;
	if (!*site)
		*site = ktrace_sites_make_return(sites, call, variant);
	return *site;
}

int ktrace_sites_open(struct ktrace_sites *sites, struct ktr__ktrace_trace *out)
{
	sites->out = out;
	sites->mask = ktr__ktrace_trace_class(out, "syscall", "system calls, as a tracer saw them");
	sites->data_mask = ktr__ktrace_trace_class(out, "sysdata", "data that system calls read and wrote");
	return ktrace_sites_others(sites);
}

void ktrace_sites_free(struct ktrace_sites *sites)
{
	free(sites->entry);
	free(sites->returns);
}
