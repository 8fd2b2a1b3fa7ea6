/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that take no time, one that takes long, and then short ones until somebody stops the rings: exit
 * status 0 when that has happened, 1 when nobody does within two minutes. With an argument, `quick`, there is none
 * that takes long, and with `last` it is the last thing that the program does.
 */
#include <ktr.h>
#include <ktr/ctl.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

static void request(int number, long ns)
{
	struct timespec pause = { 0, ns };

	KTR_START0(KTR_NET, "request", "GET", number);
	CTR1(KTR_NET, "request %d", number);
	if (ns)
		nanosleep(&pause, NULL);
	KTR_STOP0(KTR_NET, "request", "GET", number);
}

static int is_frozen(void)
{
	char text[8] = "";

	return ktr_get("debug.ktr.freeze", text, sizeof(text), NULL) >= 0 && strcmp(text, "1") == 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	time_t until = time(NULL) + 120;
	int number = 0;

	while (number < 100)
		request(number++, 0);
	if (strcmp(how, "quick") == 0)
		return 0;
	request(number++, 30000000);
	if (strcmp(how, "last") == 0)
		return 0;
	puts("long");
	fflush(stdout);
	while (!is_frozen() && time(NULL) < until)
		request(number++, 100000);
	return !is_frozen();
}
