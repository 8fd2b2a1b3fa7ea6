/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that the kernel feeds into a session: context switches and page faults of the traced threads.
 * The writing side makes their call sites, the reading side knows them again by file and line.
 */
#ifndef KTR_KERNEL_EVENT_H
#define KTR_KERNEL_EVENT_H

#define KTR_KERNEL_FILE "[kernel]"

#define KTR_KERNEL_SWITCH_CLASS "kswitch"
#define KTR_KERNEL_SWITCH_HELP	"context switches, as the kernel tells them"
#define KTR_KERNEL_FAULT_CLASS	"kfault"
#define KTR_KERNEL_FAULT_HELP	"page faults, as the kernel tells them"

/*
 * X(NAME, KTR_KERNEL_* it belongs to, function, text, arguments), in the order of their lines, from 1. They are
 * states and points (ktr/event.h) of rows of group "thread", as FreeBSD's scheduler tells of them: every tool
 * that knows those knows these.
 */
#define KTR_KERNEL_SITES(X)                                                                      \
	X(IN, SWITCH, "switch_in", "running", 2)                                                 \
	X(BLOCKED, SWITCH, "switch_out", "off", 2)                                               \
	X(PREEMPTED, SWITCH, "switch_out", "ready", 2)                                           \
	X(EXIT, SWITCH, "exit", "finished", 2)                                                   \
	X(MINOR, FAULT, "fault", "page fault", 4)                                                \
	X(MAJOR, FAULT, "fault", "major page fault", 4)

#define KTR_KERNEL_GROUP	"thread"
#define KTR_KERNEL_STATE_FORMAT "KTRGRAPH group:\"" KTR_KERNEL_GROUP "\", id:\"%s\", state:\"%s\", attributes: none"
#define KTR_KERNEL_STATE_NAMES	"id,state"
#define KTR_KERNEL_POINT_FORMAT "KTRGRAPH group:\"" KTR_KERNEL_GROUP                        \
	"\", id:\"%s\", point:\"%s\", attributes: address:%p, ip:%p"
#define KTR_KERNEL_POINT_NAMES	"id,point,address,ip"

enum ktr__kernel_site {
	KTR__KERNEL_NONE,
#define KTR__KERNEL_ENUM(name, ...) KTR__KERNEL_##name,
	KTR_KERNEL_SITES(KTR__KERNEL_ENUM)
#undef KTR__KERNEL_ENUM
	KTR__KERNEL_SITES_END
};

#endif
