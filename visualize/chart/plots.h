/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of charts; each is a file of its own, plot_NAME.c. */
#ifndef VISUALIZE_PLOTS_H
#define VISUALIZE_PLOTS_H

#include "visualize/chart/plot.h"

extern const struct ktr__plot_kind ktr__plot_rate;
extern const struct ktr__plot_kind ktr__plot_latency;
extern const struct ktr__plot_kind ktr__plot_heatmap;
extern const struct ktr__plot_kind ktr__plot_load;
extern const struct ktr__plot_kind ktr__plot_states;
extern const struct ktr__plot_kind ktr__plot_counters;
extern const struct ktr__plot_kind ktr__plot_gaps;
extern const struct ktr__plot_kind ktr__plot_scatter;
extern const struct ktr__plot_kind ktr__plot_compare;

#endif
