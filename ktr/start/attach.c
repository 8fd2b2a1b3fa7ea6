/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modules (executables and shared objects) attach when they are loaded and detach when they go. The first that
 * attaches starts the library.
 *
 * The list of modules is changed under the lock of ktr__sites_lock(), and walked by whoever holds it: by those
 * who change it, and by the child of a fork, for which the lock was taken before there was a child. Nobody
 * reads it without, so a module that goes waits for no thread of the host, whatever that one is in.
 */
#include "ktr/start/attach.h"

#include "ktr/knob/settings.h"
#include "ktr/record/own.h"
#include "ktr/record/site.h"
#include "ktr/start/start.h"

#include <errno.h>

#define ATTACH_TEXT(number)  ATTACH_TEXT_(number)
#define ATTACH_TEXT_(number) #number
#define ATTACH_ABI	     ATTACH_TEXT(KTR_ABI) "." ATTACH_TEXT(KTR__SITE_BYTES)

bool ktr__attach_refused;
static struct ktr_module *attach_modules;

__attribute__((visibility("default"))) void ktr__class_attach(struct ktr_class *cls)
{
	ktr__start_once();
	if (!ktr__own.map || ktr__own.sealed || __atomic_load_n(&cls->mask, __ATOMIC_RELAXED))
		return;
	ktr__sites_lock();
	ktr__class_bind(cls);
	ktr__settings_retry(false);
	ktr__sites_unlock();
}

static void attach_sites(struct ktr_module *module)
{
	bool executable;

	if (!ktr__sites_register(module, &executable))
		return;
	ktr__settings_retry(executable);
	__atomic_store_n(&module->gate, &ktr__own.control->gate, __ATOMIC_RELEASE);
}

__attribute__((visibility("default"))) void ktr__module_attach(struct ktr_module *module)
{
	ktr__start_once();
	if (module->abi != KTR_ABI || module->site_bytes != KTR__SITE_BYTES) {
		if (!module->attached && ktr__own_asked)
			ktr__complain("a module was built for ABI %u.%u of ktr, the library has " ATTACH_ABI ": not traced",
				      module->abi, module->site_bytes);
		module->attached = 1;
		ktr__attach_refused = true;
		return;
	}
	ktr__sites_lock();
	if (!module->attached) {
		module->attached = 1;
		module->next = attach_modules;
		attach_modules = module;
		if (ktr__own.map && !ktr__own.sealed)
			attach_sites(module);
	}
	ktr__sites_unlock();
}

__attribute__((visibility("default"))) void ktr__module_detach(struct ktr_module *module)
{
	ktr__sites_lock();
	for (struct ktr_module **at = &attach_modules; *at; at = &(*at)->next)
		if (*at == module) {
			*at = module->next;
			break;
		}
	ktr__sites_unlock();
}

void ktr__attach_gate(const uint64_t *gate)
{
	for (struct ktr_module *module = attach_modules; module; module = module->next)
		__atomic_store_n(&module->gate, gate, __ATOMIC_RELEASE);
}

__attribute__((visibility("default"))) int ktr__site_make(struct ktr_site *site)
{
	ktr__start_once();
	if (!ktr__own.map || ktr__own.sealed)
		return -ENXIO;
	ktr__sites_lock();
	ktr__site_register(site);
	ktr__sites_unlock();
	return site->id ? 0 : -ENOSPC;
}
