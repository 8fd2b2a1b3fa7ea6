/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions as compilers and people write them, called in all ways there are; what each returns is looked at,
 * and who calls looks whether registers are kept that nobody else would keep. Given a file's name, it goes on until
 * there is one; given an object too, it loads and unloads that.
 */
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <csetjmp>
#include <dlfcn.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define TURNS 300

static unsigned long wrong;
#define CHECK(is)                                                                               \
	((is) ? (void)0 : (void)(__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED), fprintf(stderr, "%s\n", #is)))

/* By their first instructions: five bytes, two, endbr64, an address, room on the stack; and refused ones. */
__asm__(".text\n"
	"	.macro begin name\n	.globl \\name\n	.type \\name, @function\n\\name:\n	.cfi_startproc\n	.endm\n"
	"	.macro end name\n	.cfi_endproc\n	.size \\name, . - \\name\n	.balign 32\n	.endm\n"
	"	.balign 32\n"
	"	begin plain_five\n	movl $7, %eax\n	addl %edi, %eax\n	ret\n	end plain_five\n"
	"	begin plain_two\n	pushq %r12\n	.cfi_adjust_cfa_offset 8\n	leal 8(%rdi), %eax\n	popq %r12\n"
	"	.cfi_adjust_cfa_offset -8\n	ret\n	end plain_two\n"
	"	begin plain_endbr\n	endbr64\n	leal 9(%rdi), %eax\n	ret\n	end plain_endbr\n"
	"	begin plain_word\n	movl plain_ten(%rip), %eax\n	addl %edi, %eax\n	ret\n	end plain_word\n"
	"	begin plain_room\n	subq $4104, %rsp\n	.cfi_adjust_cfa_offset 4104\n	movl %edi, (%rsp)\n"
	"	movl (%rsp), %eax\n	addl $11, %eax\n	addq $4104, %rsp\n	.cfi_adjust_cfa_offset -4104\n	ret\n"
	"	end plain_room\n"
	"	begin plain_byte\n	nop\n	leal 12(%rdi), %eax\n	ret\n	end plain_byte\n"
	"	begin plain_jump\n	jmp plain_five\n	end plain_jump\n"
	"	begin plain_loop\n	subl $1, %edi\n	jg plain_loop\n	movl %edi, %eax\n	ret\n	end plain_loop\n"
	"	.skip 7, 0x90\n"
	"	begin plain_cross\n	movl $13, %eax\n	addl %edi, %eax\n	ret\n	end plain_cross\n"
	/* Whoever asks has no return. */
	"	begin plain_asks\n	movq (%rsp), %rax\n	ret\n	end plain_asks\n"
	/* plain_kept(function): how many registers it changes, on a stack that is not aligned. */
	"	begin plain_kept\n	pushq %rbx\n	.cfi_adjust_cfa_offset 8\n	.cfi_offset 3, -16\n	pushq %r13\n"
	"	.cfi_adjust_cfa_offset 8\n	movq %rdi, %rbx\n	movl $1, %edi\n	movl $101, %ecx\n	movl $102, %edx\n"
	"	movl $103, %esi\n	movl $108, %r8d\n	movl $109, %r9d\n	movl $110, %r10d\n	movl $111, %r11d\n"
	"	movq %rcx, %xmm2\n	movq %rdx, %xmm7\n	movq %rsi, %xmm15\n	subq $16, %rsp\n"
	"	.cfi_adjust_cfa_offset 16\n	call *%rbx\n	addq $16, %rsp\n	.cfi_adjust_cfa_offset -16\n"
	"	xorl %eax, %eax\n	.macro kept register value\n	cmpq $\\value, \\register\n	setne %r13b\n"
	"	movzbl %r13b, %r13d\n	addl %r13d, %eax\n	.endm\n"
	"	kept %rcx 101\n	kept %rdx 102\n	kept %rsi 103\n	kept %rdi 1\n	kept %r8 108\n	kept %r9 109\n"
	"	kept %r10 110\n	kept %r11 111\n	movq %xmm2, %rcx\n	kept %rcx 101\n	movq %xmm7, %rcx\n"
	"	kept %rcx 102\n	movq %xmm15, %rcx\n	kept %rcx 103\n	popq %r13\n	.cfi_adjust_cfa_offset -8\n"
	"	popq %rbx\n	.cfi_adjust_cfa_offset -8\n	ret\n	end plain_kept\n");

extern "C" {
int plain_five(int n);
int plain_two(int n);
int plain_endbr(int n);
int plain_word(int n);
int plain_room(int n);
int plain_byte(int n);
int plain_jump(int n);
int plain_loop(int n);
int plain_cross(int n);
void *plain_asks();
int plain_kept(int (*function)(int));
int plain_ten = 10;

#define PLAIN __attribute__((noinline, noclone, noipa))

PLAIN long plain_recurs(long n)
{
	return n < 2 ? n : plain_recurs(n - 1) + plain_recurs(n - 2);
}

PLAIN double plain_many(double x, long a, long b, long c, long d, long e, long f, long g, long h, double y)
{
	return x + static_cast<double>(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h) + y;
}

PLAIN int plain_throws(int n)
{
	if (n % 3 == 0)
		throw std::runtime_error("three times " + std::to_string(n / 3));
	return n;
}

PLAIN int plain_catches(int n)
{
	try {
		return plain_throws(n);
	} catch (const std::exception &error) {
		return -static_cast<int>(std::string(error.what()).size());
	}
}

PLAIN void plain_leaves(jmp_buf *to, int n)
{
	volatile int filler[8] = { n };
	longjmp(*to, filler[0] + 1);
}
}

static ucontext_t main_context, other_context;

extern "C" PLAIN int plain_swaps(int n)
{
	swapcontext(&main_context, &other_context);
	return n + 1;
}

extern "C" PLAIN int plain_yields(int n)
{
	swapcontext(&other_context, &main_context);
	return n + 2;
}

static void other_main()
{
	for (int i = 0;; i++)
		CHECK(plain_yields(i) == i + 2);
}

static void contexts()
{
	static char stack[65536];

	getcontext(&other_context);
	other_context.uc_stack.ss_sp = stack;
	other_context.uc_stack.ss_size = sizeof(stack);
	makecontext(&other_context, other_main, 0);
	for (int i = 0; i < TURNS; i++)
		CHECK(plain_swaps(i) == i + 1);
}

static void turn(int i)
{
	jmp_buf back;
	int (*const functions[])(int) = { plain_five, plain_two,  plain_endbr, plain_word,
					  plain_room, plain_byte, plain_cross };

	CHECK(plain_five(i) == i + 7);
	CHECK(plain_two(i) == i + 8);
	CHECK(plain_endbr(i) == i + 9);
	CHECK(plain_word(i) == i + 10);
	CHECK(plain_room(i) == i + 11);
	CHECK(plain_byte(i) == i + 12);
	CHECK(plain_jump(i) == i + 7);
	CHECK(plain_loop(4) == 0);
	CHECK(plain_cross(i) == i + 13);
	CHECK(plain_asks() != nullptr);
	CHECK(plain_many(0.5, 1, 2, 3, 4, 5, 6, 7, i, 0.25) == 140.75 + 8 * i);
	CHECK(plain_catches(3 * i + 1) == 3 * i + 1 && plain_catches(27) == -13);
	for (auto *function : functions)
		CHECK(plain_kept(function) == 0);
	if (int code = setjmp(back))
		CHECK(code == i % 5 + 1);
	else
		plain_leaves(&back, i % 5);
}

static void *turns(void *)
{
	for (int i = 0; i < TURNS; i++)
		turn(i);
	return nullptr;
}

/* From outside it is seen whether its text is as in its file again. */
static void forever(const char *stop, const char *object)
{
	for (unsigned long n = 0; access(stop, F_OK); n++) {
		turn(static_cast<int>(n & 0xffff));
		if (!object || n % 64)
			continue;
		void *loaded = dlopen(object, RTLD_NOW);
		auto *function = loaded ? reinterpret_cast<int (*)(int)>(dlsym(loaded, "plugin_plain")) : nullptr;

		for (int i = 0; function && i < 64; i++)
			CHECK(function(i) == 3 * i);
		if (loaded)
			dlclose(loaded);
	}
}

int main(int argc, char **argv)
{
	pthread_t thread[2];
	int status = 0;

	if (argc > 1) {
		forever(argv[1], argc > 2 ? argv[2] : nullptr);
		printf("%lu wrong\n", wrong);
		return 0;
	}
	for (auto &at : thread)
		pthread_create(&at, nullptr, turns, nullptr);
	turns(nullptr);
	for (auto &at : thread)
		pthread_join(at, nullptr);
	contexts();
	CHECK(plain_recurs(15) == 610);
	if (pid_t child = fork()) {
		waitpid(child, &status, 0);
		CHECK(status == 0);
	} else {
		turn(5);
		_exit(wrong ? 1 : 0);
	}
	printf("%d turns, %lu wrong\n", 3 * TURNS, wrong);
	return 4;
}
