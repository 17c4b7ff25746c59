# SPDX-License-Identifier: Apache-2.0
"""The list of attempts (attack/rows.txt), and what became of each: tests/run's closing matrix."""
import collections
import os

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "attack", "rows.txt")
NEEDS_ALLOW = "needs mode = allow"
FORMS = ("control", "full", "in place")
Row = collections.namedtuple("Row", "id what tests allow")


def read_list():
    rows = {}
    with open(LIST) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                row = parse(line)
                if row.id in rows:
                    raise ValueError(f"{LIST}: {row.id} is there twice")
                rows[row.id] = row
    return rows


def parse(line):
    parts = [part.strip() for part in line.split("|")] + [""]
    named = [] if parts[2] == "allow" else [t.strip() for t in parts[2].split(",") if t.strip()]
    return Row(parts[0], parts[1], named, parts[2] == "allow")


def belongs(label, test):
    """Whether "FILE" or "FILE NAME" means that test; a name means all of its cases."""
    file, _, name = label.partition(" ")
    return test.file == file and name in ("", test.name, test.name.split("[")[0])


class Matrix:
    def __init__(self, tests):
        self.list, self.tests = read_list(), tests
        self.attempts = collections.defaultdict(list)  # id: [caller, form, outcome, lost]
        self.results = {}  # test and caller: state

    def wrong(self):
        """What the list and the tests do not agree on."""
        tried = {test.row for test in self.tests if test.row}
        found = [f"{row}: no such id in {LIST}" for row in sorted(tried - set(self.list))]
        for row in self.list.values():
            if not row.tests and not row.allow and row.id not in tried:
                found.append(f"{row.id}: nobody tries it")
            found += [f"{row.id}: there is no test {label}" for label in row.tests
                      if not any(belongs(label, test) for test in self.tests)]
        return found

    def words(self):
        """Tests that the matrix needs besides attack/."""
        return {label for row in self.list.values() for label in row.tests}

    def wanted(self, test):
        return bool(test.row) or any(belongs(label, test) for label in self.words())

    def add(self, test, caller, state, rows):
        self.results[test.file, test.name, caller] = state
        for row, by, form, outcome, lost in rows:
            self.attempts[row].append((test.name, by, form, outcome, lost))

    def of_test(self, label):
        """Callers by state of a test that a row names."""
        states = collections.defaultdict(set)
        for test in self.tests:
            for (file, name, caller), state in self.results.items():
                if (file, name) == (test.file, test.name) and belongs(label, test):
                    states[state].add(caller)
        return states

    def show(self):
        for row in self.list.values():
            print(f"{row.id:4} {row.what}")
            if row.allow:
                print(f"     {NEEDS_ALLOW}")
            for name in dict.fromkeys(entry[0] for entry in self.attempts[row.id]):
                self.show_attempt([e for e in self.attempts[row.id] if e[0] == name], name)
            for label in row.tests:
                states = self.of_test(label)
                text = "; ".join(f"{state}: {', '.join(sorted(callers))}" for state, callers in sorted(states.items()))
                print(f"     {label}: {text or 'not run'}")

    def show_attempt(self, entries, name):
        print(f"     {name}")
        for caller in dict.fromkeys(entry[1] for entry in entries):
            mine = {form: outcome for _, by, form, outcome, _ in entries if by == caller}
            print(f"       {caller:5} " + "   ".join(f"{form}: {mine.get(form, '-')}" for form in FORMS))
        for lost in dict.fromkeys((entry[2], entry[4]) for entry in entries if entry[4]):
            print(f"       {lost[0]} does not stop it: {lost[1]}")

    def summary(self):
        own = sum(row.startswith("X") for row in self.list)
        allow = sum(row.allow for row in self.list.values())
        outcomes = sum(len(entries) for entries in self.attempts.values())
        return f"{len(self.list)} rows, {own} of them ours, {allow} need mode = allow; {outcomes} outcomes"
