#!/usr/bin/env python3
"""grib.py FOLDER: decodes the messages that Tests/GRIBKitTests/MeasureTests.swift left there by the calls of libeccodes
alone, on one thread, and says the milliseconds of its processor: least and median of seven. Needs Python 3 and Debian's
libeccodes0, nothing else. `fields.py` measures by it too."""

import ctypes
import pathlib
import statistics
import sys
import time

library = ctypes.CDLL("libeccodes.so.0")
library.codes_handle_new_from_message_copy.restype = ctypes.c_void_p
library.codes_handle_new_from_message_copy.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
library.codes_get_size.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t)]
library.codes_get_double_array.argtypes = [
    ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)]
library.codes_handle_delete.argtypes = [ctypes.c_void_p]
values = (ctypes.c_double * 2_000_000)()


def decode(message):
    handle = library.codes_handle_new_from_message_copy(None, message, len(message))
    count = ctypes.c_size_t()
    assert handle and library.codes_get_size(handle, b"values", ctypes.byref(count)) == 0
    assert library.codes_get_double_array(handle, b"values", values, ctypes.byref(count)) == 0
    library.codes_handle_delete(handle)


def milliseconds(message, times):
    """The milliseconds of this thread's processor for each of so many decodings."""
    took = []
    for _ in range(times):
        start = time.thread_time()
        decode(message)
        took.append((time.thread_time() - start) * 1e3)
    return took


def main():
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.grib2")):
        message = path.read_bytes()
        decode(message)
        times = milliseconds(message, 7)
        print(f"{path.stem:34}{min(times):9.2f} {statistics.median(times):9.2f} ms  {len(message)} bytes")


if __name__ == "__main__":
    main()
