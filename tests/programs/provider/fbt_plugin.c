/* SPDX-License-Identifier: BSD-2-Clause */
/* An object that is loaded and unloaded while its functions are probed. */
int plugin_call(int n);
static __attribute__((noinline)) int plugin_step(int n)
{
	return n < 2 ? n : plugin_step(n - 1) + plugin_step(n - 2);
}

int plugin_call(int n)
{
	return plugin_step(n);
}
