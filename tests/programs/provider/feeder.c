/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Its session says that its parent feeds events of the kernel, which does no such thing, as the number of a feeder
 * does that was killed and whose number was given anew; then it asks for them. For tests/cli/provider/feeder.sh.
 */
#include <ktr.h>
#include <ktr/ctl.h>
#include <ktr/session.h>

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int set(const char *name, const char *value)
{
	struct ktr_error err = KTR_ERROR_NONE;

	if (ktr_set(name, value, &err)) {
		fprintf(stderr, "%s: %s\n", name, err.text);
		return 1;
	}
	return 0;
}

int main(void)
{
	const struct timespec nap = { 0, 1000000 };
	uint32_t number = (uint32_t)getppid();
	struct ktr_header header;
	int fd = open(ktr_session_path(), O_RDWR);

	CTR0(KTR_GEN, "begins");
	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    pwrite(fd, &number, sizeof(number),
		   (off_t)(header.region[KTR_REGION_control].offset + offsetof(struct ktr_control, feeder))) < 0)
		return 1;
	if (set("debug.ktr.kernel", "switch") || set("debug.ktr.mask", "gen|kswitch"))
		return 1;
	ktr_flush(); /* the writer has seen it */
	for (int i = 0; i < 100; i++)
		nanosleep(&nap, NULL);
	CTR0(KTR_GEN, "ends");
	return 0;
}
