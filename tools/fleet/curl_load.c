/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/fleet/curl_load.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define CURL_LOAD_LIBRARY "libcurl.so.4"

struct curl_load curl_load;

#if KTR_HAVE_CURL
static const struct {
	const char *name;
	size_t at; /* in struct curl_load */
} curl_load_names[] = {
#define CURL_LOAD_NAME(name) { "curl_" #name, offsetof(struct curl_load, name) }
	CURL_LOAD_NAME(easy_init),     CURL_LOAD_NAME(easy_reset),    CURL_LOAD_NAME(easy_setopt),
	CURL_LOAD_NAME(easy_perform),  CURL_LOAD_NAME(easy_getinfo),  CURL_LOAD_NAME(easy_strerror),
	CURL_LOAD_NAME(easy_cleanup),  CURL_LOAD_NAME(slist_append),  CURL_LOAD_NAME(slist_free_all),
	CURL_LOAD_NAME(global_init),
};

int curl_load_library(struct ktr_error *err)
{
	void *library;

	if (curl_load.easy_init)
		return 0;
	library = dlopen(CURL_LOAD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return ktr_error_set(err, ENOSYS, "libcurl is needed, and is not there (Debian: libcurl4)");
	for (unsigned i = 0; i < sizeof(curl_load_names) / sizeof(*curl_load_names); i++) {
		void *function = dlsym(library, curl_load_names[i].name);

		if (!function)
			return ktr_error_set(err, ENOSYS, CURL_LOAD_LIBRARY " has no %s", curl_load_names[i].name);
		memcpy((char *)&curl_load + curl_load_names[i].at, &function, sizeof(function));
	}
	if (curl_load.global_init(CURL_GLOBAL_DEFAULT))
		return ktr_error_set(err, ENOSYS, CURL_LOAD_LIBRARY " cannot be used");
	return 0;
}

int curl_load_is_final(int error)
{
	return error == CURLE_PEER_FAILED_VERIFICATION || error == CURLE_SSL_CACERT_BADFILE ||
	       error == CURLE_SSL_CERTPROBLEM || error == CURLE_URL_MALFORMAT ||
	       error == CURLE_UNSUPPORTED_PROTOCOL || error == CURLE_WEIRD_SERVER_REPLY;
}
#else
int curl_load_library(struct ktr_error *err)
{
	return ktr_error_set(err, ENOSYS, "this ktr was built without libcurl (Debian: libcurl4-openssl-dev)");
}

int curl_load_is_final(int error)
{
	return error != 0;
}
#endif
