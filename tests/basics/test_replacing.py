"""Files that are replaced atomically: complete or unchanged, with concurrent writers and after failures."""

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from kernop.basics import replacing, storage
from kernop.basics.errors import ArgumentTypeError, FileError
from kernop.basics.replacing import target_of

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.kernop"


def put(path, contents=b"new"):
    with replacing.replacing(path) as file:
        file.write(contents)


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


@posix
class TestWhatIsInTheWay:
    def check(self, path, kind):
        before = os.lstat(path)
        with pytest.raises(FileError, match=rf"path: got '.*', which cannot be written \(not a file but {kind}\)"):
            put(path)
        with pytest.raises(FileError, match=rf"checkpoint: got .*not a file but {kind}"):
            storage.check_place(path, "checkpoint")
        with pytest.raises(FileError, match=rf"path: got .*not a file but {kind}"):
            storage.write(path, "test", {}, {})
        after = os.lstat(path)
        assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)

    def test_a_device(self):
        self.check("/dev/null", "a device")

    def test_a_fifo(self, path):
        os.mkfifo(path)
        self.check(path, "a FIFO")

    def test_a_socket(self, path):
        with socket.socket(socket.AF_UNIX) as own:
            own.bind(os.fspath(path))
            self.check(path, "a socket")

    def test_a_directory(self, path):
        path.mkdir()
        self.check(path, "a directory")

    def test_a_link_to_one_of_them(self, path):
        path.symlink_to("/dev/null")
        self.check(path, "a device")

    def test_links_in_a_circle(self, path):
        path.symlink_to(path)
        with pytest.raises(FileError, match="cannot be written"):
            put(path)


@posix
class TestLinks:
    def test_the_target_is_replaced_and_the_link_stays(self, path, tmp_path):
        (tmp_path / "there").mkdir()
        target = tmp_path / "there" / "real"
        target.write_bytes(b"old")
        path.symlink_to("there/real")
        put(path)
        assert path.is_symlink()
        assert os.readlink(path) == "there/real"
        assert target.read_bytes() == b"new"
        assert names(target.parent) == ["real"]

    def test_a_link_to_nothing_yet(self, path, tmp_path):
        path.symlink_to(tmp_path / "later")
        put(path)
        assert path.is_symlink()
        assert (tmp_path / "later").read_bytes() == b"new"


@posix
class TestPermissions:
    @pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
    def test_of_a_new_file(self, path, umask):
        before = os.umask(umask)
        try:
            storage.write(path, "test", {}, {"a": np.ones(3)})
        finally:
            os.umask(before)
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask

    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
    def test_of_the_old_file(self, path, mode):
        path.write_bytes(b"old")
        path.chmod(mode)
        put(path)
        assert path.read_bytes() == b"new"
        assert stat.S_IMODE(path.stat().st_mode) == mode


class TestNames:
    def test_a_long_one(self, tmp_path):
        path = tmp_path / ("n" * 255)
        put(path)
        assert path.read_bytes() == b"new"
        with pytest.raises(FileError, match="cannot be written"):
            put(tmp_path / ("n" * 256))
        assert names(tmp_path) == ["n" * 255]

    @pytest.mark.parametrize("wrong", ["a\0b", "\udcff", b"bytes", 3, None])
    def test_what_is_none(self, wrong):
        with pytest.raises(ArgumentTypeError, match=r"path: got .*; give the path of a file"):
            target_of(wrong)

    def test_unfinished_files_have_names_of_their_own(self, path):
        with replacing.replacing(path) as one, replacing.replacing(path) as other:
            found = names(path.parent)
            assert len(found) == 2
            assert all(name.startswith(".file.kernop.") and name.endswith(".part") for name in found)
            one.write(b"one")
            other.write(b"other")
        assert path.read_bytes() == b"one"  # the last to end
        assert names(path.parent) == [path.name]


class TestWhatIsLeft:
    def test_nothing_of_a_block_that_fails(self, path):
        path.write_bytes(b"old")
        with pytest.raises(ZeroDivisionError), replacing.replacing(path) as file:
            file.write(b"half" * (1 // 0))
        assert path.read_bytes() == b"old"
        assert names(path.parent) == [path.name]

    def test_what_the_user_raises_passes(self, path):
        with pytest.raises(FileNotFoundError, match="mine"), replacing.replacing(path):
            raise FileNotFoundError("mine")

    @posix
    def test_a_killed_process_leaves_what_the_next_one_takes_away(self, path):
        script = (
            "import sys, time\nfrom kernop.basics.replacing import replacing\n"
            "with replacing(sys.argv[1]) as file:\n    file.write(b'half')\n    print('begun', flush=True)\n"
            "    time.sleep(60)\n"
        )
        with subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "begun\n"
            put(path)  # what is being written is left alone
            assert len(names(path.parent)) == 2
            other.send_signal(signal.SIGKILL)
        assert len(names(path.parent)) == 2
        put(path)
        assert names(path.parent) == [path.name]

    def test_files_of_others_stay(self, path):
        others = [".file.kernop.part", ".file.kernop.0123.part", ".other.0123456789abcdef.part", "file.kernop.bak"]
        for name in others:
            (path.parent / name).write_bytes(b"")
        put(path)
        assert names(path.parent) == sorted([*others, path.name])


WRITER = """
import sys, numpy as np
from kernop.basics import storage
for k in range(30):
    storage.write(sys.argv[1], "test", {"k": k}, {"a": np.full(20_000, float(k))})
"""


class TestManyAtOnce:
    def check_whole_while(self, path, alive):
        seen = 0
        while alive():
            if path.exists():
                header, arrays = storage.read(path, "test")
                assert np.all(arrays["a"] == header["k"])
                seen += 1
            time.sleep(0.002)
        assert seen
        header, arrays = storage.read(path, "test")
        assert np.all(arrays["a"] == header["k"])
        assert names(path.parent) == [path.name]

    def test_threads(self, path):
        failed = []

        def run(k):
            try:
                for _ in range(10):
                    storage.write(path, "test", {"k": k}, {"a": np.full(20_000, float(k))})
            except Exception as error:
                failed.append(error)

        threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        self.check_whole_while(path, lambda: any(thread.is_alive() for thread in threads))
        assert failed == []

    def test_processes(self, path):
        processes = [subprocess.Popen([sys.executable, "-c", WRITER, path]) for _ in range(2)]
        try:
            self.check_whole_while(path, lambda: any(process.poll() is None for process in processes))
        finally:
            for process in processes:
                process.kill()
        assert [process.wait() for process in processes] == [0, 0]
