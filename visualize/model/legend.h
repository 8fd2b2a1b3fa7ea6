/* SPDX-License-Identifier: BSD-2-Clause */
/* Colours and letters for what a view shows. */
#ifndef VISUALIZE_LEGEND_H
#define VISUALIZE_LEGEND_H

#include "visualize/model/view.h"

#define KTR__LEGENDS 64u /* groups with colours of their own; later ones are grey */

/* Fills view->legend and the lines' legend. 0 or -ENOMEM. */
int ktr__legend_make(struct ktr__view *view);

#endif
