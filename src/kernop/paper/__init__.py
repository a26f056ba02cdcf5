"""The experiments of the paper, one small file each; imported by the command line alone."""

from kernop.paper.darcy import darcy
from kernop.paper.experiment import Experiment, Outcome, measure
from kernop.paper.heat import heat
from kernop.paper.helmholtz import helmholtz
from kernop.paper.schrodinger import schrodinger

__all__ = ["Experiment", "Outcome", "darcy", "heat", "helmholtz", "measure", "schrodinger"]
