"""The matrices of a page against T itself, and against a solution in closed form."""

import base64
import json
import warnings

import numpy as np
import pytest

import kernop as ko
from kernop.errors import ArgumentError, ArgumentTypeError
from kernop.serving import page
from kernop.serving.error_table import estimated, sources_asked
from kernop.serving.export import script_hashes
from kernop.serving.family import Channel, channels, gaussians, modes
from kernop.serving.reduced import SLOPES, Responses, reduced
from kernop.serving.stage import stage_of


@pytest.fixture(scope="module")
def stage(operator):
    return stage_of(operator.problem, 25)


@pytest.fixture(scope="module")
def model(operator, stage, wide):
    return reduced(Responses(operator, stage), Channel("f"), 300)


def test_the_grid_is_over_the_domain(operator, stage):
    x = stage.places(stage.nodes)
    assert stage.shape == (25, 25)
    assert np.all(operator.problem.contains(np.clip(x, 0, 1)))
    assert np.all(np.linalg.norm(x - [0.7, 0.65], axis=1) > 0.15 - 1e-9)
    assert len(stage.nodes) == np.sum(np.hypot(*(np.indices((25, 25)).reshape(2, -1) / 24 - [[0.7], [0.65]])) >= 0.15)
    assert np.all(operator.problem.contains(stage.places(stage.arrows)))
    assert np.all(stage.inside(stage.nodes))
    centre = [round(10 * 24 * 0.65), round(10 * 24 * 0.7)]
    assert not stage.mask[0][*centre]
    assert stage.mask[0][0, 0]


def test_a_cut_of_a_ball_is_told_frame_by_frame():
    B = ko.Ball([0, 0, 0], 1.0)
    stage = stage_of(ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=B), ko.Dirichlet(on=B.boundary)), 11)
    x, inside = stage.places(stage.nodes), stage.inside(stage.nodes)
    radius = np.linalg.norm(x, axis=1)
    assert len(inside) == len(stage.frames) * len(stage.nodes)
    clear = np.abs(radius - 1) > 1e-6
    assert np.array_equal(inside[clear], radius[clear] < 1)


def test_the_product_is_the_answer_of_the_operator(operator, stage, model):
    """A source anywhere, of any width in between, that was not among those that were solved."""
    rng, nodes = np.random.default_rng(5), len(stage.nodes)
    places = stage.places(stage.nodes)
    for centre in ([0.2, 0.3], [0.93, 0.05], [0.5, 0.85]):
        width = rng.uniform(*model.widths)
        h = np.exp(-np.sum((model.points - centre) ** 2, axis=1) / (2 * width**2))
        rows = model.left @ (model.right @ h.astype(np.float32))
        with warnings.catch_warnings(action="ignore"):
            u = operator(
                f=lambda x, c=centre, w=width: np.exp(-np.sum((x - np.array(c)) ** 2, axis=1) / (2 * w**2)), g=0.0
            )
        truth = u(places)
        assert np.max(np.abs(rows[:nodes] - truth)) < 2e-6 * np.max(np.abs(truth))
        slopes = rows[nodes:].reshape(2, -1) / (SLOPES * stage.side)
        true = u.grad(stage.places(stage.arrows)).T
        assert np.max(np.abs(slopes - true)) < 1e-4 * np.max(np.abs(true))
    assert model.left_out < 2e-6


def test_what_is_lost_is_an_upper_bound_at_every_width(operator, stage, model, wide):
    """Against T, for sources that were neither solved nor tested, on the boundary too."""
    rng, places = np.random.default_rng(9), stage.places(stage.nodes)
    centres = np.concatenate([rng.uniform(size=(20, 2)) * [0.5, 1.0], operator.points["g"].x[3:160:8] * 0.999])
    for part in (0.0, 0.1, 0.3, 0.45, 0.6, 0.8, 0.99):
        width = model.widths[0] * (model.widths[1] / model.widths[0]) ** part
        source = gaussians(centres, np.full(len(centres), width))
        with warnings.catch_warnings(action="ignore"):
            truth = operator(f=source, g=np.zeros((len(operator.points["g"]), len(centres))))(places)
        found = (model.left @ (model.right @ source(model.points).astype(np.float32)))[: len(places)]
        assert np.max(np.abs(found - truth)) < model.lost[int(part * len(model.lost))]
    assert np.max(model.lost) < 1e-5 * model.size


def test_truncation_is_told_and_not_hidden(operator, stage, wide, monkeypatch):
    monkeypatch.setattr("kernop.serving.reduced.MOST", 12)
    assert reduced(Responses(operator, stage), Channel("f"), 200).left_out > 1e-3


def test_errors_in_the_table_are_those_of_the_operator(operator, stage, model):
    asked = sources_asked(Channel("f"), model.widths, stage)
    (errors,), how = estimated(operator, [asked])
    assert "fresh points" in how
    assert errors.shape == (3 * 7 * 7,)
    k = np.ravel_multi_index((1, 2, 4), asked.shape)
    width, centre = np.sqrt(np.prod(model.widths)), np.array([2 / 6, 4 / 6])
    with warnings.catch_warnings(action="ignore"):
        u = operator(f=lambda x: np.exp(-np.sum((x - centre) ** 2, axis=1) / (2 * width**2)), g=0.0)
        assert errors[k] == pytest.approx(u.error_estimate(covering=None, search=None).l2, rel=1e-6)


def test_a_file_without_its_functions_still_tells_its_errors(tmp_path):
    """Coefficients that are functions are not in the file: then leave-one-out residuals tell."""
    D = ko.Interval(0, 1)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div((lambda x: 1 + x[..., 0]) * ko.grad(u)), on=D), ko.Dirichlet(on=D.boundary)
    )
    ko.learn(problem, method=ko.Subspace(centers=30), points={"f": 80, "g": 2}).save(tmp_path / "T.kernop")
    operator = ko.load(tmp_path / "T.kernop")
    stage = stage_of(operator.problem)
    (errors,), how = estimated(operator, [sources_asked(Channel("f"), (0.1, 0.3), stage)])
    assert "leave-one-out" in how
    assert np.all(np.isfinite(errors))


def test_channels_of_space_and_time_and_of_vectors():
    Q = ko.SpaceTime(ko.Interval(0, 1), (0.0, 1.0))
    problem = ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=Q),
        ko.Dirichlet(on=Q.walls),
        ko.Initial(on=Q.initial),
    )
    with warnings.catch_warnings(action="ignore"):
        T = ko.learn(problem, method=ko.Subspace(centers=60), points={"f": 150, "g": 30, "u0": 20})
    taken, rest = channels(T)
    assert [own.label for own in taken] == ["f", "u0"]
    assert [own.label for own in rest] == ["g"]
    stage = stage_of(T.problem)
    assert stage.shown == 1
    assert len(stage.frames) == 41
    assert [mode.name for mode in modes(T, rest[0], stage, False)] == ["constant", "slope"]
    u = T.answer({"f": 0.0, "g": 0.0, "u0": lambda x: np.sin(np.pi * x[..., 0])})
    responses = Responses(T, stage)
    rows = responses(Channel("u0"), np.sin(np.pi * T.points["u0"].x[:, :1])).reshape(41, 121)
    assert np.allclose(rows[10, 60], u([[0.5, 0.25]])[0], rtol=1e-9)  # frame by frame
    assert Channel("f", 1, 2).data(np.ones((3, 4)))[:, :, 0].tolist() == [[0, 1]] * 3


def test_a_page_shows_three_coordinates_at_most():
    D = ko.Box([0] * 4, [1] * 4)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=D), ko.Dirichlet(on=D.boundary))
    with pytest.raises(ArgumentError, match="4 coordinates"):
        stage_of(problem)
    with pytest.raises(ArgumentTypeError, match="learn or load"):
        page(3)


def test_gaussians():
    x = np.random.default_rng(0).uniform(size=(5, 3))
    found = gaussians(np.array([[0.1, 0.2]]), np.array([0.3]))(x)
    assert np.allclose(found[:, 0], np.exp(-((x[:, 0] - 0.1) ** 2 + (x[:, 1] - 0.2) ** 2) / (2 * 0.09)), rtol=1e-12)


def test_the_page_is_one_file_and_holds_no_markup_of_others(operator):
    html = page(operator, "</script><b>{{data}}", nodes=11, sources=60)
    model = json.loads(html.split('id="model">')[1].split("</script>")[0])
    assert model["title"] == "</script><b>{{data}}"
    assert html.count("</script>") == 3
    block = base64.b64decode(html.split('id="data">')[1].split("</script>")[0])
    place = model["channels"][0]["left"]
    rows, rank = place["shape"]
    left = np.frombuffer(block, "<f4", rows * rank, place["at"]).reshape(rows, rank)
    assert np.allclose(left.T @ left, np.eye(rank), atol=1e-5)
    for word in ("http://", "https://", "@import", "src="):
        assert word not in html.replace("http://www.w3.org/2000/svg", "")
    assert script_hashes(html).count("sha256-") == 1
