/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libcurl, loaded when it is needed: it brings some thirty libraries, which `ktr dump` is not to wait for. Its
 * numbers are those of <curl/curl.h>, which the build asks for; where it had none, loading says so.
 */
#ifndef FLEET_CURL_LOAD_H
#define FLEET_CURL_LOAD_H

#include <ktr/error.h>

#if KTR_HAVE_CURL
#include <curl/curl.h>
#define CURL_LOAD_OF(number, name) CURL_LOAD_##number = name
#else
#define CURL_LOAD_OF(number, name) CURL_LOAD_##number
#endif

enum curl_load_option {
	CURL_LOAD_OF(URL, CURLOPT_URL),
	CURL_LOAD_PROTOCOLS = 181, /* CURLOPT_PROTOCOLS, of which newer headers warn,
		and older ones have no other */
	CURL_LOAD_OF(NOSIGNAL, CURLOPT_NOSIGNAL),
	CURL_LOAD_OF(HTTPHEADER, CURLOPT_HTTPHEADER),
	CURL_LOAD_OF(CONNECTTIMEOUT, CURLOPT_CONNECTTIMEOUT),
	CURL_LOAD_OF(FRESH_CONNECT, CURLOPT_FRESH_CONNECT),
	CURL_LOAD_OF(LOW_SPEED_LIMIT, CURLOPT_LOW_SPEED_LIMIT),
	CURL_LOAD_OF(LOW_SPEED_TIME, CURLOPT_LOW_SPEED_TIME),
	CURL_LOAD_OF(WRITEFUNCTION, CURLOPT_WRITEFUNCTION),
	CURL_LOAD_OF(WRITEDATA, CURLOPT_WRITEDATA),
	CURL_LOAD_OF(POST, CURLOPT_POST),
	CURL_LOAD_OF(POSTFIELDS, CURLOPT_POSTFIELDS),
	CURL_LOAD_OF(POSTFIELDSIZE, CURLOPT_POSTFIELDSIZE_LARGE),
	CURL_LOAD_OF(CAINFO, CURLOPT_CAINFO),
	CURL_LOAD_UPLOAD_BUFFERSIZE = 280, /* CURLOPT_UPLOAD_BUFFERSIZE, of 7.62: others refuse it */
	CURL_LOAD_OF(MAX_SEND_SPEED, CURLOPT_MAX_SEND_SPEED_LARGE),
	CURL_LOAD_OF(RESPONSE_CODE, CURLINFO_RESPONSE_CODE),
};

enum curl_load_error {
	CURL_LOAD_OF(COULDNT_RESOLVE, CURLE_COULDNT_RESOLVE_HOST),
	CURL_LOAD_OF(COULDNT_CONNECT, CURLE_COULDNT_CONNECT),
};

#define CURL_LOAD_HTTP_AND_HTTPS 3L /* CURLPROTO_HTTP | CURLPROTO_HTTPS */

struct curl_load {
	void *(*easy_init)(void);
	void (*easy_reset)(void *curl);
	int (*easy_setopt)(void *curl, int option, ...);
	int (*easy_perform)(void *curl);
	int (*easy_getinfo)(void *curl, int info, ...);
	const char *(*easy_strerror)(int error);
	void (*easy_cleanup)(void *curl);
	void *(*slist_append)(void *list, const char *text);
	void (*slist_free_all)(void *list);
	int (*global_init)(long flags);
};

extern struct curl_load curl_load;

/* Once is enough. 0, or -ENOSYS with err filled. */
int curl_load_library(struct ktr_error *err);

/* Is an error of libcurl one that another try would meet again: of a certificate, an address? */
int curl_load_is_final(int error);

#endif
