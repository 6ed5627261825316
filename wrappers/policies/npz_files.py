"""The arrays of a file of NumPy (``.npz``), whose sizes are checked before anything is allocated."""

import zipfile
from collections.abc import Mapping
from math import prod
from os import PathLike
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from ...envs.core.files import opened, replacing

MOST_NUMBERS = 2**26
"""Numbers that a file may hold: 256 MB of float32."""
LARGEST_MODEL = 2**31
"""Bytes that all parts of a model of another library may have together."""


def read_arrays(path: str | PathLike[str], most: int = MOST_NUMBERS) -> dict[str, Any]:
    """Return the arrays of a ``.npz`` by name, which all together have at most `most` numbers of four bytes.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is no regular file or no ``.npz``, an array is not of plain data or has another size than it
            says, or they have more numbers.
        zipfile.BadZipFile, zlib.error: if it is damaged.
    """
    with opened(path) as file, _archive(file, 8 * most) as archive:
        parts = [part for part in archive.infolist() if part.filename.endswith(".npy")]
        numbers = sum(_numbers(archive, part) for part in parts)
        if numbers > most:
            raise ValueError(f"its arrays have {numbers:,} numbers; {most:,} are allowed")
        return {part.filename.removesuffix(".npy"): _array(archive, part) for part in parts}


def write_arrays(path: str | PathLike[str], arrays: Mapping[str, Any], *, compress: bool = True) -> None:
    """Write arrays by name to a ``.npz``. On a full disk an old file stays as it was, and no new one is begun."""
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        (np.savez_compressed if compress else np.savez)(file, **arrays)


def names_of(path: str | PathLike[str]) -> list[str]:
    """Return the names of the parts of a zip file. The errors are those of `read_arrays`."""
    with opened(path) as file, _archive(file, LARGEST_MODEL) as archive:
        return archive.namelist()


def read_part(path: str | PathLike[str], name: str) -> bytes:
    """Return a part of a zip file of another library, whose parts together are within `LARGEST_MODEL`.

    Raises:
        KeyError: if there is no such part; for other errors see `read_arrays`.
    """
    with opened(path) as file, _archive(file, LARGEST_MODEL) as archive:
        return archive.read(name)


def _archive(file: BinaryIO, most: int) -> zipfile.ZipFile:
    """Return the zip file, whose parts take at most `most` bytes; a part never yields more than it says."""
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        raise ValueError(f"it is not an .npz file of NumPy or another zip file: {error}") from None
    if (size := sum(part.file_size for part in archive.infolist())) > most:
        raise ValueError(f"its parts have {size:,} bytes; {most:,} are allowed")
    return archive


def _numbers(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> int:
    """Return how many numbers an array has, of at least four bytes each, by its header.

    Raises:
        ValueError: if the array is not as large as the header says, or holds objects.
    """
    with archive.open(part) as file:
        shape, _, dtype = _header(file)
        size = prod(shape) * dtype.itemsize
        if dtype.hasobject or file.tell() + size != part.file_size:
            raise ValueError(f"{part.filename} is {dtype} of shape {shape}, in {part.file_size:,} bytes")
    return prod(shape) * max(1, dtype.itemsize // 4)


def _header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    read: Mapping[tuple[int, int], Any] = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    version = npy.read_magic(file)
    if version not in read:
        raise ValueError(f"an array has version {version} of NumPy's format")
    shape, by_column, dtype = read[version](file)
    return shape, by_column, dtype


def _array(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Any:
    with archive.open(part) as file:
        return npy.read_array(file, allow_pickle=False)
