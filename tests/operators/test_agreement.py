"""load(path, problem=…): the problem that was learned is taken, every other one refused with what differs."""

import jax.numpy as jnp
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError

BOX = ko.Box([0.0, 0.0], [1.0, 1.0])


def left(x):
    return x[..., 0] < 0.5


def problem(
    a=lambda x: jnp.exp(x[..., 0]),
    on=BOX,
    name="f",
    data=0.0,
    predicate=left,
    side="left",
    known=lambda x: jnp.cos(x[..., 1]),
):
    return ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=on, name=name),
        ko.Dirichlet(on=on.face(side), name="g", data=data),
        ko.Neumann(on=on.face("right"), name="q", data=known),
        ko.Dirichlet(on=on.face("top").where(predicate), name="t"),
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("agreement") / "file.kernop"
    ko.learn(problem(), points=60, method=ko.Subspace(10)).save(path)
    return path


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.filterwarnings("ignore::kernop.errors.IllPosedWarning")
def test_the_same_problem_written_again(path):
    mine = problem()
    T = ko.load(path, problem=mine)
    assert T.problem is mine
    T(f=1.0, t=0.0).residual("f", BOX.sample(3, seed=8))


@pytest.mark.parametrize(
    ("other", "match"),
    [
        (lambda: problem(name="h"), "the conditions h, g, q, t where f, g, q, t were learned"),
        (lambda: problem(on=ko.Box([0.0, 0.0], [1.0, 2.0])), r"'f' on Box\(.*2\.0\]\), not on Box"),
        (lambda: problem(side="bottom"), r"'g' on .*face\('x1-'\), not on .*face\('x0-'\)"),
        (lambda: problem(a=lambda x: jnp.exp(x[..., 0]) * (1 + 1e-8)), r"'f' has the coefficient .* of ∂\^"),
        (lambda: problem(a=lambda x: 1.0), r"'f' has the coefficient .* of ∂\^\(0, 2\) at x = .*, not "),
        (lambda: problem(data=1.0), "'g' with other data"),
        (lambda: problem(data=None), "'g' with other data"),
        (lambda: problem(data=lambda x: 0.0), "'g' with other data"),
        (lambda: problem(known=lambda x: jnp.sin(x[..., 1])), "'q' with other data"),
        (lambda: problem(predicate=lambda x: x[..., 0] > 0.5), "to which some of the stored points do not belong"),
        (lambda: ko.Problem(ko.Equation(lambda u: u, on=ko.Interval(0.0, 1.0))), "the conditions f where f, g, q, t"),
    ],
)
def test_another_problem_is_refused(path, other, match):
    with pytest.raises(ArgumentError, match=f"problem: got another one than the one in the file: .*{match}"):
        ko.load(path, problem=other())


def test_rounding_is_no_difference(path):
    same = problem(a=lambda x: jnp.exp(0.5 * x[..., 0]) ** 2)
    assert ko.load(path, problem=same).problem is same
