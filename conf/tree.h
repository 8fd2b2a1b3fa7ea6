/* SPDX-License-Identifier: BSD-2-Clause */
/* What a tree of knobs tells beyond its public calls. */
#ifndef CONF_TREE_H
#define CONF_TREE_H

#include <ktr/conf.h>

#include <stddef.h>

/* Copies the knob's name nearest to one that is not there. Returns 1 when there is one, else 0. */
int ktr__conf_nearest(const struct ktr_conf *conf, const char *name, char *nearest, size_t size);

#endif
