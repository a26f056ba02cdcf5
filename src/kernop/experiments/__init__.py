"""The experiments of the paper, one small file each; imported by the command line alone."""

from kernop.experiments.darcy import darcy
from kernop.experiments.experiment import Experiment, Outcome, measure
from kernop.experiments.heat import heat
from kernop.experiments.helmholtz import helmholtz
from kernop.experiments.schrodinger import schrodinger

__all__ = ["Experiment", "Outcome", "darcy", "heat", "helmholtz", "measure", "schrodinger"]
