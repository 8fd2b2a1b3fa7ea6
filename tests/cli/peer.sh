#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A peer writes random and chosen words into every page of a session, and its host does not mind: four kinds of hosts
# on both paths, a fixed number of writes. The long campaign is `make check-peer`; single words are tests/test_peer.c.
export COUNT="${COUNT:-600}"
timeout 300 sh "$(dirname "$0")/../stress/peer.sh"
