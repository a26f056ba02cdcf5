"""Streams of points: every point once and in order, whatever they come from; read in slices; sent as paths."""

import os
import shutil

import cloudpickle
import numpy as np
import pytest
import zarr
from hypothesis import example, given, settings
from hypothesis import strategies as st

import kernop as ko
from kernop.basics import checks
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    InputNameError,
    KernopError,
    MemoryLimitError,
    NonFiniteError,
    OutsideDomainError,
    ShapeError,
)
from kernop.collocation.batches import chain, stream
from kernop.collocation.sampling import sample
from kernop.geometry.points import concatenate

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"),
    ko.Dirichlet(on=SQUARE.face("left", "right"), name="g"),
    ko.Neumann(on=SQUARE.face("bottom", "top"), name="q"),
)
COUNTS = {"f": 23, "g": 7, "q": 2}
POINTS = {name: PROBLEM[name].on.sample(n, "uniform", seed) for seed, (name, n) in enumerate(COUNTS.items())}
ARRAYS = {name: points.x for name, points in POINTS.items()}
LINE = ko.Interval(0, 1)
G = LINE.boundary.sample(2)
ODE = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=LINE), ko.Dirichlet(on=LINE.boundary))


def streamed(points, size=6, problem=PROBLEM):
    return stream(problem, points, "halton", 0, size)


def some(k):
    """Five points of each condition, then five, then all that is left; two of q in the first batch only."""
    return {n: p[5 * k : 5 * k + 5 if k < 2 else None] for n, p in POINTS.items() if len(p) > 5 * k}


def mapped(folder):
    made = {}
    for name, array in ARRAYS.items():
        made[name] = np.lib.format.open_memmap(folder / f"{name}.npy", mode="w+", dtype=np.float64, shape=array.shape)
        made[name][:] = array
    return made


def zarrs(folder):
    return {name: zarr.save_array(folder / name, a) or zarr.open_array(folder / name) for name, a in ARRAYS.items()}


SOURCES = {
    "Points": lambda folder: POINTS,
    "arrays": lambda folder: ARRAYS,
    "lists": lambda folder: {name: array.tolist() for name, array in ARRAYS.items()},
    "mapped": mapped,
    "zarr": zarrs,
    "mixed": lambda folder: {"q": POINTS["q"], "f": mapped(folder)["f"], "g": ARRAYS["g"].tolist()},
    "iterator": lambda folder: map(some, range(3)),
    "Batches": lambda folder: ko.Batches(3, some),
}


def together(batches):
    parts = {name: [batch[name] for batch in batches if name in batch] for name in PROBLEM.names}
    return {name: concatenate(found) for name, found in parts.items()}


@pytest.fixture(params=list(SOURCES))
def source(request, tmp_path):
    return SOURCES[request.param](tmp_path)


@pytest.fixture(params=[name for name in SOURCES if name != "iterator"])
def repeatable(request, tmp_path):
    return streamed(SOURCES[request.param](tmp_path))


class TestSources:
    def test_every_point_once_and_in_order(self, source):
        batches = list(streamed(source))
        assert all(list(batch) == [name for name in PROBLEM.names if name in batch] for batch in batches)
        for name, found in together(batches).items():
            np.testing.assert_array_equal(found.x, ARRAYS[name])
            if name != "f":
                np.testing.assert_allclose(found.normal, POINTS[name].normal)

    @pytest.mark.parametrize("points", [50, {"f": 30, "g": 12, "q": ARRAYS["q"]}, None])
    def test_numbers_are_sampled_as_ever(self, points):
        found = together(list(streamed(points, size=100)))
        for name, expected in sample(PROBLEM, points, "halton", 0).items():
            np.testing.assert_array_equal(found[name].x, expected.x)

    def test_an_iterator_comes_once(self, tmp_path):
        s = streamed(SOURCES["iterator"](tmp_path))
        assert not s.again
        assert s.number is s.counts is s.start(0) is None

    def test_starts_counts_and_points(self, repeatable):
        s = repeatable
        done = dict.fromkeys(PROBLEM.names, 0)
        for k in range(s.number):
            assert s.start(k) == done
            done = {name: n + len(s[k].get(name, ())) for name, n in done.items()}
        assert s.counts == done == COUNTS
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(s.points(name).x, array)

    def test_from_anywhere_and_again(self, repeatable):
        s = repeatable
        assert s.again
        last, first = s[s.number - 1], s[0]
        for batch, again in ((last, list(s)[-1]), (first, s[0])):
            assert batch.keys() == again.keys()
            assert all(np.array_equal(batch[name].x, again[name].x) for name in batch)

    def test_the_sample_has_every_condition(self, source):
        s = streamed(source)
        sampled = s.sampled()
        assert set().union(*sampled) == set(COUNTS)
        shares = s.sizes()
        if isinstance(source, dict):
            assert shares == COUNTS
        else:
            assert shares == {name: sum(len(batch.get(name, ())) for batch in sampled) for name in COUNTS}


class TestSlices:
    @settings(max_examples=60, deadline=None)
    @given(counts=st.tuples(*[st.integers(1, 40)] * 3), size=st.integers(1, 60))
    @example(counts=(1, 1, 1), size=1)
    @example(counts=(1, 1, 1), size=2)
    @example(counts=(2, 2, 2), size=1)
    @example(counts=(40, 1, 1), size=1)
    def test_batches_have_their_part_of_every_condition(self, counts, size):
        given = {name: PROBLEM[name].on.sample(count, "uniform", 1) for name, count in zip(COUNTS, counts, strict=True)}
        s = streamed(given, size)
        batches = list(s)
        for batch in batches:
            assert 0 < sum(map(len, batch.values())) <= size + len(COUNTS) - 1
            for name, points in given.items():
                assert abs(len(batch.get(name, ())) - len(points) / len(batches)) < 1
        for name, found in together(batches).items():
            np.testing.assert_array_equal(found.x, given[name].x)
        assert set(batches[-1]) == set(COUNTS)

    def test_flat_coordinates_on_a_line(self):
        s = streamed({"f": np.linspace(0, 1, 10), "g": np.array([0.0, 1.0])}, 4, ODE)
        assert s.number == 3
        np.testing.assert_array_equal(s.points("f").x, np.linspace(0, 1, 10)[:, None])
        np.testing.assert_array_equal(s.points("g").normal, [[-1.0], [1.0]])


class Watched:
    """An array that can be read by slices only, and counts what is read."""

    def __init__(self, array):
        self._array, self.shape, self.slices = array, array.shape, []

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        self.slices.append(range(*rows.indices(self.shape[0])))
        return self._array[rows]

    def __array__(self, *_, **__):
        raise AssertionError("read as a whole")


class TestLazy:
    def test_nothing_is_read_but_what_is_asked_for(self):
        x = Watched(np.random.default_rng(0).random((1000, 2)))
        s = streamed({**POINTS, "f": x}, size=50)
        assert [len(rows) for rows in x.slices] == [1]  # a look at the first point
        x.slices.clear()
        s.sampled()
        assert s.counts == {**COUNTS, "f": 1000}
        assert len(x.slices) == 3
        x.slices.clear()
        list(s)
        assert max(map(len, x.slices)) <= 50
        assert [row for rows in x.slices for row in rows] == list(range(1000))

    def test_a_flat_one_too(self):
        x = Watched(np.linspace(0, 1, 1000))
        s = streamed({"f": x, "g": 2}, 50, ODE)
        list(s)
        assert max(map(len, x.slices)) <= 50

    def test_a_wrong_one_is_refused_unread(self):
        x = Watched(np.zeros((1000, 3)))
        with pytest.raises(ShapeError, match=r"points\['f'\]: got an array of shape \(1000, 3\); .*\(n, 2\)"):
            streamed({**POINTS, "f": x})
        assert x.slices == []

    def test_functions_are_called_when_their_batch_comes(self):
        calls = []
        s = streamed(ko.Batches(3, lambda k: calls.append(k) or some(k)))
        assert calls == []
        s[1]
        assert calls == [1]

    def test_an_iterator_is_one_batch_ahead(self):
        drawn = []
        s = streamed({"f": ARRAYS["f"]} for k in range(5) if drawn.append(k) is None)
        assert drawn == [0]
        for k, _ in enumerate(s):
            assert drawn == list(range(k + 1))

    def test_all_points_at_once_must_fit(self, monkeypatch):
        s = streamed(ARRAYS)
        monkeypatch.setattr(checks, "SMALL", 0)
        monkeypatch.setattr(checks, "available_memory", lambda: 100)
        with pytest.raises(MemoryLimitError, match=r"T\.points: got all points of 'f'.*batch by batch"):
            s.points("f")


class TestChain:
    @pytest.mark.parametrize("kind", ["arrays", "Batches"])
    def test_one_after_the_other(self, kind):
        first = streamed(SOURCES[kind](None))
        more = {"g": POINTS["g"][:5], "q": POINTS["q"]}
        both = chain(first, more, 3)
        found = together(list(both))
        for name, array in ARRAYS.items():
            expected = np.concatenate([array, more[name].x]) if name in more else array
            np.testing.assert_array_equal(found[name].x, expected)
            np.testing.assert_array_equal(both.points(name).x, expected)
        assert both.counts == {"f": 23, "g": 12, "q": 4}
        done = dict.fromkeys(PROBLEM.names, 0)
        for k in range(both.number):
            assert both.start(k) == done
            done = {name: n + len(both[k].get(name, ())) for name, n in done.items()}
        assert both.again


class TestIterators:
    def test_used_up(self):
        s = streamed(iter([{"f": ARRAYS["f"]}]))
        assert len(list(s)) == 1
        with pytest.raises(ArgumentError, match=r"points: got an iterator that has been used up; .*ko\.Batches"):
            list(s)


class TestErrors:
    @pytest.mark.parametrize(
        ("points", "error", "message"),
        [
            ({"f": 5}, InputNameError, "points: got none for condition 'g'"),
            ({**ARRAYS, "h": ARRAYS["f"]}, InputNameError, "points: got the unknown condition 'h'"),
            ({**ARRAYS, "f": 0}, ArgumentError, r"points\['f'\]: got 0; every condition"),
            ({**ARRAYS, "f": "many"}, ArgumentTypeError, r"points\['f'\]: got 'many'"),
            ({**ARRAYS, "f": None}, ArgumentTypeError, r"points\['f'\]: got None"),
            ({**ARRAYS, "f": np.zeros((0, 2))}, ShapeError, r"points\['f'\]: got an empty array of shape \(0, 2\)"),
            ({**ARRAYS, "f": np.zeros((5, 3))}, ShapeError, r"points\['f'\]: got an array of shape \(5, 3\)"),
            ({**ARRAYS, "f": np.zeros(5)}, ShapeError, r"points\['f'\]: got an array of shape \(5,\)"),
            ({**ARRAYS, "f": np.full((5, 2), 2.0)}, OutsideDomainError, r"points\['f'\]: got 1 of 1 points outside"),
            ({**ARRAYS, "f": np.full((5, 2), np.nan)}, NonFiniteError, r"points\['f'\]: got 2 of 2 values"),
            ({**ARRAYS, "f": np.full((5, 2), 1j)}, ArgumentTypeError, r"points\['f'\]: got .*complex"),
            (iter([]), ArgumentError, "points: got an iterator without batches"),
            (2, ArgumentError, "points: got 2; give a whole number, at least 3"),
            ("all", ArgumentTypeError, "points: got 'all'"),
            (2.5, ArgumentTypeError, "points: got 2.5"),
            ([{"f": ARRAYS["f"]}], ArgumentTypeError, "points: got"),
        ],
    )
    def test_at_once(self, points, error, message):
        with pytest.raises(error, match=message) as caught:
            streamed(points)
        assert isinstance(caught.value, KernopError)

    @pytest.mark.parametrize(
        ("bad", "error", "message"),
        [
            (ARRAYS["f"], ArgumentTypeError, r"points: got a batch that is an array of shape \(23, 2\); .*dictionary"),
            (None, ArgumentTypeError, "points: got a batch that is None"),
            ({}, ArgumentError, "points: got a batch without points; leave empty batches out"),
            ({"h": ARRAYS["f"]}, InputNameError, "points: got the unknown condition 'h'; the conditions are 'f', 'g'"),
            ({"f": np.zeros((0, 2))}, ShapeError, r"points\['f'\]: got an empty array"),
            ({"f": np.zeros((4, 3))}, ShapeError, r"points\['f'\]: got an array of shape \(4, 3\)"),
            ({"f": [[0.5, np.inf]]}, NonFiniteError, r"points\['f'\]: got 1 of 2 values"),
            ({"g": [[0.5, 0.5]]}, OutsideDomainError, r"points\['g'\]: got 1 of 1 points outside"),
            ({"f": "here"}, ArgumentTypeError, r"points\['f'\]: got"),
        ],
    )
    @pytest.mark.parametrize("kind", ["Batches", "iterator"])
    def test_when_the_batch_comes(self, bad, error, message, kind):
        batches = [{"f": ARRAYS["f"]}, bad]
        s = streamed(ko.Batches(2, batches.__getitem__) if kind == "Batches" else iter(batches))
        with pytest.raises(error, match=message) as caught:
            list(s)
        assert isinstance(caught.value, KernopError)

    def test_rows_of_an_array_are_checked_when_they_come(self):
        x = np.full((100, 2), 0.5)
        x[70] = np.nan
        x[90] = 3.0
        s = streamed({**ARRAYS, "f": x}, 12)
        s[0]
        with pytest.raises(NonFiniteError, match=r"points\['f'\]: got 2 of \d+ values"):
            s[7]
        with pytest.raises(OutsideDomainError, match=r"points\['f'\]: got 1 of \d+ points outside"):
            s[9]

    @pytest.mark.parametrize(
        ("number", "take", "error", "message"),
        [
            (0, some, ArgumentError, "number: got 0; give a whole number, at least 1"),
            (2.0, some, ArgumentTypeError, "number: got 2.0"),
            (True, some, ArgumentTypeError, "number: got True"),
            (3, [1, 2, 3], ArgumentTypeError, r"take: got \[1, 2, 3\]; give a function"),
            (3, None, ArgumentTypeError, "take: got None"),
        ],
    )
    def test_batches(self, number, take, error, message):
        with pytest.raises(error, match=message):
            ko.Batches(number, take)

    def test_a_condition_that_never_comes_has_no_points(self):
        with pytest.raises(ArgumentError, match=r"T\.points: got 'g'; no batch had points"):
            streamed(ko.Batches(1, lambda k: {"f": ARRAYS["f"]})).points("g")


def sent(s):
    return cloudpickle.loads(cloudpickle.dumps(s))


@pytest.fixture
def large(tmp_path):
    """40,000 points in a file, 640 kB."""
    array = np.lib.format.open_memmap(tmp_path / "large.npy", mode="w+", dtype=np.float64, shape=(40_000, 2))
    array[:] = np.random.default_rng(1).random(array.shape)
    return array


VIEWS = {
    "whole": lambda a: a,
    "a part": lambda a: a[100:30_000],
    "a part of a part": lambda a: a[100:30_000][7:20_000],
    "every third": lambda a: a[5::3],
    "backwards": lambda a: a[::-1],
    "other axes": lambda a: a[:, ::-1],
}


class TestPickle:
    def test_what_is_in_memory(self):
        for s in (streamed(POINTS), streamed(ko.Batches(3, some))):
            for one, other in zip(s, sent(s), strict=True):
                assert one.keys() == other.keys()
                assert all(np.array_equal(one[name].x, other[name].x) for name in one)

    @pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
    def test_a_mapped_array_travels_as_its_path(self, large, view):
        array = view(large)
        s = streamed({**POINTS, "f": array}, 5000)
        assert len(cloudpickle.dumps(s)) < 20_000
        for other in (sent(s), sent(sent(s)), sent(s[0] and s)):
            np.testing.assert_array_equal(other.points("f").x, array)

    @pytest.mark.parametrize(
        ("order", "dtype", "offset"), [("C", "f4", 0), ("F", "f8", 24), ("F", "f4", 10_000), ("C", "i2", 6)]
    )
    def test_raw_files_of_any_layout(self, tmp_path, order, dtype, offset):
        path = tmp_path / "raw.bin"
        array = np.memmap(path, dtype, "w+", offset, (9000, 2), order)
        array[:] = np.random.default_rng(0).random((9000, 2)) > 0.5
        s = streamed({**POINTS, "f": np.memmap(path, dtype, "r", offset, (9000, 2), order)[1000:]}, 4000)
        assert len(cloudpickle.dumps(s)) < 20_000
        np.testing.assert_array_equal(sent(s).points("f").x, array[1000:])

    def test_the_other_side_reads_by_slices(self, large):
        part = sent(streamed({**POINTS, "f": large}, 1000))[3]["f"].x
        assert len(part) < 1000
        assert part.base is None  # not a view that keeps the file

    def test_changes_that_are_not_in_the_file_travel(self, large):
        large.flush()
        copy = np.memmap(large.filename, np.float64, "c", large.offset, large.shape)
        copy[0] = 0.25
        np.testing.assert_array_equal(sent(streamed({**POINTS, "f": copy}, 20_000)).points("f").x[0], [0.25, 0.25])

    def test_zarr_travels_as_its_path(self, tmp_path):
        x = np.random.default_rng(1).random((40_000, 2))
        zarr.save_array(tmp_path / "x", x)
        s = streamed({**POINTS, "f": zarr.open_array(tmp_path / "x", mode="r")}, 5000)
        assert len(cloudpickle.dumps(s)) < 20_000
        np.testing.assert_array_equal(sent(s).points("f").x, x)

    def test_a_file_that_is_not_there_where_it_is_read(self, large, tmp_path):
        pickled = cloudpickle.dumps(streamed({**POINTS, "f": large}, 5000))
        content = (tmp_path / "large.npy").read_bytes()
        (tmp_path / "large.npy").unlink()
        with pytest.raises(FileError, match=r"points: got a mapped array of '.*large\.npy', which cannot be mapped"):
            cloudpickle.loads(pickled)[0]
        for size in (0, 1000, len(content) - 1):
            (tmp_path / "large.npy").write_bytes(content[:size])
            with pytest.raises(FileError, match=r"large\.npy.*; let every worker see the same files"):
                cloudpickle.loads(pickled)[0]


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
class TestChanges:
    """What is read again is what was read first, or refused."""

    def learned(self, points, **more):
        method = ko.Subspace(np.linspace(0, 1, 5)[:, None], batch=10)
        return ko.learn(ODE, points=points, kernel=ko.Gaussian([0.3]), method=method, regularization=1e-6, **more)

    @pytest.fixture
    def path(self, tmp_path):
        np.save(tmp_path / "x.npy", np.linspace(0.01, 0.99, 100)[:, None])
        return tmp_path / "x.npy"

    @pytest.fixture
    def operator(self, path):
        return self.learned({"f": np.load(path, mmap_mode="r"), "g": LINE.boundary.sample(2)})

    def rewrite(self, path, row, value):
        with open(path, "r+b") as file:
            file.seek(-8 * (100 - row), os.SEEK_END)
            file.write(np.float64(value).tobytes())

    @pytest.mark.parametrize("row", [0, 37, 99])
    def test_a_number_in_a_mapped_file(self, operator, path, row):
        before = operator(1.0, 0.0)([[0.5]])
        self.rewrite(path, row, 0.5004)
        remedy = "bring the old contents back, or learn again"
        with pytest.raises(
            FileError, match=rf"points: got a mapped array of '.*x\.npy', where batch \d+ is .*; {remedy}"
        ):
            operator(1.0, 0.0)
        with pytest.raises(FileError, match=r"points: got a mapped array of '.*x\.npy'"):
            operator.materialize()
        self.rewrite(path, row, np.linspace(0.01, 0.99, 100)[row])
        np.testing.assert_array_equal(operator(1.0, 0.0)([[0.5]]), before)

    def test_without_a_new_date(self, operator, path):
        date = path.stat()
        self.rewrite(path, 50, 0.5004)
        os.utime(path, ns=(date.st_atime_ns, date.st_mtime_ns))
        with pytest.raises(FileError, match=r"points: got a mapped array of '.*x\.npy', where batch 5 is"):
            operator(1.0, 0.0)

    def test_a_mapped_file_that_becomes_shorter(self, operator, path):
        """To read beyond its end would kill the process."""
        os.truncate(path, 200)
        with pytest.raises(FileError, match=r"points: got a mapped array of '.*x\.npy', which is shorter than it was"):
            operator(1.0, 0.0)

    def test_a_new_date_alone(self, operator, path):
        before = operator(1.0, 0.0)([[0.5]])
        os.utime(path)
        np.testing.assert_array_equal(operator(1.0, 0.0)([[0.5]]), before)

    def test_what_has_not_been_read_yet(self, path):
        s = streamed({"f": np.load(path, mmap_mode="r"), "g": LINE.boundary.sample(2)}, 10, ODE)
        s[0]
        self.rewrite(path, 50, 0.5004)
        s[0]
        with pytest.raises(FileError, match=r"a mapped array of '.*x\.npy', which has changed since it was given"):
            s[5]

    def test_before_it_travels(self, operator, path):
        os.replace(shutil.copy(path, path.with_name("copy")), path)
        operator(1.0, 0.0)  # here the old file is mapped still
        with pytest.raises(FileError, match=r"a mapped array of '.*x\.npy', which has changed since it was given"):
            cloudpickle.dumps(operator.factorisation.rows.stream)

    def test_where_it_has_travelled(self, operator, path):
        there = sent(operator.factorisation.rows.stream)
        self.rewrite(path, 50, 0.5004)
        there[0]
        with pytest.raises(FileError, match="where batch 5 is not what it was"):
            there[5]

    def test_maps_that_are_written_to(self, path):
        """The pages that are not on the disk yet get there, and their date, before the date is noted."""
        x = np.load(path, mmap_mode="r+")
        x[3] = 0.123
        operator = self.learned({"f": x, "g": LINE.boundary.sample(2)})
        x.flush()
        operator(1.0, 0.0)
        x[3] = 0.124
        with pytest.raises(FileError, match="where batch 0 is not what it was"):
            operator(1.0, 0.0)

    def test_arrays_in_memory(self):
        x = np.linspace(0.01, 0.99, 100)[:, None]
        operator = self.learned({"f": x, "g": LINE.boundary.sample(2)})
        x[70] = 0.5
        with pytest.raises(
            FileError, match=r"points: got an array for points\['f'\], where batch 7 is not what it was"
        ):
            operator(1.0, 0.0)

    def test_functions_that_give_other_points(self):
        rng = np.random.default_rng(0)
        with pytest.raises(
            ArgumentError, match="take: got a function that gives other points for batch 0 than it gave"
        ):
            self.learned(ko.Batches(5, lambda k: {"f": LINE.sample(10, seed=rng.integers(100)), "g": G}))


def stops(*_):
    raise StopIteration


class TestEndsThatAreNone:
    """StopIteration from a user's function is an error, never the end of a loop around it."""

    learned = TestChanges.learned
    MESSAGE = r"{}: got a function that raised StopIteration; let it return a value"

    @pytest.mark.parametrize("at", [0, 1, 3])
    def test_take(self, at):
        batches = ko.Batches(5, lambda k: stops() if k == at else {"f": LINE.sample(10, seed=k), "g": G})
        with pytest.raises(ArgumentError, match=self.MESSAGE.format("take")):
            self.learned(batches)
        with pytest.raises(ArgumentError, match=self.MESSAGE.format("take")):
            list(streamed(batches, problem=ODE))

    def test_coefficients_data_and_predicates(self):
        problem = ko.Problem(ko.Equation(lambda u: stops * u, on=LINE), ko.Dirichlet(on=LINE.boundary))
        points = {"f": np.linspace(0.1, 0.9, 40)[:, None], "g": G}
        with pytest.raises(ArgumentError, match="StopIteration"):
            ko.learn(problem, points=points, method=ko.Subspace(5, batch=10))
        with pytest.raises(ArgumentError, match="StopIteration"):
            self.learned(points, inputs=[(stops, 0.0)])
        with pytest.raises(ArgumentError, match="StopIteration"):
            self.learned(points)(stops, 0.0)
        with pytest.raises(ArgumentError, match="StopIteration"):
            LINE.where(stops).sample(5)

    def test_operators(self):
        with pytest.raises(ko.errors.KernopError, match="StopIteration"):
            ko.learn(ko.Problem(ko.Equation(lambda u: stops(), on=LINE, name="f")), points=12)

    def test_an_iterator_that_ends_is_no_error(self):
        batches = ({"f": LINE.sample(10, seed=k), "g": G} for k in range(3))
        assert self.learned(batches).n_points == 36


def test_more_batches_than_there_is_time_for():
    endless = {**ARRAYS, "f": np.broadcast_to(0.5, (10**12, 2))}
    with pytest.raises(ArgumentError, match=r"points: got 1000000000009 points, which are .* batches; give larger"):
        streamed(endless)


class TestLook:
    """A look at the whole stream, whatever its order."""

    D = ko.Box([0, 0], [1, 1])
    problem = ko.Problem(ko.Equation(lambda u: ko.laplacian(u), on=D, name="f"), ko.Mean(on=D, name="m"))

    def test_sorted_points_are_seen_from_end_to_end(self):
        x = self.D.sample(20_000, "uniform").x
        sorted_points = {"f": x[np.argsort(x[:, 0])], "m": self.D.quadrature(100)}
        found = stream(self.problem, sorted_points, "halton", 0, 100).look()
        assert np.quantile(found["f"].x[:, 0], [0.0, 0.5, 1.0]) == pytest.approx([0.0, 0.5, 1.0], abs=0.05)
        assert 2000 < len(found["f"]) < 6000
        assert np.sum(found["m"].weight) == pytest.approx(1.0)

    def test_few_points_are_all_looked_at(self):
        given = {"f": self.D.sample(300), "m": self.D.quadrature(100)}
        found = stream(self.problem, given, "halton", 0, 70).look()
        np.testing.assert_array_equal(found["f"].x, given["f"].x)
