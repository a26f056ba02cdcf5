"""Files: contents survive a round trip; truncated, corrupted, foreign and unknown files are refused."""

import json
import os
import pickle
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors.numpy import load_file, save_file

from kernop.basics import storage
from kernop.basics.errors import FileError, KernopError
from kernop.basics.storage import VERSION, check_place, read, write

HEADER = {"name": "Grüße aus Δ ∂Ω 🙂", "n": 12, "nested": {"a": [1, 2.5, None, True]}}
ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([np.pi, -0.0, 1e-308])}
#: All that UTF-8 can write; ``codec="utf-8"`` would try a million characters to find that out.
CHARACTERS = st.characters(exclude_categories=["Cs"])
TEXT = st.text(CHARACTERS)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.kernop"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A path, and what a good file there holds."""
    path = tmp_path_factory.mktemp("written") / "file.kernop"
    write(path, "test", HEADER, ARRAYS)
    return path, path.read_bytes()


def raw(about, arrays=ARRAYS):
    """The bytes of a safetensors file, made by hand."""
    table, data = {"__metadata__": about}, b""
    for name, array in arrays.items():
        piece = np.ascontiguousarray(array).tobytes()
        table[name] = {
            "dtype": "F64",
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(piece)],
        }
        data += piece
    text = json.dumps(table).encode()
    return struct.pack("<Q", len(text)) + text + data


class TestRoundTrip:
    def test_header_and_arrays(self, path):
        write(path, "test", HEADER, ARRAYS)
        header, found = read(path, "test")
        assert header == HEADER
        assert found.keys() == ARRAYS.keys()
        for name, array in ARRAYS.items():
            assert found[name].dtype == np.float64
            assert found[name].tobytes() == array.tobytes()

    @pytest.mark.parametrize(
        "array",
        [
            np.array(3.5),
            np.empty(0),
            np.empty((0, 4)),
            np.empty((2, 0, 3)),
            np.asfortranarray(np.arange(12.0).reshape(3, 4)),
            np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
            np.arange(20.0)[::-3],
            np.arange(5, dtype=np.int32),
            np.array([np.nan, np.inf, -np.inf]),
        ],
        ids=["0-d", "empty", "0 rows", "0 columns", "Fortran", "transposed", "reversed", "integers", "not finite"],
    )
    def test_any_array(self, path, array):
        write(path, "test", {}, {"a": array})
        found = read(path, "test")[1]["a"]
        assert found.shape == array.shape
        np.testing.assert_array_equal(found, array)

    @settings(max_examples=30, deadline=None)
    @given(
        header=st.dictionaries(TEXT, TEXT | st.integers() | st.floats(allow_nan=False, allow_infinity=False)),
        contents=st.dictionaries(
            st.text(CHARACTERS, min_size=1).filter(lambda name: name != "__metadata__"),
            arrays(np.float64, array_shapes(min_dims=0, min_side=0, max_side=4)),
            max_size=3,
        ),
    )
    def test_any_contents(self, written, header, contents):
        path = written[0]
        write(path, "test", header, contents)
        again, found = read(path, "test")
        assert again == header
        assert found.keys() == contents.keys()
        for name, array in contents.items():
            np.testing.assert_array_equal(found[name], array, strict=True)

    def test_safetensors_reads_it(self, path):
        """The container is theirs; what they wrote for older versions of kernop is read too, below."""
        contents = {**ARRAYS, "c": np.arange(6).reshape(3, 2), "d": np.empty((0, 3)), "e": np.array(2.5)}
        write(path, "test", HEADER, contents)
        found = load_file(path)
        assert found.keys() == contents.keys()
        for name, array in contents.items():
            np.testing.assert_array_equal(found[name], array, strict=True)

    def test_what_safetensors_wrote(self, path):
        about = {"program": "kernop", "kind": "test", "version": "1", "header": '{"a": 1}'}
        contents = {**ARRAYS, "whole": np.arange(5), "none": np.empty((2, 0)), "0-d": np.array(2.5)}
        save_file(contents, path, metadata={**about, "sha256": storage._digest(about, contents)})
        header, found = read(path, "test")
        assert header == {"a": 1}
        for name, array in contents.items():
            np.testing.assert_array_equal(found[name], array, strict=True)

    def test_nothing_at_all(self, path):
        write(path, "test", {}, {})
        assert read(path, "test") == ({}, {})

    def test_a_string_is_a_path(self, path):
        write(str(path), "test", HEADER, {})
        assert read(str(path), "test")[0] == HEADER

    def test_folders_are_made(self, tmp_path):
        write(tmp_path / "a" / "b" / "file", "test", HEADER, {})
        assert read(tmp_path / "a" / "b" / "file", "test")[0] == HEADER

    def test_an_older_file_is_replaced(self, path):
        write(path, "test", {"k": 1}, ARRAYS)
        write(path, "test", {"k": 2}, {})
        assert read(path, "test") == ({"k": 2}, {})
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def refused(path, match, kind="test"):
    with pytest.raises(FileError, match=match) as caught:
        read(path, kind, "checkpoint")
    assert str(caught.value).startswith(f"checkpoint: got {os.fspath(path)!r}, ")
    assert isinstance(caught.value, KernopError)
    assert isinstance(caught.value, ValueError)


class TestWholeNumbers:
    def test_they_stay_whole(self, path):
        whole = np.array([[2**60, -1], [0, 2**62 + 1]])
        write(path, "test", {}, {"a": whole, "b": whole.astype(np.int32)[:, :1]})
        found = read(path, "test")[1]
        np.testing.assert_array_equal(found["a"], whole, strict=True)
        assert found["b"].dtype == np.int64


def signed(header, arrays=ARRAYS, **about):
    """A file with a right digest, whatever it holds."""
    whole = {"program": "kernop", "kind": "test", "version": str(VERSION), "header": header, **about}
    return raw({**whole, "sha256": storage._digest(whole, arrays)}, arrays)


class TestRewritten:
    """A right digest in front of what kernop does not write."""

    @pytest.mark.parametrize(
        "header",
        ["", "null", "[]", "3", '"a"', '{"a": NaN}', '{"a": -Infinity}', "{", "[" * 10**5, '{"a": ' + "9" * 5000 + "}"],
    )
    def test_headers_that_are_none(self, path, header):
        path.write_bytes(signed(header))
        refused(path, "whose header is not one that kernop writes")

    def test_a_header_without_end(self, path, monkeypatch):
        monkeypatch.setattr(storage, "LONGEST_HEADER", 10)
        path.write_bytes(signed('{"a": "' + "b" * 10 + '"}'))
        refused(path, "whose header is not one that kernop writes")

    @pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.bool_, np.int32])
    def test_arrays_of_another_kind(self, path, dtype):
        arrays = {"a": np.ones((2, 3), dtype=dtype)}
        about = {"program": "kernop", "kind": "test", "version": str(VERSION), "header": "{}"}
        save_file(arrays, path, metadata={**about, "sha256": storage._digest(about, arrays)})
        refused(path, "'a' is an array of ")

    def test_a_size_that_is_not_there(self, path):
        contents = signed("{}")
        size = struct.unpack("<Q", contents[:8])[0]
        table = contents[8 : 8 + size].replace(b"[2, 3]", b"[2, 9000000000000]", 1)
        path.write_bytes(struct.pack("<Q", len(table)) + table + contents[8 + size :])
        refused(path, "damaged or not of kernop")

    def test_the_helper_itself(self, path):
        path.write_bytes(signed('{"a": 1}'))
        assert read(path, "test")[0] == {"a": 1}


class TestRefusals:
    def test_another_kind(self, path):
        write(path, "operator", HEADER, ARRAYS)
        refused(path, "which holds 'operator', not 'test'; give another path")

    def test_another_version(self, path, monkeypatch):
        monkeypatch.setattr(storage, "VERSION", VERSION + 1)
        write(path, "test", HEADER, ARRAYS)
        monkeypatch.undo()
        refused(
            path,
            rf"a newer kernop wrote \(version {VERSION + 1} of the format, where this one reads {VERSION}\); update",
        )
        monkeypatch.setattr(storage, "VERSION", 0)
        write(path, "test", HEADER, ARRAYS)
        monkeypatch.undo()
        refused(path, f"of version '0' where this kernop reads {VERSION}; use the version of kernop that wrote it")

    @pytest.mark.parametrize(
        ("name", "contents", "match"),
        [
            ("empty", b"", "damaged or not of kernop"),
            ("text", b"Dear Sir or Madam,\n" * 10, "damaged or not of kernop"),
            ("pickle", pickle.dumps(HEADER), "damaged or not of kernop"),
            ("zeros", bytes(1000), "damaged or not of kernop"),
            ("foreign", raw({"format": "pt"}), "which kernop did not write"),
            ("no metadata", raw({}), "which kernop did not write"),
            ("no kind", raw({"program": "kernop", "version": str(VERSION)}), "which holds None, not 'test'"),
            (
                "no digest",
                raw({"program": "kernop", "version": str(VERSION), "kind": "test", "header": "{}"}),
                "its digest does not match",
            ),
        ],
    )
    def test_foreign_contents(self, path, name, contents, match):
        path.write_bytes(contents)
        refused(path, match)

    def test_of_other_programs(self, path):
        save_file(ARRAYS, path)
        refused(path, "which kernop did not write")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.npy", bytes(100))
        refused(path, "damaged or not of kernop")
        np.save(path.open("wb"), ARRAYS["a"])
        refused(path, "damaged or not of kernop")

    def test_a_pickle_is_not_run(self, path):
        class Trap:
            def __reduce__(self):
                return (open, (os.fspath(path) + ".sprung", "w"))

        path.write_bytes(pickle.dumps(Trap()))
        refused(path, "damaged or not of kernop")
        assert not path.with_name(path.name + ".sprung").exists()

    def test_not_a_file(self, tmp_path):
        refused(tmp_path / "missing", "which is not a file; give the path of a file that kernop wrote")
        refused(tmp_path, "which is not a file")

    def test_cut_short_at_every_byte(self, path):
        write(path, "test", HEADER, ARRAYS)
        read(path, "test")
        for size in reversed(range(path.stat().st_size)):
            os.truncate(path, size)
            refused(path, "damaged")

    @pytest.mark.parametrize("more", [b"\0", b" ", bytes(8), b"\n" * 100])
    def test_more_at_the_end(self, path, more):
        write(path, "test", HEADER, ARRAYS)
        path.write_bytes(path.read_bytes() + more)
        refused(path, "damaged")

    def test_a_changed_bit_is_noticed_or_harmless(self, path):
        write(path, "test", HEADER, ARRAYS)
        contents = path.read_bytes()
        for place in range(len(contents)):
            for bit in range(8):
                self.check_changed(path, contents, place, 1 << bit)
        assert read(path, "test")[0] == HEADER  # each was changed back

    @settings(max_examples=200, deadline=None)
    @given(place=st.integers(0, 10**6), flip=st.integers(1, 255))
    def test_a_changed_byte_is_noticed_or_harmless(self, written, place, flip):
        path, contents = written
        path.write_bytes(contents)
        self.check_changed(path, contents, place % len(contents), flip)

    @staticmethod
    def put(path, place, byte):
        """One byte, in place: to write the file anew would wait for the disk each time."""
        with path.open("r+b") as file:
            file.seek(place)
            file.write(bytes([byte]))

    def check_changed(self, path, contents, place, flip):
        """Harmless are blanks that became other blanks, and digits of \\u00fc in the other case: JSON says the same."""
        try:
            self.put(path, place, contents[place] ^ flip)
            header, found = read(path, "test")
        except FileError:
            return
        finally:
            self.put(path, place, contents[place])
        assert place < len(contents) - sum(array.nbytes for array in ARRAYS.values())
        assert header == HEADER
        assert found.keys() == ARRAYS.keys()
        assert all(found[name].tobytes() == array.tobytes() for name, array in ARRAYS.items())
        assert all(found[name].shape == array.shape for name, array in ARRAYS.items())


class InterruptionError(BaseException):
    """Like a KeyboardInterrupt: not an Exception."""


class TestAtomic:
    @pytest.mark.parametrize("step", ["storage._put", "replacing.os.fsync", "replacing.os.replace"])
    @pytest.mark.parametrize("old", [True, False])
    def test_an_interrupted_write_leaves_the_old_file_and_no_temporary_one(self, path, monkeypatch, step, old):
        if old:
            write(path, "test", {"k": 1}, ARRAYS)
        before = path.read_bytes() if old else None

        def interrupted(*_, **__):
            raise InterruptionError

        monkeypatch.setattr(f"kernop.basics.{step}", interrupted)
        with pytest.raises(InterruptionError):
            write(path, "test", {"k": 2}, {})
        assert [entry.name for entry in path.parent.iterdir()] == ([path.name] if old else [])
        assert not old or path.read_bytes() == before

    def test_the_old_file_is_there_until_the_new_one_is_complete(self, path, monkeypatch):
        write(path, "test", {"k": 1}, ARRAYS)
        seen, put = [], storage._put

        def watched(*given):
            put(*given)
            seen.append(read(path, "test")[0])

        monkeypatch.setattr("kernop.basics.storage._put", watched)
        write(path, "test", {"k": 2}, {})
        assert seen == [{"k": 1}]
        assert read(path, "test")[0] == {"k": 2}

    def test_what_is_no_json_leaves_nothing(self, path):
        with pytest.raises(ValueError, match="Out of range"):
            write(path, "test", {"k": float("nan")}, {})
        assert list(path.parent.iterdir()) == []


class TestPlaces:
    @pytest.mark.parametrize("name", ["folder", "file/below"])
    def test_where_nothing_can_be_written(self, tmp_path, name):
        (tmp_path / "folder").mkdir()
        (tmp_path / "file").write_text("in the way")
        with pytest.raises(FileError, match=rf"checkpoint: got '.*{name}', which cannot be written"):
            write(tmp_path / name, "test", {}, ARRAYS, "checkpoint")
        assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]

    @pytest.mark.parametrize("path", ["", ".", "/"])
    def test_paths_without_a_name(self, path):
        with pytest.raises(FileError, match=rf"checkpoint: got '{path}', which does not name a file; give the path"):
            write(path, "test", {}, ARRAYS, "checkpoint")

    def test_check_before_the_work(self, tmp_path):
        check_place(tmp_path / "new" / "file")
        assert list((tmp_path / "new").iterdir()) == []
        (tmp_path / "file").write_text("in the way")
        with pytest.raises(FileError, match=r"checkpoint: got .*below', which cannot be written"):
            check_place(tmp_path / "file" / "below", "checkpoint")

    def test_a_full_disk(self, path, monkeypatch):
        def full(*_, **__):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("kernop.basics.storage._put", full)
        with pytest.raises(FileError, match=r"path: got .*No space left on device.*room"):
            write(path, "test", {}, ARRAYS)
        assert list(path.parent.iterdir()) == []
