"""The HTTP interface: answers are those of T, and whatever comes is answered with a status that says what to do."""

import asyncio
import contextlib
import json
import warnings

import numpy as np
import pytest
from safetensors.numpy import load, save

import kernop as ko
from kernop.serving.app import application
from kernop.serving.hosted import Hosted
from kernop.serving.refusal import Limits

GAUSSIAN = {"kind": "gaussian", "center": [0.4, 0.3], "width": 0.25, "strength": 2.0}
PLACES = [[0.3, 0.3], [0.5, 0.2], [0.1, 0.9]]


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


def ask(app, method, path, body=b"", **headers):
    """One request, straight to the application."""
    return asyncio.run(asking(app, method, path, body, **headers))


async def asking(app, method, path, body=b"", **headers):
    named = {"host": "localhost", "content-length": str(len(body)), **headers}
    raw = [(k.replace("_", "-").encode(), v.encode()) for k, v in named.items()]
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path}
    scope |= {"raw_path": path.encode(), "query_string": b"", "headers": raw, "scheme": "http", "root_path": ""}
    scope |= {"client": ("1.2.3.4", 5), "server": ("localhost", 80)}
    sent, parts = [], [{"type": "http.request", "body": body, "more_body": False}, {"type": "http.disconnect"}]

    async def receive():
        return parts.pop(0)

    async def send(message):
        sent.append(message)

    with contextlib.suppress(ZeroDivisionError):  # a fault of our own goes on to the log, after the answer
        await app(scope, receive, send)
    return Answer(sent[0]["status"], dict(sent[0]["headers"]), b"".join(m.get("body", b"") for m in sent[1:]))


def post(app, told, path="/operators/disk/solve", **headers):
    body = told if isinstance(told, bytes) else json.dumps(told).encode()
    return ask(app, "POST", path, body, **{"content_type": "application/json", **headers})


@pytest.fixture(scope="module")
def app(operator):
    return application({"disk": operator}, limits=Limits(points=5000, inputs=20, values=40_000, body=10**6))


def gaussian(x):
    return 2.0 * np.exp(-np.sum((x - np.array([0.4, 0.3])) ** 2, axis=1) / (2 * 0.25**2))


def solved(operator, **data):
    with warnings.catch_warnings(action="ignore"):
        return operator(**data)


def test_an_answer_is_that_of_the_operator(app, operator):
    u = solved(operator, f=gaussian, g=0.5)
    asked = {"inputs": {"f": GAUSSIAN, "g": 0.5}, "at": {"points": PLACES}, "want": ["u", "gradient", "error"]}
    for _ in range(3):  # the second time a matrix is made, then it is used
        told = post(app, asked).json
        assert np.allclose(told["values"]["u"], u(PLACES), rtol=1e-9)
        assert np.allclose(told["values"]["gradient of u"], u.grad(PLACES), rtol=1e-9)
    estimate = u.error_estimate(covering=None, search=None)
    assert told["error"]["l2"] == pytest.approx(estimate.l2)
    assert told["error"]["relative_linf"] == pytest.approx(estimate.relative_linf)
    assert told["misfit"] == pytest.approx(u.misfit)
    assert told["inputs"] is None


def test_arrays_batches_and_grids_in_binary(app, operator):
    x = operator.points["f"].x
    h = np.stack([gaussian(x), np.sin(3 * x[:, 0])], axis=1)
    u = solved(operator, f=h, g=0.0)
    request = {"inputs": {"f": {"array": "f"}, "g": 0.0}, "at": {"grid": {"shape": [5, 7]}}}
    body = save({"f": h}, {"request": json.dumps(request)})
    found = post(app, body, content_type="application/octet-stream", accept="application/octet-stream")
    values = load(found.body)["u"]
    assert values.shape == (5, 7, 2)
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 7), indexing="ij"), axis=-1)
    assert np.array_equal(values, u(grid.reshape(-1, 2), outside="nan").reshape(5, 7, 2), equal_nan=True)
    assert np.isnan(values).any()
    asked = {"inputs": [{"f": GAUSSIAN, "g": 0.0}, {"f": h[:, 1].tolist(), "g": 0}], "at": {"grid": {"shape": [5, 7]}}}
    told = post(app, asked).json
    listed = np.array(told["values"]["u"], dtype=float)  # null is NaN
    assert told["inputs"] == 2
    assert np.allclose(listed, values, rtol=1e-9, atol=1e-13, equal_nan=True)


def test_points_of_a_condition_and_what_the_operator_is(app, operator):
    told = ask(app, "GET", "/operators/disk").json
    assert told["inputs"] == ["f", "g"]
    assert told["lower"] == [0, 0]
    assert told["conditions"][0]["points"] == 500
    x = operator.points["g"].x
    assert np.array_equal(ask(app, "GET", "/operators/disk/points/g").json["x"], x)
    binary = ask(app, "GET", "/operators/disk/points/g", accept="application/octet-stream")
    assert np.array_equal(load(binary.body)["x"], x)


@pytest.mark.parametrize(
    ("named", "function"),
    [
        ({"kind": "constant", "value": 2}, lambda x: np.full(len(x), 2.0)),
        ({"kind": "plane", "slope": [1, -2], "constant": 3}, lambda x: 3 + x[:, 0] - 2 * x[:, 1]),
        ({"kind": "sine", "frequency": [3, 1], "phase": 0.2}, lambda x: np.sin(3 * x[:, 0] + x[:, 1] + 0.2)),
        ({"kind": "polynomial", "terms": [{"coefficient": 2, "powers": [2, 1]}]}, lambda x: 2 * x[:, 0] ** 2 * x[:, 1]),
        ({"kind": "sum", "of": [GAUSSIAN, {"kind": "constant", "value": 1}]}, lambda x: gaussian(x) + 1),
    ],
)
def test_named_functions(app, operator, named, function):
    told = post(app, {"inputs": {"f": named, "g": 0}, "at": {"points": PLACES}}).json
    assert np.allclose(told["values"]["u"], solved(operator, f=function, g=0.0)(PLACES), rtol=1e-9)


AT = {"points": PLACES}
GOOD = {"f": 1.0, "g": 0.0}
SUM = {"kind": "sum", "of": [GAUSSIAN]}
WRONG = {
    "no JSON": (b"{", 400, "body"),
    "deep": (b"[" * 100_000, 400, "body"),
    "twice": (b'{"inputs": {}, "inputs": {}}', 400, "body"),
    "digits": (b'{"inputs": ' + b"9" * 5000 + b"}", 400, "body"),
    "NaN": (b'{"inputs": {"f": NaN, "g": 0}}', 422, "body"),
    "huge": ({"inputs": {"f": 1e300, "g": 0}, "at": AT}, 422, "f"),
    "a list": ([1], 422, "body"),
    "a key": ({"inputs": GOOD, "at": AT, "code": "1"}, 422, "body"),
    "no inputs": ({"at": AT}, 422, "inputs"),
    "a missing input": ({"inputs": {"f": 1}, "at": AT}, 422, "inputs"),
    "an unknown input": ({"inputs": {**GOOD, "h": 1}, "at": AT}, 422, "inputs"),
    "a string": ({"inputs": {"f": "lambda x: x", "g": 0}, "at": AT}, 422, "inputs.f"),
    "a short array": ({"inputs": {"f": [1, 2], "g": 0}, "at": AT}, 422, "f"),
    "a ragged array": ({"inputs": {"f": [[1], [2, 3]], "g": 0}, "at": AT}, 422, "inputs.f"),
    "true": ({"inputs": {"f": True, "g": 0}, "at": AT}, 422, "inputs.f"),
    "a kind": ({"inputs": {"f": {"kind": "eval"}, "g": 0}, "at": AT}, 422, "inputs.f"),
    "a width": ({"inputs": {"f": {**GAUSSIAN, "width": 0}, "g": 0}, "at": AT}, 422, "inputs.f.width"),
    "a key of a kind": ({"inputs": {"f": {**GAUSSIAN, "x": 0}, "g": 0}, "at": AT}, 422, "inputs.f"),
    "a sum of sums": ({"inputs": {"f": {"kind": "sum", "of": [SUM]}, "g": 0}, "at": AT}, 422, "inputs.f.of[0]"),
    "an array by name": ({"inputs": {"f": {"array": "f"}, "g": 0}, "at": AT}, 422, "inputs.f"),
    "no places": ({"inputs": GOOD}, 422, "at"),
    "places of one coordinate": ({"inputs": GOOD, "at": {"points": [[0.1]]}}, 422, "at.points"),
    "places outside": ({"inputs": GOOD, "at": {"points": [[3, 3]]}}, 422, "x"),
    "a grid": ({"inputs": GOOD, "at": {"grid": {"shape": [0, 3]}}}, 422, "at.grid.shape"),
    "a grid of floats": ({"inputs": GOOD, "at": {"grid": {"shape": [2.5, 3]}}}, 422, "at.grid.shape"),
    "a corner": ({"inputs": GOOD, "at": {"grid": {"shape": [2, 3], "lower": ["a", 0]}}}, 422, "at.grid.lower"),
    "want": ({"inputs": GOOD, "at": AT, "want": ["everything"]}, 422, "want"),
    "outside": ({"inputs": GOOD, "at": AT, "outside": "extrapolate"}, 422, "outside"),
    "a large grid": ({"inputs": GOOD, "at": {"grid": {"shape": [10**9, 10**9]}}}, 413, "at.grid.shape"),
    "many points": ({"inputs": GOOD, "at": {"points": [[0.1, 0.1]] * 5001}}, 413, "at.points"),
    "many inputs": ({"inputs": [GOOD] * 21, "at": AT}, 413, "inputs"),
    "many values": ({"inputs": [GOOD] * 20, "at": {"grid": {"shape": [60, 60]}}}, 413, "at"),
    "many bytes": (b" " * (10**6 + 1), 413, "body"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_meant_is_refused(app, case):
    told, status, argument = WRONG[case]
    found = post(app, told)
    assert found.status == status, found.body[:300]
    error = found.json["error"]
    assert error["argument"] == argument
    assert error["got"]
    assert error["remedy"]
    assert error["message"].startswith(argument)


@pytest.mark.parametrize("body", [b"", b"\0" * 7, b"\xff" * 64, b"\x10\0\0\0\0\0\0\0{}", save({"f": np.ones(3)})])
def test_damaged_binary_is_refused(app, body):
    assert post(app, body, content_type="application/octet-stream").status in (400, 422)


def test_binary_of_another_kind_is_refused(app):
    body = save({"f": np.ones(500, dtype=np.int64)}, {"request": json.dumps({"inputs": GOOD, "at": AT})})
    assert post(app, body, content_type="application/octet-stream").json["error"]["argument"] == "f"


def test_paths_methods_and_kinds(app):
    assert post(app, {}, path="/operators/other/solve").status == 404
    assert ask(app, "GET", "/nothing").status == 404
    assert ask(app, "GET", "/operators/disk/points/h").status == 404
    assert ask(app, "GET", "/operators/disk/solve").status == 405
    assert post(app, b"x=1", content_type="application/x-www-form-urlencoded").status == 415


def test_an_unresolved_input_is_answered_with_a_warning(app):
    told = post(app, {"inputs": {"f": {"kind": "sine", "frequency": [200, 0]}, "g": 0}, "at": AT}).json
    assert "does not resolve" in told["warnings"][0]


def test_health_metrics_schema_and_documents(app):
    assert ask(app, "GET", "/health").json["status"] == "ok"
    text = ask(app, "GET", "/metrics").body.decode()
    assert 'kernop_requests_total{route="/health",status="200"}' in text
    schema = ask(app, "GET", "/openapi.json").json
    example = schema["paths"]["/operators/{operator}/solve"]["post"]["requestBody"]["content"]["application/json"]
    assert post(app, example["example"]).status == 200
    page = ask(app, "GET", "/docs")
    assert b"/operators/{operator}/solve" in page.body
    assert b"<script" not in page.body
    assert b"script-src 'none'" in page.headers[b"content-security-policy"]


def test_a_token(operator):
    app = application({"disk": operator}, token="secret")
    assert ask(app, "GET", "/operators").status == 401
    assert ask(app, "GET", "/operators", authorization="Bearer wrong").json["error"]["got"] == "a wrong one"
    assert ask(app, "GET", "/operators", authorization="Bearer secret").status == 200
    assert ask(app, "GET", "/operators", authorization="Basic dXNlcjpzZWNyZXQ=").status == 200
    assert ask(app, "GET", "/operators", authorization="Basic ???").status == 401
    assert ask(app, "GET", "/health").status == 200


def test_names_of_other_hosts_are_refused(operator):
    app = application({"disk": operator}, hosts=frozenset({"localhost"}))
    assert ask(app, "GET", "/operators", host="localhost:8000").status == 200
    assert ask(app, "GET", "/operators", host="evil.example").status == 421


def test_work_that_takes_too_long_is_given_up(operator, monkeypatch):
    app = application({"disk": operator}, limits=Limits(seconds=0.05))
    monkeypatch.setattr("kernop.serving.hosted.Hosted.answer", lambda *_: __import__("time").sleep(0.5))
    found = post(app, {"inputs": GOOD, "at": AT})
    assert found.status == 503
    assert found.headers[b"retry-after"] == b"5"


def test_a_fault_of_our_own_tells_nothing(operator, monkeypatch):
    app = application({"disk": operator})

    def fails(*_):
        raise ZeroDivisionError("the inside")

    monkeypatch.setattr("kernop.serving.hosted.Hosted.answer", fails)
    found = post(app, {"inputs": GOOD, "at": AT})
    assert found.status == 500
    assert b"inside" not in found.body


def test_an_operator_from_a_file_tells_its_error(tmp_path):
    D = ko.Interval(0, 1)
    equation = ko.Equation(lambda u: -ko.div((lambda x: 1 + x[..., 0]) * ko.grad(u)), on=D)
    problem = ko.Problem(equation, ko.Dirichlet(on=D.boundary))
    ko.learn(problem, method=ko.Subspace(centers=30), points={"f": 80, "g": 2}).save(tmp_path / "T.kernop")
    app = application({"T": ko.load(tmp_path / "T.kernop")})
    told = post(app, {"inputs": {"f": 1.0, "g": 0.0}, "want": ["error"]}, path="/operators/T/solve").json
    assert told["error"]["source"] == "leave-one-out"
    assert 0 < told["error"]["l2"] < 1e-6


def test_questions_that_wait_are_answered_together(operator, monkeypatch):
    """Forty at once on one thread, some of them wrong: each gets the answer that it gets alone."""
    app, sizes = application({"disk": operator}, threads=1), []
    together = Hosted._together

    def counted(own, asked):
        sizes.append(len(asked))
        return together(own, asked)

    bodies = [{"inputs": {"f": {**GAUSSIAN, "strength": k}, "g": 0.1 * k}, "at": {"points": PLACES}} for k in range(30)]
    bodies += [{**bodies[1], "at": {"points": PLACES[:2]}}, {**bodies[1], "want": ["u", "gradient"]}] * 2
    bodies += [
        {**bodies[1], "inputs": {"f": [1.0], "g": 0}},
        {**bodies[1], "inputs": {"f": {"real": 1, "imag": 2}, "g": 0}},
    ]
    bodies += [{"inputs": [{"f": 1, "g": 0}, {"f": 2, "g": 0}], "at": {"points": PLACES}}] * 4
    alone = [post(app, body) for body in bodies]
    monkeypatch.setattr(Hosted, "_together", counted)

    async def at_once():
        asked = (json.dumps(body).encode() for body in bodies)
        json_ = {"content_type": "application/json"}
        return await asyncio.gather(*(asking(app, "POST", "/operators/disk/solve", own, **json_) for own in asked))

    for body, one, own in zip(bodies, alone, asyncio.run(at_once()), strict=True):
        assert own.status == one.status == (422 if body["inputs"] == bodies[34]["inputs"] else 200)
        if own.status == 422:
            assert own.json == one.json
            continue
        values, expected = own.json.pop("values"), one.json.pop("values")
        assert json.dumps(own.json["warnings"]) == json.dumps(one.json["warnings"])
        np.testing.assert_allclose(own.json["misfit"], one.json["misfit"], rtol=1e-6, atol=1e-13)
        for name, value in expected.items():
            parts = value if isinstance(value, dict) else {"": value}
            found = values[name] if isinstance(value, dict) else {"": values[name]}
            for part, numbers in parts.items():
                np.testing.assert_allclose(found[part], numbers, rtol=1e-10, atol=1e-12)
    assert max(sizes) > 10
