/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of charts; each is a file of its own, plot_NAME.c. */
#ifndef VISUALIZE_PLOTS_H
#define VISUALIZE_PLOTS_H

#include "visualize/chart/plot.h"

extern const struct ktr__plot_kind ktr__plot_rate, ktr__plot_latency, ktr__plot_heatmap, ktr__plot_load,
	ktr__plot_states, ktr__plot_counters, ktr__plot_gaps, ktr__plot_scatter, ktr__plot_compare;

#endif
