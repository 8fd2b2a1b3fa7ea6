# SPDX-License-Identifier: BSD-2-Clause
"""What the points of a memcached cost where people pay for them: CPU time of the server per request.

	run.py CLIENT KTR OFF PEER TRACED

OFF, PEER and TRACED are directories with a memcached each: without points, with points that write to a ring of the
thread and do nothing else, and with ktr's. All run at once, the servers on one CPU, the client on another, and are
asked by turns, in bursts; of each the lower quartile counts. BURSTS: how many, 20; REQUESTS: in one, 100000; WORKERS:
threads of each server, by turns, "1 4". Prints a table; JSON=FILE writes it as JSON too.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 1.5  # times what peer takes for an event
CONNECTIONS = 32


def cpu_ns(pid):
	total = 0
	for task in os.listdir(f"/proc/{pid}/task"):
		with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
			total += int(file.read().split()[0])
	return total


class Server:
	def __init__(self, name, directory, place, workers, cpu, ktr, mask=None):
		self.name, self.ktr, self.burst = name, ktr, []
		self.socket = f"{place}/{name}.{workers}"
		env = {k: v for k, v in os.environ.items() if not k.startswith("KTR_")}
		env["KTR_DIR"] = place
		env["LD_LIBRARY_PATH"] = os.environ.get("LD_LIBRARY_PATH", "")
		if mask:
			env["KTR_MASK"] = mask
		self.traced = bool(mask)
		command = ["taskset", "-c", str(cpu), f"{directory}/memcached", "-s", self.socket, "-t", str(workers),
			   "-m", "64", "-U", "0"]
		if os.geteuid() == 0:
			command += ["-u", "root"]
		self.process = subprocess.Popen(command, env=env, start_new_session=True)
		for _ in range(1000):
			if os.path.exists(self.socket):
				return
			time.sleep(0.01)
		sys.exit(f"{name}: {command}: no socket")

	def recorded(self):
		env = dict(os.environ, KTR_DIR=os.path.dirname(self.socket))
		text = subprocess.run([self.ktr, "sysctl", "-n", "-p", str(self.process.pid), "debug.ktr.recorded"],
				      env=env, capture_output=True, text=True, check=True).stdout
		return int(text.strip())

	def end(self):
		self.process.send_signal(signal.SIGTERM)
		self.process.wait()


def burst(server, client, cpu, n):
	before = cpu_ns(server.process.pid)
	subprocess.run(["taskset", "-c", str(cpu), client, server.socket, str(CONNECTIONS), str(n)], check=True)
	return (cpu_ns(server.process.pid) - before) / n


def quartile(values):
	return sorted(values)[len(values) // 4]


def cpus():
	may = sorted(os.sched_getaffinity(0))
	if len(may) < 2:
		sys.exit("two CPUs are needed: one for the servers, one for the client")
	return may[-1], may[-2]


def model():
	with open("/proc/cpuinfo", encoding="utf-8") as file:
		found = re.search(r"model name\s*: (.*)", file.read())
	return found.group(1) if found else "unknown CPU"


def measure(workers, client, ktr, forms, place):
	n, n_bursts = int(os.environ.get("REQUESTS", "100000")), int(os.environ.get("BURSTS", "20"))
	at, other = cpus()
	off, peer, traced = forms
	servers = [
		Server("off", off, place, workers, at, ktr),
		Server("off-again", off, place, workers, at, ktr),
		Server("masks-off", traced, place, workers, at, ktr, "none"),
		Server("peer", peer, place, workers, at, ktr),
		Server("ktr", traced, place, workers, at, ktr, "all,-proc"),
	]
	try:
		for server in servers:
			burst(server, client, other, n)
		begun = servers[-1].recorded()
		for i in range(n_bursts):
			if sys.stderr.isatty():
				print(f"\r\033[K{workers} workers: burst {i + 1} of {n_bursts}", end="", file=sys.stderr)
			for k in range(len(servers)):
				server = servers[(i + k) % len(servers)]
				server.burst.append(burst(server, client, other, n))
		per_request = (servers[-1].recorded() - begun) / (n * n_bursts)
	finally:
		for server in servers:
			server.end()
	if sys.stderr.isatty():
		print("\r\033[K", end="", file=sys.stderr)
	return {server.name: quartile(server.burst) for server in servers}, per_request


def main():
	client, ktr = sys.argv[1:3]
	rows = []
	print(f"{model()}; memcached, CPU time of the server, lower quartile of bursts")
	for workers in os.environ.get("WORKERS", "1 4").split():
		with tempfile.TemporaryDirectory(prefix="ktr-bench-", dir="/dev/shm") as place:
			ns, events = measure(int(workers), client, ktr, sys.argv[3:6], place)
		off = min(ns["off"], ns["off-again"])
		print(f"\n{workers} worker{'s' if workers != '1' else ''}, {events:.2f} events per request\n"
		      f"{'':10} {'ns/request':>10} {'x off':>7} {'ns/event':>9}")
		for name, value in ns.items():
			marginal = f"{(value - off) / events:9.1f}" if name in ("peer", "ktr") else ""
			print(f"{name:10} {value:10.0f} {value / off:7.3f} {marginal}")
		ratio = (ns["ktr"] - off) / (ns["peer"] - off) if ns["peer"] > off else 0
		print(f"an event costs {ratio:.2f} times peer's, <= {LIMIT}: {'holds' if 0 < ratio <= LIMIT else 'MISSED'}; "
		      f"two runs of what has no points differ by {abs(ns['off'] - ns['off-again']) / off:.3f}")
		rows.append({"program": "memcached", "cpu": model(), "workers": int(workers), "events_per_request": events,
			     "ns_per_request": ns, "event_times_peer": ratio})
	if os.environ.get("JSON"):
		with open(os.environ["JSON"], "w", encoding="ascii") as file:
			json.dump(rows, file, indent=1)


main()
