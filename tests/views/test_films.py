"""Films show u moment after moment, in files that other programs read."""

import subprocess
import sys

import imageio_ffmpeg
import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

from kernop.basics.errors import ArgumentError, FileError


def test_films(heat, dome, tmp_path, axes):
    operator, u = heat
    path = u.animate(tmp_path / "u.gif", times=5, points=60)
    assert Image.open(path).n_frames == 5
    page = u.animate(tmp_path / "u.html", times=[0.0, 0.1], points=60).read_text()
    assert page.count("data:image/png;base64") == 2
    long = operator.march(3, lambda x: np.sin(np.pi * x[..., 0]))
    film = long.animate(times=7, points=60)
    film._func(6)
    line = film._fig.axes[0].lines[0]
    np.testing.assert_allclose(line.get_ydata(), long.at(0.6)(line.get_xdata()), atol=1e-12)
    film._draw_was_started = True  # it was made to be looked at
    with pytest.raises(ArgumentError, match="without time"):
        dome.animate()
    with pytest.raises(FileError, match="suffix"):
        u.animate(tmp_path / "u.txt")


def test_mp4_has_the_frames_of_the_gif(heat, tmp_path, axes, monkeypatch):
    _, u = heat
    monkeypatch.setitem(mpl.rcParams, "animation.ffmpeg_path", "no-such-program")  # so the extra brings its own
    asked = {"times": [0.0, 0.1, 0.2], "fps": 5, "points": 60}
    film, still = u.animate(tmp_path / "u.mp4", **asked), Image.open(u.animate(tmp_path / "u.gif", **asked))
    assert mpl.rcParams["animation.ffmpeg_path"] == "no-such-program"
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{still.width}x{still.height}", "-"]
    read = subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-i", film, *raw], capture_output=True, check=True)
    assert b" 5 fps," in read.stderr
    frames = np.frombuffer(read.stdout, np.uint8).reshape(-1, still.height, still.width, 3).astype(float)
    assert len(frames) == still.n_frames == 3
    for k, frame in enumerate(frames):
        still.seek(k)
        assert np.abs(frame - np.asarray(still.convert("RGB"), float)).mean() < 1.0


def test_mp4_without_a_program(heat, tmp_path, monkeypatch):
    _, u = heat
    monkeypatch.setitem(mpl.rcParams, "animation.ffmpeg_path", "no-such-program")
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(FileError, match=r"no program ffmpeg; pip install 'kernop\[film\]', which brings one, or give"):
        u.animate(tmp_path / "u.mp4")
