/* SPDX-License-Identifier: BSD-2-Clause */
/* An object that plain.cc loads and unloads. */
int plugin_plain(int n);

int plugin_plain(int n)
{
	return 3 * n;
}
