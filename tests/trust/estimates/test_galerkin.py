"""Galerkin's solutions against exact ones."""

import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.collocation.probes import resolving
from kernop.collocation.units import frame_of
from kernop.methods import Setting, Subspace
from kernop.trust.estimates.galerkin import galerkin
from kernop.trust.estimates.weakform import weak_form

SQUARE = ko.Box([0, 0], [1, 1])
TOP, REST = SQUARE.face("top"), SQUARE.face("left", "right", "bottom")


def error(problem, u, centres=60, number=1500):
    """The relative error of v in L2, for a solution that is known."""
    operator = ko.learn(problem, points=400, method=ko.Subspace(60))
    several = {"u": u} if problem.unknowns.total > 1 else u
    data = {name: np.asarray(own) for name, own in problem.manufacture(several, operator.points).items()}
    learned, rows = operator(**data).learned, operator.functionals
    form = weak_form(learned, operator.points, number)
    frame = frame_of(problem)
    setting = Setting(rows=rows, frame=resolving(frame, rows.blocks), ansatz=operator.ansatz)
    space = Subspace(centres).expansion(setting, rows, len(rows))
    solver = galerkin(form, space, dict(zip(problem.names, rows.conditions, strict=True)), 1.0)
    h = np.concatenate([np.ravel(data[name].T) for name in problem.names])[:, None]
    x = SQUARE.sample(2000, "uniform", seed=2).x
    found = solver.answer(h).apply(operator.ansatz.evaluations(x))[:, 0]
    true = np.ravel(np.asarray(u(x)).T)
    return np.linalg.norm(found - true) / np.linalg.norm(true)


def test_variable_coefficients_a_flow_and_a_robin_condition():
    """Sums over points leave per mils; without the flow, or with a flux of the wrong sign, it would be per cents."""
    op = lambda u: -ko.div((lambda x: 1.0 + x[..., 0]) * ko.grad(u)) + 3.0 * ko.partial(u, 1) + 2.0 * u
    problem = ko.Problem(
        ko.Equation(op, on=SQUARE, name="f"),
        ko.Dirichlet(on=REST, name="g"),
        ko.Robin(1.0, 2.0, on=TOP, name="q"),
    )
    assert error(problem, lambda x: jnp.sin(2.0 * x[..., 0] + 1.0) * jnp.exp(x[..., 1])) < 5e-3


def test_an_elastic_body_under_traction():
    stress = lambda u: 2.0 * ko.sym(ko.grad(u)) + 1.5 * ko.trace(ko.grad(u)) * ko.identity(2)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(stress(u)), on=SQUARE, name="f"),
        ko.Dirichlet(on=REST, name="g"),
        ko.Condition(lambda u: ko.normal_component(stress(u)), on=TOP, name="q"),
        unknowns={"u": 2},
    )
    u = lambda x: jnp.stack([jnp.sin(2.0 * x[..., 1]), jnp.cos(x[..., 0] + x[..., 1])], axis=-1)
    assert error(problem, u) < 1e-2
