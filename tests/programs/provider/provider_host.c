/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with a provider, "host", that does what the lines of its standard input say and answers each in a line:
 *
 *	offer NAME	host::work:NAME, which counts what it is asked to do		the code
 *	refuse NAME	the same, but enabling it fails until "allow"		the code
 *	allow
 *	fire NAME N	fires it N times with its count				fired
 *	calls NAME	enable, disable, suspend, resume, destroy so far	five numbers
 *	remove NAME						removed
 *	many N		host:many:f0:entry to fN-1				the code
 *	switch +SPEC, -SPEC					the code, and why
 *	suspend, resume						done
 *	fork LINES	a child does what the file says				back
 *	point N		a CTR point						passed
 *	leave		unregisters the provider, waits for the thread	alone
 *	crash
 *
 * With "main-exits" as an argument main ends by pthread_exit(3) while another thread works on for a moment.
 */
#include <ktr/provider.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct work {
	struct ktr_provider_probe *probe;
	char name[64];
	int refuses;
	int calls[5];
};

static struct work works[16];
static unsigned n_works;
static int allowed;
static struct ktr_provider *provider;

static int work_enable(struct ktr_provider_probe *probe, struct ktr_error *why)
{
	struct work *work = probe->context;

	if (!work)
		return 0;
	work->calls[0]++;
	return work->refuses && !allowed ? ktr_error_set(why, EPERM, "%s may not be watched", work->name) : 0;
}

static void work_disable(struct ktr_provider_probe *probe)
{
	if (probe->context)
		((struct work *)probe->context)->calls[1]++;
}

static void work_suspend(struct ktr_provider_probe *probe)
{
	if (probe->context)
		((struct work *)probe->context)->calls[2]++;
}

static void work_resume(struct ktr_provider_probe *probe)
{
	if (probe->context)
		((struct work *)probe->context)->calls[3]++;
}

static void work_destroy(struct ktr_provider_probe *probe)
{
	if (probe->context)
		((struct work *)probe->context)->calls[4]++;
}

static int work_arg(struct ktr_provider_probe *probe, unsigned number, struct ktr_provider_arg *arg)
{
	static const struct ktr_provider_arg args[] = {
		{ "n", "int", KTR_ARG_I32 },
		{ "name", "const char *", KTR_ARG_STR },
		{ "pid", "pid_t", KTR_ARG_I32 },
	};

	(void)probe;
	if (number > 2)
		return -ENOENT;
	*arg = args[number];
	return 0;
}

static uint64_t work_value(struct ktr_provider_probe *probe, unsigned number)
{
	return number == 1 ? (uintptr_t)probe->name : 4711;
}

/* Offered when somebody asks for it by name. */
static void work_provide(struct ktr_provider *whose, const char *spec)
{
	if (spec && strcmp(spec, "host:::asked-for") == 0)
		ktr_provider_offer(whose, NULL, NULL, "asked-for", NULL, NULL);
}

static const struct ktr_provider_ops work_ops = {
	.size = sizeof(work_ops), .provide = work_provide, .enable = work_enable, .disable = work_disable,
	.suspend = work_suspend, .resume = work_resume, .arg_desc = work_arg, .arg_value = work_value,
	.destroy = work_destroy,
};

static struct work *work_of(const char *name)
{
	for (unsigned i = 0; i < n_works; i++)
		if (strcmp(works[i].name, name) == 0)
			return &works[i];
	fprintf(stderr, "no %s\n", name);
	exit(1);
}

static int work_offer(const char *name, int refuses)
{
	struct work *work = &works[n_works];

	snprintf(work->name, sizeof(work->name), "%s", name);
	work->refuses = refuses;
	n_works++;
	return ktr_provider_offer(provider, NULL, "work", name, work, &work->probe);
}

static void many(int n)
{
	char name[32];
	int code = 0;

	for (int i = 0; i < n && !code; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		code = ktr_provider_offer(provider, "many", name, "entry", NULL, NULL);
	}
	printf("%d\n", code);
}

/* The library's thread ends with the last provider. */
static void leave(void)
{
	struct stat st;

	ktr_provider_unregister(provider);
	provider = NULL;
	/* A directory has a link for each in it, and for itself and its parent. */
	for (int i = 0; i < 12000 && stat("/proc/self/task", &st) == 0 && st.st_nlink > 3; i++)
		usleep(10000);
	printf("%s\n", st.st_nlink == 3 ? "alone" : "not alone");
}

static void run(FILE *in);

static void forked(const char *path)
{
	pid_t pid = fork();

	if (pid == 0) {
		FILE *in = fopen(path, "r");

		if (in)
			run(in);
		fflush(NULL);
		exit(!in);
	}
	waitpid(pid, NULL, 0);
	printf("back\n");
}

static void run(FILE *in)
{
	char line[256], verb[16], word[200];
	struct ktr_error err;
	int n, code;

	while (fgets(line, sizeof(line), in)) {
		n = 1;
		word[0] = '\0';
		sscanf(line, "%15s %199s %d", verb, word, &n);
		if (strcmp(verb, "offer") == 0 || strcmp(verb, "refuse") == 0) {
			printf("%d\n", work_offer(word, verb[0] == 'r'));
		} else if (strcmp(verb, "allow") == 0) {
			allowed = 1;
			printf("allowed\n");
		} else if (strcmp(verb, "fire") == 0) {
			for (int i = 0; i < n; i++)
				ktr_provider_fire1(work_of(word)->probe, i);
			printf("fired\n");
		} else if (strcmp(verb, "calls") == 0) {
			const int *calls = work_of(word)->calls;

			printf("%d %d %d %d %d\n", calls[0], calls[1], calls[2], calls[3], calls[4]);
		} else if (strcmp(verb, "remove") == 0) {
			ktr_provider_remove(work_of(word)->probe);
			work_of(word)->probe = NULL;
			printf("removed\n");
		} else if (strcmp(verb, "many") == 0) {
			many(atoi(word));
		} else if (strcmp(verb, "switch") == 0) {
			err = (struct ktr_error)KTR_ERROR_NONE;
			code = word[0] == '+' ? ktr_provider_enable(word + 1, &err) :
						ktr_provider_disable(word + 1, &err);
			printf("%d %s\n", code, err.text);
		} else if (strcmp(verb, "suspend") == 0) {
			ktr_provider_suspend(NULL);
			printf("done\n");
		} else if (strcmp(verb, "resume") == 0) {
			ktr_provider_resume(NULL);
			printf("done\n");
		} else if (strcmp(verb, "point") == 0) {
			CTR1(KTR_GEN, "a point %d", atoi(word));
			printf("passed\n");
		} else if (strcmp(verb, "fork") == 0) {
			fflush(stdout);
			forked(word);
		} else if (strcmp(verb, "leave") == 0) {
			leave();
		} else if (strcmp(verb, "crash") == 0) {
			kill(getpid(), SIGKILL);
		}
		fflush(stdout);
	}
}

static void *outlive(void *context)
{
	usleep(100000);
	printf("outlived\n");
	return context;
}

int main(int argc, char **argv)
{
	struct ktr_provider *other;
	pthread_t thread;
	int code = ktr_provider_register("host", &work_ops, NULL, &provider);

	if (code || ktr_provider_register("host", &work_ops, NULL, &other) != -EEXIST ||
	    ktr_provider_register("sched", &work_ops, NULL, &other) != -EEXIST ||
	    ktr_provider_register("a b", &work_ops, NULL, &other) != -EINVAL) {
		fprintf(stderr, "registering: %d\n", code);
		return 1;
	}
	if (argc > 1 && strcmp(argv[1], "main-exits") == 0) {
		pthread_create(&thread, NULL, outlive, NULL);
		pthread_exit(NULL);
	}
	run(stdin);
	return provider && ktr_provider_unregister(provider);
}
