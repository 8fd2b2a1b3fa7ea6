#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What programs and library share, from the debugging information of an object that includes our headers: a line
for each member of a structure with its offset, for each structure with its size, for each enumerator with its value.

	layout.py OBJECT NAME...	structures and enumerations wanted
"""
import re
import subprocess
import sys

DIE = re.compile(r"\s+<(\d+)><[0-9a-f]+>: Abbrev Number: \d+ \((DW_TAG_\w+)\)")
ATTRIBUTE = re.compile(r"\s+<[0-9a-f]+>\s+(DW_AT_\w+)\s*:\s*(.*)")
FORM = re.compile(r"^(\([^)]*\):? *)+")
# Filled by the library, for itself.
PRIVATE = {"ktr_site": {"id", "plain", "how", "limit", "copies", "text_at", "reserved"}}
# These begin with their own size and may grow, the list of types too.
GROWS = {"ktr_options", "ktr_stats", "KTR_ARG_TYPES", "ktr_reader_options"}
# Only the library makes these, so they may grow at their end.
GROWS |= {"ktr_reader_info", "ktr_reader_site", "ktr_reader_thread", "ktr_loss", "ktr_note", "KTR_SIDECARS"}
# Not for programs.
PRIVATE["ktr_reader_site"] = {"render"}


def dies(path):
    """(depth, tag, attributes) of everything, in order."""
    text = subprocess.run(["readelf", "--debug-dump=info", "-W", path], capture_output=True, text=True, check=True)
    die = None
    for line in text.stdout.splitlines():
        found = DIE.match(line)
        if found:
            if die:
                yield die
            die = (int(found[1]), found[2], {})
            continue
        found = ATTRIBUTE.match(line)
        if found and die:
            die[2][found[1]] = FORM.sub("", found[2]).strip()
    if die:
        yield die


def lines(path, wanted):
    owner = None
    for depth, tag, at in dies(path):
        name = at.get("DW_AT_name", "")
        if tag in ("DW_TAG_structure_type", "DW_TAG_enumeration_type") and depth == 1:
            owner = name if name in wanted else None
            if owner and tag == "DW_TAG_structure_type" and "DW_AT_byte_size" in at and name not in GROWS:
                yield f"struct {owner} bytes {at['DW_AT_byte_size']}"
        elif depth == 1:
            owner = None
        elif owner and depth == 2 and tag == "DW_TAG_member" and name not in PRIVATE.get(owner, ()):
            yield f"struct {owner}.{name} at {at.get('DW_AT_data_member_location', '0').split()[0]}"
        elif owner and depth == 2 and tag == "DW_TAG_enumerator" and name not in GROWS:
            yield f"enum {owner} {name} = {at['DW_AT_const_value'].split()[0]}"


if __name__ == "__main__":
    print("\n".join(sorted(set(lines(sys.argv[1], set(sys.argv[2:]))))))
