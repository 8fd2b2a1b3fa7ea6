/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs gnuplot as a program. It reads its script from a memory file and writes the picture to its
 * standard output, which is a new file beside the one that is asked for and takes its name in the
 * end; so no name of a file is ever part of a script that we run, and no pipe can fill up. What it
 * complains about goes into a second memory file, for the error's text.
 *
 * A script that is kept has a terminal and an output file set in its head, and everything it needs
 * in itself, data included, so that it runs from any directory.
 */
#include "visualize/chart/gnuplot.h"

#include "analyze/print/newfile.h"
#include "analyze/print/unfinished.h"
#include "visualize/model/label.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const struct {
	const char *end;
	enum ktr__gnuplot_format format;
} gnuplot_formats[] = { { ".png", KTR__GNUPLOT_PNG },
			{ ".svg", KTR__GNUPLOT_SVG },
			{ ".pdf", KTR__GNUPLOT_PDF },
			{ ".gp", KTR__GNUPLOT_GP } };

int ktr__gnuplot_format_of(const char *path, enum ktr__gnuplot_format *format,
			   struct ktr_error *err)
{
	const char *dot = path != NULL ? strrchr(path, '.') : NULL;

	*format = KTR__GNUPLOT_TEXT;
	if (path == NULL || strcmp(path, "-") == 0)
		return 0;
	for (size_t i = 0; dot > path && i < sizeof(gnuplot_formats) / sizeof(gnuplot_formats[0]); i++)
		if (strcmp(dot, gnuplot_formats[i].end) == 0) {
			*format = gnuplot_formats[i].format;
			return 0;
		}
	return ktr_error_at(err, path, 0, 0, EINVAL,
			    "a picture's name ends in .png, .svg, .pdf or .gp");
}

/*
 * The terminal that draws a format. Sizes are those of a picture 1200 pixels wide; a PDF has 100 of
 * them to the inch. pdfcairo halves fonts unless told otherwise (gnuplot's manual, "pdfcairo"):
 * with 0.73 a title has the width, relative to the picture, that pngcairo gives it.
 */
static void gnuplot_terminal(FILE *to, enum ktr__gnuplot_format format, unsigned width,
			     unsigned height)
{
	if (format == KTR__GNUPLOT_SVG)
		fprintf(to,
			"set terminal svg size %u,%u noenhanced font 'sans-serif,12' background"
			" '#ffffff'\n",
			width, height);
	else if (format == KTR__GNUPLOT_PDF)
		fprintf(to,
			"set terminal pdfcairo size %.2fin,%.2fin noenhanced fontscale 0.73"
			" font 'sans,10'\n",
			width / 100.0, height / 100.0);
	else if (format == KTR__GNUPLOT_TEXT)
		fprintf(to, "set terminal dumb noenhanced size %u,%u\n", width, height);
	else
		fprintf(to, "set terminal pngcairo size %u,%u noenhanced font 'sans,10'\n", width,
			height);
}

/* The head of a script that is kept: the picture gets the script's name. */
static void gnuplot_head(FILE *to, const char *path, unsigned width, unsigned height)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char clean[KTR__LABEL_BYTES];
	size_t n = ktr__label_clean(clean, sizeof(clean) - 8, name, strlen(name));

	if (n > 3)
		n -= 3; /* ".gp" */
	memcpy(clean + n, ".png", 5);
	fputs("# Made by ktr. Run it with gnuplot; other formats: svg size 1200,800;"
	      " pdfcairo size 12in,8in.\n",
	      to);
	gnuplot_terminal(to, KTR__GNUPLOT_PNG, width, height);
	fputs("set output ", to);
	ktr__label_gnuplot(to, clean);
	fputs("\n\n", to);
}

int ktr__gnuplot_begin(struct ktr__gnuplot *plot, const char *path, unsigned width, unsigned height,
		       struct ktr_error *err)
{
	int error;

	memset(plot, 0, sizeof(*plot));
	error = ktr__gnuplot_format_of(path, &plot->format, err);
	if (error != 0)
		return error;
	plot->path = path != NULL && strcmp(path, "-") == 0 ? NULL : path;
	plot->width = width;
	plot->height = height;
	plot->to = open_memstream(&plot->script, &plot->n_script);
	if (plot->to == NULL)
		return ktr_error_set(err, ENOMEM, "not enough memory for a script");
	fputs("reset\n", plot->to);
	if (plot->format == KTR__GNUPLOT_GP)
		gnuplot_head(plot->to, path, width, height);
	else
		gnuplot_terminal(plot->to, plot->format, width, height);
	fputs("set encoding utf8\n", plot->to);
	return 0;
}

int ktr__gnuplot_has_fonts(const struct ktr__gnuplot *plot)
{
	return plot->format != KTR__GNUPLOT_SVG && plot->format != KTR__GNUPLOT_TEXT;
}

/* Whoever wrote a name into the script: none reaches gnuplot with a character that spoils the picture. */
static int gnuplot_cover(struct ktr__gnuplot *plot)
{
	char *script = plot->script;
	size_t n = plot->n_script;
	FILE *to;

	if (!ktr__gnuplot_has_fonts(plot))
		return 0;
	plot->script = NULL;
	to = open_memstream(&plot->script, &plot->n_script);
	if (to != NULL)
		ktr__glyphs_write(&plot->glyphs, to, script, n);
	free(script);
	return to != NULL && fclose(to) == 0 ? 0 : -ENOMEM;
}

static int gnuplot_write(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			bytes += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

/* What gnuplot said, in one line: its last one that is not about where in the script. */
static void gnuplot_complaint(int fd, char *text, size_t size)
{
	char said[4096];
	ssize_t n = pread(fd, said, sizeof(said) - 1, 0);
	const char *best = "it gave no reason", *at;

	said[n > 0 ? n : 0] = '\0';
	for (char *save, *line = strtok_r(said, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save))
		if (line[0] != '\0' && line[strspn(line, " \t^")] != '\0')
			best = line;
	at = best[0] == '"' ? strstr(best, "\" line ") : NULL; /* of which file is no news */
	best = at != NULL ? at + strlen("\" ") : best;
	ktr__label_clean(text, size, best, strlen(best));
}

/*
 * gnuplot reads its standard input without a buffer, a call of the kernel for each byte (setvbuf(stdin, NULL,
 * _IONBF) in plot.c of 5.4), and files with one. The script of a timeline may have a megabyte.
 */
#define GNUPLOT_FDS   "/proc/self/fd"
#define GNUPLOT_STDIN GNUPLOT_FDS "/0"

/* in, out, complaints: descriptors for the program's 0, 1, 2. Its exit status, or -errno. */
static int gnuplot_spawn(int in, int out, int complaints)
{
	static char program[] = "gnuplot", defaults[] = "-d", as_file[] = GNUPLOT_STDIN, as_stdin[] = "-";
	char *argv[] = { program, defaults, access(GNUPLOT_FDS, X_OK) == 0 ? as_file : as_stdin, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int status = 0, error, unfinished;
	sigset_t before;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return -ENOMEM;
	posix_spawn_file_actions_adddup2(&actions, in, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_adddup2(&actions, complaints, 2);
	ktr__unfinished_hold(&before);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &before);
	error = posix_spawnp(&pid, program, &actions, &attributes, argv, environ);
	unfinished = error == 0 ? ktr__unfinished_process(pid) : -1;
	posix_spawnattr_destroy(&attributes);
	ktr__unfinished_let(&before);
	posix_spawn_file_actions_destroy(&actions);
	if (error != 0)
		return -error;
	while ((error = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
		;
	error = error < 0 ? -errno : 0;
	ktr__unfinished_done(unfinished);
	if (error != 0)
		return error;
	if (!WIFEXITED(status))
		return 255;
	/* posix_spawn(3) may find out too late, in the child, which then ends so. */
	return WEXITSTATUS(status) == 127 ? -ENOENT : WEXITSTATUS(status);
}

static int gnuplot_run(const struct ktr__gnuplot *plot, int out, struct ktr_error *err)
{
	int in = memfd_create("ktr-script", MFD_CLOEXEC);
	int complaints = memfd_create("ktr-complaints", MFD_CLOEXEC);
	char text[200];
	int result = -ENOMEM;

	if (in >= 0 && complaints >= 0)
		result = gnuplot_write(in, plot->script, plot->n_script);
	if (result == 0 && lseek(in, 0, SEEK_SET) == 0)
		result = gnuplot_spawn(in, out, complaints);
	if (result == -ENOENT) {
		ktr_error_set(
			err, ENOENT,
			"gnuplot is not installed: charts need it (Debian package gnuplot-nox);"
			" a script for it can be had with -o FILE.gp");
	} else if (result < 0) {
		ktr_error_set(err, -result, "cannot run gnuplot: %s", strerror(-result));
	} else if (result > 0) {
		gnuplot_complaint(complaints, text, sizeof(text));
		ktr_error_set(err, EPROTO, "gnuplot failed: %s", text);
		result = -EPROTO;
	}
	if (in >= 0)
		close(in);
	if (complaints >= 0)
		close(complaints);
	return result;
}

static int gnuplot_to_file(const struct ktr__gnuplot *plot, struct ktr_error *err)
{
	struct ktr__newfile file;
	struct stat is;
	int result = ktr__newfile_begin(&file, plot->path, err), fd;

	if (result != 0)
		return result;
	fd = fileno(file.to);
	if (plot->format == KTR__GNUPLOT_GP)
		result = gnuplot_write(fd, plot->script, plot->n_script);
	else
		result = gnuplot_run(plot, fd, err);
	if (result == 0 && fstat(fd, &is) == 0 && S_ISREG(is.st_mode) && is.st_size == 0)
		result = ktr_error_set(err, EPROTO, "gnuplot drew nothing");
	if (result != 0)
		ktr_error_at(err, plot->path, 0, 0, -result, "cannot be written: %s",
			     strerror(-result));
	return ktr__newfile_end(&file, result, err);
}

int ktr__gnuplot_end(struct ktr__gnuplot *plot, struct ktr_error *err)
{
	int result = fclose(plot->to);

	plot->to = NULL;
	if (result != 0 || gnuplot_cover(plot) != 0) {
		ktr__gnuplot_drop(plot);
		return ktr_error_set(err, ENOMEM, "not enough memory for a script");
	}
	if (plot->path != NULL) {
		result = gnuplot_to_file(plot, err);
	} else {
		fflush(stdout);
		result = gnuplot_run(plot, STDOUT_FILENO, err);
	}
	ktr__gnuplot_drop(plot);
	return result;
}

void ktr__gnuplot_drop(struct ktr__gnuplot *plot)
{
	if (plot->to != NULL)
		fclose(plot->to);
	free(plot->script);
	ktr__glyphs_free(&plot->glyphs);
	memset(plot, 0, sizeof(*plot));
}
