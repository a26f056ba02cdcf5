"""Malformed calls of the public interface: what comes of each. Exits with 1 if any is not answered as promised.

Usage: python benchmarks/fuzz_api.py [number of calls] [seed]. What is promised is in docs/bad-input.md.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from common import console, save, table
from fuzzing.calls import catalogue
from fuzzing.judge import GOOD, Case, Verdict, cases_of, judge, numbers

#: Bytes of address space: what asks for more gets a MemoryError, which is an outcome, and the machine stays well.
ROOM = 8 * 2**30
#: Seconds after which a call that does not come back is shown and ends the run.
PATIENCE = 120


def drawn(number: int, seed: int) -> list[Case]:
    """So many different cases, each call alike: some have a hundred times more arguments to spoil than others."""
    rng = np.random.default_rng(seed)
    waiting = [list(rng.permutation(np.array(cases_of(call), dtype=object))) for call in catalogue()]
    found: list[Case] = []
    while len(found) < number and any(waiting):
        found += [cases.pop() for cases in waiting if cases]
    return found[:number]


def run(cases: list[Case]) -> list[Verdict]:
    expected = {case.call: numbers(case.call.run(**case.call.good)) for case in cases}
    verdicts: list[Verdict] = []
    for case in cases:
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        verdicts.append(judge(case, expected[case.call]))
        faulthandler.cancel_dump_traceback_later()
    return verdicts


def main() -> None:
    number, seed = (int(value) for value in (*sys.argv[1:], *("2000", "0")[len(sys.argv) - 1 :]))
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # some calls write files
        verdicts = run(drawn(number, seed))
        os.chdir(home)
    bad = [verdict for verdict in verdicts if not verdict.good]
    outcomes = [*GOOD, *sorted({verdict.outcome for verdict in bad})]
    for title, key in (("function", lambda case: case.call.name), ("kind of input", lambda case: case.mutation.kind)):
        counts = {name: Counter() for name in dict.fromkeys(key(verdict.case) for verdict in verdicts)}
        for verdict in verdicts:
            counts[key(verdict.case)][verdict.outcome] += 1
        rows = [[name, *(str(count[outcome] or "") for outcome in outcomes)] for name, count in counts.items()]
        table(f"{len(verdicts)} malformed calls, by {title}", [title, *outcomes], rows)
    errors = Counter(verdict.detail.partition(":")[0] for verdict in verdicts if verdict.outcome == "refused")
    table("Refusals, by class of error", ["class", "calls"], [[name, str(n)] for name, n in errors.most_common()])
    for verdict in bad:
        console.print(f"[bold]{verdict.outcome}[/bold]: {verdict.case}: {verdict.detail}", markup=True)
    totals = dict(Counter(verdict.outcome for verdict in verdicts))
    save("fuzz_api", {"seed": seed, "calls": len(verdicts), "outcomes": totals, "refusals": dict(errors)})
    console.print(f"{len(verdicts)} calls, {len(bad)} not answered as promised.")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
