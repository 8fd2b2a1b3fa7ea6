# SPDX-License-Identifier: BSD-2-Clause
"""filter_truth.py KTR TRACE N SEED: N random expressions over the numbers and texts of a trace's events.

Each is evaluated here, by the rules of ktr-filter(7), over all events as `ktr json` prints them, and must choose the
same ones as `ktr json --filter` and as many as `ktr dump --count --filter`. One line says how many were tried and how
many chose some but not all; what differs is shown, and the exit status is 1 then.
"""
import json
import random
import subprocess
import sys

ktr, trace, n, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rng = random.Random(seed)
TOP = 1 << 63
WORDS = ["", "a", "left", "right", "a longer text of more than sixteen bytes"]


def run(*args):
	return subprocess.run([ktr, *args, trace], capture_output=True, text=True, check=False)


def wrap(value, unsigned):
	value &= 2 * TOP - 1
	return value if unsigned or value < TOP else value - 2 * TOP


def arithmetic(op, x, y):
	"""None: no value."""
	if isinstance(x, float) or isinstance(y, float):
		exact = {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y if y else None}
		return exact[op]() if op in exact else None
	unsigned = x >= TOP or y >= TOP
	if op in "/%":
		x, y = wrap(x, unsigned), wrap(y, unsigned)
		if y == 0:
			return None
		quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
		return wrap(quotient if op == "/" else x - y * quotient, unsigned)
	return wrap({"+": x + y, "-": x - y, "*": x * y, "&": x & y, "|": x | y, "^": x ^ y}[op], unsigned)


class Argument:
	def __init__(self, i):
		self.i = i
		self.text = f"arg{i}"

	def value(self, event):
		args = list(event["args"].values())
		return args[self.i] if self.i < len(args) else None


class Named(Argument):
	def __init__(self, name):
		super().__init__(0)
		self.text = name

	def value(self, event):
		return event["args"].get(self.text)


class Field(Named):
	def value(self, event):
		return event[self.text]


class Constant:
	def __init__(self):
		self.number = rng.choice([rng.randrange(16), -rng.randrange(1, 130), rng.randrange(100),
					  1 << rng.randrange(64), TOP - 1, 2 * TOP - rng.randrange(1, 300)])
		self.text = str(self.number) if self.number < 0 else rng.choice([str, hex])(self.number)

	def value(self, event):
		return self.number


class Both:
	def __init__(self, depth):
		self.op = rng.choice("+-*/%&|^")
		self.x, self.y = number(depth - 1), number(depth - 1) if self.op != "/" else Constant()
		self.text = f"({self.x.text} {self.op} {self.y.text})"

	def value(self, event):
		x, y = self.x.value(event), self.y.value(event)
		return None if x is None or y is None or isinstance(x, str) or isinstance(y, str) else arithmetic(self.op, x, y)


def number(depth):
	if depth > 0 and rng.random() < 0.5:
		return Both(depth)
	return rng.choice([lambda: Argument(rng.randrange(4)), lambda: Named(rng.choice(["n", "size", "small"])),
			   lambda: Field("cpu"), lambda: Field("index"), Constant])()


class Comparison:
	def __init__(self):
		self.op = rng.choice(["==", "!=", "<", "<=", ">", ">="])
		self.x = number(rng.randrange(3))
		self.y = rng.choice([number(1), Constant(), Constant()])
		if rng.random() < 0.2:
			self.x, self.y = Argument(rng.randrange(4)), None
			self.word = rng.choice(WORDS)
		self.text = f"{self.x.text} {self.op} " + (self.y.text if self.y else f'"{self.word}"')

	def holds(self, event):
		"""None: there is no value."""
		x = self.x.value(event)
		y = self.y.value(event) if self.y else self.word
		if x is None or y is None or isinstance(x, str) != isinstance(y, str):
			return None
		if isinstance(x, str):
			x, y = x.encode(), y.encode()
		return {"==": x == y, "!=": x != y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[self.op]


class Within:
	def __init__(self):
		self.x = number(1)
		self.list = [(low, low + rng.choice([0, 0, rng.randrange(100)]))
			     for low in (rng.randrange(300) for _ in range(rng.randrange(1, 4)))]
		self.text = f"{self.x.text} in (" + ", ".join(f"{a}..{b}" if b > a else f"{a}" for a, b in self.list) + ")"

	def holds(self, event):
		x = self.x.value(event)
		return any(a <= x <= b for a, b in self.list) if isinstance(x, (int, float)) else None


class Not:
	def __init__(self):
		self.of = rng.choice([Comparison, Within])()
		self.text = f"not {self.of.text}"

	def holds(self, event):
		of = self.of.holds(event)
		return None if of is None else not of


class Some:
	def __init__(self):
		self.op = rng.choice(["and", "or"])
		self.of = [rng.choice([Comparison, Within, Not])() for _ in range(2)]
		self.text = f" {self.op} ".join(of.text for of in self.of)

	def holds(self, event):
		held = [of.holds(event) is True for of in self.of]
		return all(held) if self.op == "and" else any(held)


def main():
	events = [json.loads(line) for line in run("json", "--events").stdout.splitlines()]
	partly = failed = 0
	for _ in range(n):
		expression = rng.choice([Comparison, Within, Not, Some])()
		wanted = [event for event in events if expression.holds(event) is True]
		printed = run("json", "--events", "--filter", expression.text)
		found = [json.loads(line) for line in printed.stdout.splitlines()]
		counted = run("dump", "--count", "--filter", expression.text).stdout.strip()
		partly += 0 < len(wanted) < len(events)
		if found != wanted or counted != str(len(wanted)):
			failed += 1
			print(f"{expression.text}: {len(found)} and {counted} events, not {len(wanted)} {printed.stderr}")
	print(f"{n} expressions over {len(events)} events, {partly} choose some of them, {failed} wrong")
	return 1 if failed or not partly else 0


sys.exit(main())
