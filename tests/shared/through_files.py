"""Stored values, as they come back from a file."""

import json

from kernop.basics.codec import Decoder, Encoder
from kernop.basics.errors import FileError, fail


def returned(value, family):
    """The value, written as a file has it and read again: ``family`` says what it is."""
    encoder = Encoder()
    text = json.loads(json.dumps(encoder.encode(value, "value", family), allow_nan=False))
    decoder = Decoder(encoder.arrays, lambda got: fail(FileError, "path", got, ""))
    found = decoder.decode(family, text, "value")
    decoder.finish()
    return found
