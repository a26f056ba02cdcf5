"""Every experiment of the paper but the 3-D one: its estimator and settings against the default, on the same points."""

from __future__ import annotations

from common import interleaved, save, table

from kernop.paper import Experiment, darcy, heat, helmholtz, measure, schrodinger


def experiments() -> list[Experiment]:
    return [
        *(darcy(case) for case in ("a1", "a2", "a3")),
        *(helmholtz(omega) for omega in (20, 200)),
        *(helmholtz(omega, smooth=True) for omega in (20, 200)),
        schrodinger(),
        heat(),
    ]


def run(experiment: Experiment) -> dict[str, float]:
    seconds = interleaved({"full": experiment.learn_as_paper, "default": experiment.learn_by_default}, rounds=7)
    full = measure(experiment, experiment.learn_as_paper())
    default = measure(experiment, experiment.learn_by_default())
    return {
        "paper L2": experiment.paper.l2,
        "full L2": full.mean_l2,
        "full Linf": full.mean_linf,
        "default L2": default.mean_l2,
        "default Linf": default.mean_linf,
        "paper L2 / default L2": experiment.paper.l2 / default.mean_l2,
        "full, s": seconds["full"],
        "default, s": seconds["default"],
        "default / full, time": seconds["default"] / seconds["full"],
    }


def main() -> None:
    results = {experiment.name: run(experiment) for experiment in experiments()}
    headings = ["", "paper L2", "Full L2", "default L2", "paper / default", "Full, s", "default, s", "time ratio"]
    keys = [
        "paper L2",
        "full L2",
        "default L2",
        "paper L2 / default L2",
        "full, s",
        "default, s",
        "default / full, time",
    ]
    forms = ["{:.1e}", "{:.1e}", "{:.1e}", "{:.0e}", "{:.3f}", "{:.3f}", "{:.2f}"]
    rows = [
        [name, *(form.format(row[key]) for key, form in zip(keys, forms, strict=True))] for name, row in results.items()
    ]
    table("The paper's points; errors are means over its test sets, times medians", headings, rows)
    save("accuracy", results)


if __name__ == "__main__":
    main()
