/* SPDX-License-Identifier: BSD-2-Clause */
/* What ktr_profil(3) and monstartup's names have in common. */
#ifndef KTR_PROFIL_PROFIL_H
#define KTR_PROFIL_PROFIL_H

#include "ktr/provider/profil/histogram.h"

/* From now on ticks of all threads are counted in a histogram; NULL: none are. 0 or -errno, and then none are. */
int ktr__profil_switch(const struct ktr__histogram *histogram);

#endif
