/* SPDX-License-Identifier: BSD-2-Clause */
/* The event as LTTng-UST has it: lttng/tracepoint-event.h includes this file again and again. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ktr_peer
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "peer_lttng.h"

#if !defined(PEER_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PEER_LTTNG_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(ktr_peer, event,
			   LTTNG_UST_TP_ARGS(int, worker, int, step, unsigned long, value),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, worker, worker)
					       lttng_ust_field_integer(int, step, step)
					       lttng_ust_field_integer(unsigned long, value, value)))

#endif

#include <lttng/tracepoint-event.h>
