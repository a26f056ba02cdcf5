"""T for the inputs of a page, in two small matrices: data at a few points ↦ u and ∇u at the nodes.

For sources of one family, h(c, σ) at the points of T and u at the nodes are smooth in c and σ. K of them are solved by
T itself; the left singular vectors U of their solutions, and a least-squares map V from the values of h at a few
points to the coordinates in U, give u ≈ U V h. Sources of all widths that were not among the K, half of them on the
boundary, tell what this leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, IntArray, fail
from kernop.geometry.sequences import halton
from kernop.operators.fixed import FixedOperator, fixed
from kernop.operators.operator import SolutionOperator
from kernop.serving.family import Channel, fills, gaussians, zeros
from kernop.serving.stage import Stage

#: Sources that are solved to find the matrices, and others that test them; the part whose centres are at a boundary.
SOLVED, TESTED, OUTER = 1000, 240, 0.25
#: What is left out is stated for so many classes of widths; the largest that was found, times this.
CLASSES, MARGIN = 4, 2.0
#: How far outside they may lie, in widths of the narrowest source.
OUTSIDE = 0.5
#: Singular values below this part of the largest are left out: float32 does not show them.
CUT = 2e-8
#: The most singular vectors, and points for each of them.
MOST, POINTS_PER_VECTOR = 420, 1.75
#: What keeps V small, relative to the data.
RIDGE = 1e-7
#: Widths of sources as parts of the shortest side: the narrowest by the number of coordinates, and the widest.
NARROW, WIDE = {1: 0.05, 2: 0.1, 3: 0.12}, 0.3
#: Derivatives count so much beside values: arrows need fewer digits.
SLOPES = 0.1


@dataclass(kw_only=True, frozen=True, eq=False)
class Reduced:
    """u ≈ U V h for the sources of one channel.

    Arguments:
        channel: where the sources act.
        widths: the narrowest and the widest source.
        points: where h is evaluated, in space, (n, s).
        left: U, (rows, r), float32; see `Responses` for the rows.
        right: V, (r, n), float32.
        left_out: max |U V h − u| / max |u| over sources that were not used, in float32.
        lost: at most so much is |U V h − u| for a source of strength 1, by its width, narrow ones first: (`CLASSES`,).
        size: max |u| of a source of strength 1 in the middle.
    """

    channel: Channel
    widths: tuple[float, float]
    points: FloatArray
    left: np.ndarray
    right: np.ndarray
    left_out: float
    lost: FloatArray
    size: float


def reduced(responses: Responses, channel: Channel, solved: int = SOLVED) -> Reduced:
    """The two small matrices that reduce T for one input and one unknown."""
    operator, stage = responses.operator, responses.stage
    narrow = stage.side * NARROW[1 if stage.space == 1 else len(stage.low)]
    wide = WIDE * stage.side
    centres = _centres(operator, stage, narrow, solved)
    # Two of three are the narrowest, which need most; those that test have all widths.
    shares = np.random.default_rng(0).uniform(size=len(centres)) * (np.arange(len(centres)) % 3 == 0)
    shares[solved:] = np.linspace(0.0, 1.0, TESTED)
    widths = narrow * (wide / narrow) ** shares
    sources = gaussians(centres, widths)
    x = operator.points[channel.condition].x
    h = sources(x)
    values = responses(channel, h)
    scale = np.max(np.abs(values[: responses.values]), axis=0)
    if not np.all(scale > 0.0):
        got = f"{channel.condition!r}, to which u does not answer"
        raise fail(ArgumentError, "T", got, "a page needs an input that changes u")
    h, values = h / scale, values / scale
    u, s, _ = scipy.linalg.svd(values[:, :solved], full_matrices=False)
    rank = int(min(np.count_nonzero(s > CUT * s[0]), MOST))
    u = u[:, :rank]
    chosen = _chosen(h[:, :solved], int(POINTS_PER_VECTOR * rank))
    v = _fitted(h[chosen, :solved], u.T @ values[:, :solved])
    left, right = u.astype(np.float32), v.astype(np.float32)
    found = left @ (right @ h[chosen, solved:].astype(np.float32))
    off = np.max(np.abs((found - values[:, solved:])[: responses.values]), axis=0)
    lost = [np.max(own) for own in np.array_split(off * scale[solved:], CLASSES)]
    middle = int(np.argmin(np.linalg.norm(centres - stage.middle[: stage.space], axis=1)))
    return Reduced(
        channel=channel,
        widths=(narrow, wide),
        points=x[chosen, : stage.space],
        left=left,
        right=right,
        left_out=float(np.max(off)),
        lost=MARGIN * np.array(lost),
        size=float(scale[middle]),
    )


def fields(operator: SolutionOperator) -> list[str]:
    """What the page can show: each component of each unknown, its real and its imaginary part."""
    found: list[str] = []
    for name, size in operator.problem.unknowns.sizes:
        parts = [name] if size == 1 else [f"{name}{'₁₂₃₄₅₆₇₈₉'[k]}" for k in range(size)]
        found += [f"{part} {own}" for own in parts for part in ("Re", "Im")] if operator.ansatz.complex else parts
    return found


class Responses:
    """What T answers at the nodes and arrows of a page: matrices that are made once.

    A solution is a column (rows,): frame by frame, and in a frame for each field u at the nodes; then, frame by frame
    again, for each field and each axis that is shown, the derivative at the arrows, times `SLOPES` of the
    shortest side. Where a node is not inside in a frame, 0.
    """

    def __init__(self, operator: SolutionOperator, stage: Stage) -> None:
        self.operator, self.stage = operator, stage
        self._within, self._arrows_within = stage.inside(stage.nodes), stage.inside(stage.arrows)
        # Nodes that are outside in a frame are asked too, so that all frames are alike; what T says there is left out.
        outside = "raise" if np.all(self._within) else "extrapolate"
        self._nodes = operator.on(_within_box(stage, stage.nodes), outside=outside)
        x = _within_box(stage, stage.arrows)
        components = range(operator.problem.unknowns.total if len(stage.arrows) else 0)
        rows = [operator.ansatz.gradients(x, k) for k in components]
        self._slopes = [fixed(operator, x, own, False) for own in rows if own is not None]
        self.offset = self._rows(zeros(operator))[:, 0]

    @property
    def values(self) -> int:
        """The number of rows before those of derivatives."""
        return max(len(self.stage.frames), 1) * len(fields(self.operator)) * len(self.stage.nodes)

    def __call__(self, channel: Channel, columns: FloatArray) -> FloatArray:
        """For B columns of data (n, B) of one channel, without what fixed data add: (rows, B)."""
        found = self._rows({**zeros(self.operator), channel.condition: channel.data(columns)})
        return found - self.offset[:, None]

    def _rows(self, given: dict[str, float | FloatArray]) -> FloatArray:
        batch = any(np.ndim(value) > 1 for value in given.values())

        def asked(own: FixedOperator, within: BoolArray) -> list[FloatArray]:
            found = own(**given)
            parts = [p if batch else p[..., None] for p in (found if isinstance(found, tuple) else (found,))]
            return [np.where(within.reshape(-1, *[1] * (part.ndim - 1)), part, 0.0) for part in parts]

        frames, shown = max(len(self.stage.frames), 1), self.stage.shown
        values = _by_frame([_real(part) for part in asked(self._nodes, self._within)], frames)
        if not self._slopes:
            return values
        found = [asked(own, self._arrows_within)[0] for own in self._slopes]
        along = [np.stack([_real(own[:, axis]) for axis in range(shown)], axis=2) for own in found]
        slopes = [own.reshape(len(own), -1, own.shape[-1]) for own in along]
        return np.concatenate([values, SLOPES * self.stage.side * _by_frame(slopes, frames)])


def _within_box(stage: Stage, numbers: IntArray) -> FloatArray:
    """The places of nodes, not beyond the box by rounding."""
    return np.clip(stage.places(numbers), stage.low, stage.high)


def _real(values: FloatArray) -> FloatArray:
    """Complex values as real and imaginary parts beside each other along axis 1."""
    flat = values.reshape(len(values), -1, values.shape[-1])
    if not np.iscomplexobj(flat):
        return flat
    return np.stack([flat.real, flat.imag], axis=2).reshape(len(flat), -1, flat.shape[-1])


def _by_frame(parts: list[FloatArray], frames: int) -> FloatArray:
    """Parts (F n, q, B) as rows: frame by frame, quantity by quantity, node by node."""
    whole = np.concatenate(parts, axis=1)
    n, q, b = len(whole) // frames, whole.shape[1], whole.shape[2]
    return whole.reshape(frames, n, q, b).transpose(0, 2, 1, 3).reshape(-1, b)


def _centres(operator: SolutionOperator, stage: Stage, narrow: float, solved: int) -> FloatArray:
    """Centres of sources, (solved + TESTED, s): quasi-random ones inside, and some a little outside.

    The matrices shall hold up to the boundary, and what is found for sources on both sides holds between them. Of
    those that test, every other one is on the boundary, if there is one.
    """
    problem, s, rng = operator.problem, stage.space, np.random.default_rng(1)
    edges, rims = [np.empty((0, s))], [np.empty((0, s))]
    for own in (operator.points[c.name] for c in problem.conditions if not fills(c, operator)):
        normal = np.zeros((len(own), s)) if own.normal is None else own.normal[:, :s]
        edges.append(own.x[:, :s] + OUTSIDE * narrow * rng.uniform(size=(len(own), 1)) * normal)
        rims.append(own.x[:, :s])
    edge, rim = (rng.permutation(np.concatenate(own)) for own in (edges, rims))
    edge = edge[: int(OUTER * solved)]
    inner = _inside(operator, stage, solved - len(edge) + TESTED)
    tests = inner[-TESTED:].copy()
    tests[::2] = rim[np.arange(len(tests[::2])) % len(rim)] if len(rim) else tests[::2]
    return np.concatenate([inner[:-TESTED], edge, tests])


def _inside(operator: SolutionOperator, stage: Stage, number: int) -> FloatArray:
    """Quasi-random places inside the domain in space, (number, s)."""
    s, found = stage.space, list[FloatArray]()
    while sum(map(len, found)) < number:
        unit = halton(256, s, np.random.default_rng(0), start=256 * len(found))
        c = stage.low[:s] + unit * (stage.high - stage.low)[:s]
        x = np.column_stack([c, np.full(len(c), stage.middle[-1])]) if stage.timed else c
        found.append(c[operator.problem.contains(x)])
        if len(found) > 64 and not any(map(len, found)):
            raise fail(ArgumentError, "T", "a domain that fills next to nothing of its box", "it has no page")
    return np.concatenate(found)[:number]


def _chosen(h: FloatArray, number: int) -> np.ndarray:
    """The rows of data (n, K) that tell most of the others, by pivoted QR."""
    if number >= len(h):
        return np.arange(len(h))
    _, _, order = scipy.linalg.qr(h.T, mode="economic", pivoting=True)
    return np.sort(order[:number])


def _fitted(h: FloatArray, y: FloatArray) -> FloatArray:
    """V with V h ≈ y by least squares with a small ridge: (r, n)."""
    ridge = RIDGE * np.linalg.norm(h, 2)
    q, r = scipy.linalg.qr(np.hstack([h, ridge * np.eye(len(h))]).T, mode="economic")
    right = q[: h.shape[1]].T @ y.T
    return scipy.linalg.solve_triangular(r, right).T
