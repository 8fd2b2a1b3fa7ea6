/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a program's loader takes the agent in is seen in its file: it has to have a loader, that of the C library
 * that the agent is built for, and must not run with raised privileges, for which ld.so(8) leaves LD_PRELOAD aside.
 */
#include "tools/record/run_agent.h"

#include "tools/attach/attach_library.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/record/program.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AGENT_SCRIPTS 4	  /* interpreters of interpreters: execve(2) follows as many */
#define AGENT_PARTS   128 /* program headers that are looked at */

#if defined(__x86_64__)
#define AGENT_MACHINE EM_X86_64
#else
#define AGENT_MACHINE EM_AARCH64
#endif

/* Why its loader does not take the agent in, and what else there is; NULL: it does. */
static const char *agent_elf(int fd, const Elf64_Ehdr *head)
{
	Elf64_Phdr part[AGENT_PARTS];
	char loader[256];
	ssize_t n;

	if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != AGENT_MACHINE)
		return "it is for another processor than the agent; `ktr ktrace` records its system calls";
	if (head->e_phnum > AGENT_PARTS || head->e_phentsize != sizeof(part[0]))
		return "its program headers are not as usual";
	n = pread(fd, part, head->e_phnum * sizeof(part[0]), (off_t)head->e_phoff);
	for (int i = 0; n > 0 && i < (int)((size_t)n / sizeof(part[0])); i++) {
		if (part[i].p_type != PT_INTERP)
			continue;
		n = pread(fd, loader, sizeof(loader) - 1, (off_t)part[i].p_offset);
		loader[n < 0 ? 0 : n] = '\0';
		return strstr(loader, "musl") ? "its C library is musl, and the agent is for glibc: link it with libktr.a (make one)" :
						NULL;
	}
	return "it is linked statically, so no loader takes the agent in; `ktr ktrace` records its system calls";
}

/* Who runs a script. 1 or 0. */
static int agent_interpreter(char *line, char path[PATH_MAX])
{
	char *word = line + 2 + strspn(line + 2, " \t");

	word[strcspn(word, " \t\r\n")] = '\0';
	if (line[0] != '#' || line[1] != '!' || !*word)
		return 0;
	snprintf(path, PATH_MAX, "%s", word);
	return 1;
}

static int agent_is_shell(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t n = strlen(name);

	return (n >= 2 && strcmp(name + n - 2, "sh") == 0) || strcmp(name, "env") == 0;
}

/* The same for a file that is run. An empty one and one without #! are left to who executes it. */
static const char *agent_file(char path[PATH_MAX], int *linked, int *shell)
{
	for (int i = 0; i < AGENT_SCRIPTS; i++) {
		union {
			Elf64_Ehdr elf;
			char line[256];
		} head = { .line = "" };
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read(fd, head.line, sizeof(head.line) - 1);
		int elf = n >= (ssize_t)sizeof(head.elf) && memcmp(head.line, ELFMAG, SELFMAG) == 0;
		const char *why = elf ? agent_elf(fd, &head.elf) : NULL;
		char word[PATH_MAX];

		if (fd >= 0)
			close(fd);
		if (elf) {
			snprintf(word, sizeof(word), "%s", path);
			*linked = program_look(word, path) != PROGRAM_FOREIGN;
			if (!*linked && program_raised(path))
				return "it runs with raised privileges, and its loader leaves LD_PRELOAD aside then";
			return *linked ? NULL : why;
		}
		if (n < 0 || !agent_interpreter(head.line, path))
			return NULL;
		*shell |= agent_is_shell(path);
	}
	return NULL;
}

/* Such a program has a library of its own, which finds the agent's in its place. */
static int agent_has_archive(const char *path)
{
	static const char knob[] = "debug.ktr.mask", library[] = "libktr.so";

	return program_contains(path, knob, sizeof(knob)) && !program_contains(path, library, sizeof(library) - 1);
}

int run_agent_find(const char *command, const char *program, int always, struct run_agent *agent)
{
	const char *why, *before = getenv("LD_PRELOAD");
	char path[PATH_MAX], library[PATH_MAX + 32];
	int linked = 0;

	memset(agent, 0, sizeof(*agent));
	if (program_look(program, path) == PROGRAM_NONE)
		return 0; /* whoever executes it says so */
	why = agent_file(path, &linked, &agent->shell);
	if (linked && !always)
		return 0;
	if (why)
		return fail(command, "%s%s: %s", always ? "" : "--agent: ", path, why);
	if (attach_library(library, sizeof(library)) || library[strcspn(library, ": ")])
		return fail(command, "--agent: %s: ld.so(8) takes no path with a blank or a colon", library);
	agent->needed = 1;
	if (linked && agent_has_archive(path))
		fprintf(stderr,
			"%s: %s has libktr within it, from its archive: its own points are not recorded beside the agent's; "
			"linked with libktr.so it has both\n",
			command, path);
	if (snprintf(agent->preload, sizeof(agent->preload), "%s%s%s", library, before && *before ? ":" : "",
		     before ? before : "") >= (int)sizeof(agent->preload))
		return fail(command, "--agent: LD_PRELOAD is too long already");
	return 0;
}

void run_agent_say(const struct run_agent *agent, const char *program)
{
	if (agent->shell)
		fprintf(stderr,
			"ktr: %s is a script: who runs it was recorded, and no program that it starts or becomes; -i records those, too\n",
			program);
}
