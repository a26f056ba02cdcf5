"""The live page in a real Chromium: a source is dragged, and u on the page is T's own answer.

``KERNOP_SCREENSHOTS=docs/figures`` keeps the pictures of a larger operator for the documents.
"""

import os
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, chromium
from PIL import Image

import kernop as ko
from kernop.serving import page, write_page

pytestmark = pytest.mark.skipif(chromium() is None, reason="BROWSER TEST SKIPPED: there is no Chromium here")


@pytest.fixture(scope="module")
def browser():
    with Browser() as found:
        yield found


@pytest.fixture(scope="module")
def file(operator, wide, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page(operator, "Poisson", nodes=33, sources=300), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser, file):
    browser.events.clear()
    browser.viewport(1280, 900)
    browser.open(file.as_uri(), "window.kernop && window.kernop.range")
    browser.settle()
    return browser


def at(browser, x, y):
    """The pixel of a place of the picture of the unit square."""
    box = browser.run("(() => { const b = document.getElementById('map').getBoundingClientRect();"
                      " return [b.left, b.top, b.width, b.height]; })()")  # fmt: skip
    return box[0] + x * box[2], box[1] + (1 - y) * box[3]


def answer(operator, browser, state):
    """T's own answer at the probe to the sources and sliders of the page."""
    modes = browser.run("kernop.operator.modes.map((m) => ({group: m.group, powers: m.powers}))")

    def sources(x):
        return sum(
            s["strength"] * np.exp(-np.sum((x - np.array(s["at"])) ** 2, axis=1) / (2 * s["width"] ** 2))
            for s in state["sources"]
        )

    def data(group):
        def values(x):
            found = sources(x) if group == "f" else np.zeros(len(x))
            for mode, strength in zip(modes, state["sliders"], strict=True):
                if mode["group"] == group:
                    powers = np.array([*mode["powers"], 0, 0][:2])
                    found = found + strength * np.prod((2 * x - 1) ** powers, axis=1)
            return found

        return values

    with warnings.catch_warnings(action="ignore"):
        return float(operator(f=data("f"), g=data("g"))([state["probe"]])[0])


def same(browser, operator):
    """u at the probe, which is T's answer to what the page itself says it leaves out; the last input is answered."""
    browser.until("kernop.settled")
    state = browser.run("({sources: kernop.state.sources, sliders: kernop.state.sliders, probe: kernop.state.probe, "
                        "value: kernop.value(), lost: kernop.lost, settled: kernop.settled, "
                        "size: Math.max(-kernop.extent.low, kernop.extent.high)})")  # fmt: skip
    shown, size = state["value"], state["size"]
    assert state["settled"]  # nothing moved while it was read
    assert state["lost"] < 2e-5 * size
    assert shown == pytest.approx(answer(operator, browser, state), abs=state["lost"])
    assert abs(shown) > 1e-2 * size  # there is something to compare
    return shown


def moved_to(browser, place):
    """Wait until the first source is there, to a pixel."""
    browser.until(f"Math.hypot(kernop.state.sources[0].at[0] - {place[0]}, kernop.state.sources[0].at[1] - {place[1]})"
                  " < 3e-3")  # fmt: skip
    return browser.run("kernop.state.sources[0].at.slice()")


def test_a_dragged_source_gives_the_answer_of_the_operator(opened, operator):
    first = same(opened, operator)
    begun = opened.run("kernop.state.sources[0].at.slice()")
    opened.mouse("mousePressed", *at(opened, *begun))
    for t in np.linspace(0, 1, 30):
        opened.mouse("mouseMoved", *at(opened, begun[0] + 0.12 * t, begun[1] - 0.25 * t))
    opened.mouse("mouseReleased", *at(opened, begun[0] + 0.12, begun[1] - 0.25))
    moved = moved_to(opened, (begun[0] + 0.12, begun[1] - 0.25))
    assert same(opened, operator) != pytest.approx(first, rel=1e-3)
    # Into the hole it does not go.
    opened.mouse("mousePressed", *at(opened, *moved))
    opened.mouse("mouseMoved", *at(opened, 0.7, 0.65))
    opened.mouse("mouseReleased", *at(opened, 0.7, 0.65))
    assert opened.run("kernop.state.sources[0].at.slice()") == pytest.approx(moved)
    # Sliders: of the source, and of the boundary.
    for label, value in (("g: slope in x", "0.5"), ("f: constant", "-20")):
        opened.run(f"(() => {{ const s = document.querySelector('[aria-label=\"{label}\"]'); s.value = '{value}';"
                   " s.dispatchEvent(new Event('input')); })()")  # fmt: skip
    same(opened, operator)
    assert opened.complaints() == []
    assert [url for url in opened.requests() if not url.startswith("file:")] == []


def test_thirty_frames_in_a_second(opened):
    """Of its own clock: what one frame costs, whatever else runs on the machine, at its best of ten."""
    best = opened.run("""(async () => {
        const times = [];
        for (let k = 0; k < 10; k++) {
            const begun = performance.now();
            kernop.asked++;
            kernop.state.sources[0].at[0] += 0.001;
            kernop.frame(begun);
            times.push(performance.now() - begun);
        }
        return Math.min(...times);
    })()""")
    assert best < 1000 / 30


def test_keys_move_the_source_and_clicks_move_the_probe(opened, operator):
    before = opened.run("document.querySelector('.handle').focus(), kernop.state.sources[0].at.slice()")
    for _ in range(3):
        opened.key("ArrowRight", 39)
    opened.key("ArrowUp", 38)
    assert opened.run("kernop.state.sources[0].at") == pytest.approx([before[0] + 0.03, before[1] + 0.01])
    assert "Arrow keys" in opened.run("document.activeElement.getAttribute('aria-label')")
    for kind in ("mousePressed", "mouseReleased"):
        opened.mouse(kind, *at(opened, 0.25, 0.251))
    assert opened.run("kernop.state.probe") == pytest.approx([0.25, 0.25])
    shown = same(opened, operator)
    text = opened.run("document.getElementById('probe-value').textContent")
    assert float(text.replace("−", "-")) == pytest.approx(shown, rel=1e-3)
    opened.key("Tab", 9)
    unnamed = "[...document.querySelectorAll('button,input,select')].filter((e) => !e.labels?.length && "
    unnamed += "!e.getAttribute('aria-label') && !e.textContent.trim()).length"
    assert opened.run(unnamed) == 0


def test_the_error_follows_the_source_and_adds_up(opened, operator):
    error = opened.run("kernop.error")
    opened.run("kernop.state.sources.forEach((s) => { s.strength *= 3; }), kernop.solve()")
    opened.until("kernop.settled")
    assert opened.run("kernop.error") == pytest.approx(3 * error)
    # At an entry of the table it is what T says.
    opened.run("kernop.state.sources.splice(1), Object.assign(kernop.state.sources[0], {at: [0.5, 0.5], strength: 1, "
               "width: kernop.operator.channels[0].widths[0]}), kernop.solve()")  # fmt: skip
    opened.until("kernop.settled")
    with warnings.catch_warnings(action="ignore"):
        u = operator(f=lambda x: np.exp(-np.sum((x - 0.5) ** 2, axis=1) / (2 * 0.2**2)), g=0.0)
        told = u.error_estimate(covering=None, search=None).l2
    assert opened.run("kernop.error") == pytest.approx(told, rel=1e-6)


def test_the_page_says_when_it_is_shorter_than_the_operator(browser, operator, wide, tmp_path, monkeypatch):
    """Eight singular vectors are far too few: the difference to T is within what is said, and it is said in words."""
    monkeypatch.setattr("kernop.serving.reduced.MOST", 8)
    (tmp_path / "short.html").write_text(page(operator, nodes=17, sources=100), encoding="utf-8")
    browser.open((tmp_path / "short.html").as_uri(), "window.kernop && window.kernop.range")
    browser.until("kernop.settled")
    assert "shortens T too much" in browser.run("document.getElementById('error-word').textContent")
    state = browser.run("({...kernop.state, value: kernop.value(), lost: kernop.lost})")
    truth = answer(operator, browser, state)
    assert 1e-4 * abs(truth) < abs(state["value"] - truth) < state["lost"]


def test_sources_that_cancel_are_less_certain(opened):
    """Two equal sources of opposite sign: u is next to nothing, and the error beside it is not."""
    opened.run("Object.assign(kernop.state.sources[1], kernop.state.sources[0], {at: [...kernop.state.sources[0].at], "
               "strength: -0.999 * kernop.state.sources[0].strength}), kernop.solve()")  # fmt: skip
    opened.until("kernop.settled")
    lost, rms = opened.run("[kernop.lost, kernop.extent.rms]")
    assert 1e-5 < lost / rms < 1e-1


def test_a_phone_in_the_dark(opened, tmp_path):
    opened.viewport(390, 844, mobile=True, scale=2.0)
    opened.dark(True)
    opened.settle()
    assert opened.run("document.documentElement.scrollWidth") <= 390
    assert opened.run("document.documentElement.dataset.theme") == "dark"
    x, y = at(opened, *opened.run("kernop.state.sources[0].at"))
    before = opened.run("kernop.state.sources[0].at.slice()")
    opened.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
    for k in range(8):
        opened.send("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x - 5 * k, "y": y + 3 * k}])
    opened.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    opened.until(f"kernop.state.sources[0].at[0] < {before[0]} - 0.05 && "
                 f"kernop.state.sources[0].at[1] < {before[1]} - 0.03")  # fmt: skip
    opened.dark(False)


def test_data_and_python_are_what_is_shown(opened, operator):
    text = opened.run("(() => { let found; const old = URL.createObjectURL; URL.createObjectURL = (b) => "
                      "{ found = b; return old(b); }; document.getElementById('save-data').click(); "
                      "URL.createObjectURL = old; return found.text(); })()")  # fmt: skip
    table = np.array([list(map(float, line.split(","))) for line in text.splitlines()[1:]])
    assert text.startswith("x,y,u\n")
    code = opened.run("asPython(kernop)").replace('ko.load("operator.kernop")', "T")
    found = {"T": operator}
    with warnings.catch_warnings(action="ignore"):
        exec(code, found)
    u = found["u"](table[:, :2], outside="nan")
    inside = np.isfinite(u)
    assert inside.mean() > 0.98
    assert np.max(np.abs(table[inside, 2] - u[inside])) < 3e-6 * np.max(np.abs(u[inside]))


def test_time_is_played(browser, wide, tmp_path):
    Q = ko.SpaceTime(ko.Interval(0, 1), (0.0, 0.2))
    problem = ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=Q, name="f"),
        ko.Dirichlet(on=Q.walls, name="g"),
        ko.Initial(on=Q.initial, name="u0"),
    )
    with warnings.catch_warnings(action="ignore"):
        T = ko.learn(problem, method=ko.Subspace(centers=90), points={"f": 220, "g": 40, "u0": 30})
    (tmp_path / "heat.html").write_text(page(T, nodes=31, sources=80), encoding="utf-8")
    browser.viewport(1100, 800)
    browser.open((tmp_path / "heat.html").as_uri(), "window.kernop && window.kernop.range")
    browser.run("document.getElementById('frame').value = 20, document.getElementById('frame').oninput({target: "
                "document.getElementById('frame')})")  # fmt: skip
    browser.until("kernop.settled && kernop.state.t === 20")
    source = browser.run("kernop.state.sources[0]")

    def u0(x):
        return source["strength"] * np.exp(-((x[..., 0] - source["at"][0]) ** 2) / (2 * source["width"] ** 2))

    truth = T.answer({"f": 0.0, "g": 0.0, "u0": u0})([[browser.run("kernop.state.probe[0]"), 0.1]])[0]
    assert browser.run("kernop.value()") == pytest.approx(truth, abs=1e-5)
    browser.run("document.getElementById('play').click()")
    begun = browser.run("kernop.state.t")
    browser.until(f"Math.abs(kernop.state.t - {begun}) > 1")
    browser.run("document.getElementById('play').click()")


def test_pictures_for_the_documents(browser, tmp_path):
    """Only when it is asked for: it learns a larger operator."""
    folder = os.environ.get("KERNOP_SCREENSHOTS")
    if not folder:
        pytest.skip("set KERNOP_SCREENSHOTS to a folder")
    D = ko.Box([-1, -1], [1, 1]) - ko.Ball([0.3, 0.2], 0.4)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=D), ko.Dirichlet(on=D.boundary))
    path = write_page(ko.learn(problem), tmp_path / "live.html", "Poisson around a hole")
    views = {"live-desktop": (1280, 880, False, False), "live-dark": (1280, 880, False, True)}
    for name, (width, height, mobile, dark) in (views | {"live-phone": (390, 844, True, False)}).items():
        browser.viewport(width, height, mobile=mobile, scale=1.5 if mobile else 1.0)
        browser.dark(dark)
        browser.open(path.as_uri(), "window.kernop && window.kernop.range")
        browser.settle()
        time.sleep(0.5)
        browser.screenshot(tmp_path / "shot.png")
        picture = Image.open(tmp_path / "shot.png").convert("RGB")
        picture = picture.quantize(palette=picture.quantize(256), dither=Image.Dither.FLOYDSTEINBERG)
        picture.save(Path(folder) / f"{name}.png", optimize=True)
        assert (Path(folder) / f"{name}.png").stat().st_size < 300_000


def test_the_browser_would_notice(browser, tmp_path):
    """An error on the page, and a request to elsewhere, are seen by this test."""
    html = "<script>window.kernop = {range: 1}; new Image().src = 'http://127.0.0.1:9/x.png'; nothing.at.all</script>"
    (tmp_path / "bad.html").write_text(html)
    browser.events.clear()
    browser.open((tmp_path / "bad.html").as_uri(), "window.kernop")
    browser.until("performance.now() > 50")
    assert browser.complaints()
    assert any(url.startswith("http://127.0.0.1") for url in browser.requests())
