"""Read matrices from numpy and scipy files safely, even if the files are damaged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from io import BufferedReader
from typing import Any
from zipfile import ZipFile

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy

from spectralnlp.errors import InputError
from spectralnlp.runtime import Location, open_binary
from spectralnlp_sketch.errors import MatrixError
from spectralnlp_sketch.rows import Matrix, check_matrix

# Arrays larger than the first number of bytes may be at most the second number of times their archive's size.
_SWOLLEN, _MAX_SWELLING = 64 << 20, 200


def npy_header(path: Location) -> tuple[tuple[int, int], np.dtype[Any], int]:
    """Return shape, dtype and data offset of an ``.npy`` file, after checking its header and length.

    Raises:
        InputError: the file cannot be read or is cut short, or holds no matrix of real numbers in row order.
    """
    with open_binary(path) as file:
        try:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, fortran, dtype = read(file)
        except OSError as error:
            raise InputError(f"cannot read the file: {error.strerror or error}", path=path) from error
        except Exception as error:  # numpy raises errors of any class for a damaged header
            raise InputError("not a matrix of numpy: its header is damaged", path=path) from error
        offset = file.tell()
        length = go_to(file, path, 0, os.SEEK_END)
    if len(shape) != 2 or dtype.kind not in "fiub":
        what = f"holds {_brief(dtype)} of shape {_brief(shape)}, not a matrix of numbers"
        raise InputError(what, path=path)
    _check_shape(path, shape)
    if fortran and min(shape) > 1:
        hint = "save numpy.ascontiguousarray(matrix)"
        raise InputError("is in Fortran order, which cannot be read by rows", path=path, hint=hint)
    if length < offset + shape[0] * shape[1] * dtype.itemsize:
        raise InputError("the file is cut short", path=path)
    return shape, dtype, offset


def load_npz(path: Location) -> Matrix:
    """Load a sparse matrix from an ``.npz`` file as CSR, and check that its indices are in range.

    Raises:
        InputError: the file is missing or damaged, or holds float16 or values that are not real numbers.
        MemoryError: the matrix does not fit into memory.
    """
    try:
        with open_binary(path) as file:
            _check_swelling(file, path)
            matrix = sp.load_npz(file)
            _check_shape(path, matrix.shape)
            check_matrix(matrix)
            matrix = matrix.tocsr()
    except MatrixError as error:
        raise InputError(error.what, path=path, hint=error.hint) from error
    except (InputError, MemoryError):
        raise
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror or error}", path=path) from error
    except Exception as error:  # zipfile, zlib, numpy and scipy raise errors of any class
        hint = "write it with scipy.sparse.save_npz"
        raise InputError("not a sparse matrix of scipy, or damaged", path=path, hint=hint) from error
    if matrix.dtype.kind not in "fiub":
        raise InputError(f"holds {_brief(matrix.dtype)}, not real numbers", path=path)
    if matrix.dtype == np.float16:  # scipy stores float16, but cannot compute with it
        raise InputError("holds float16", path=path, hint="save it as float32")
    return matrix


def _check_swelling(file: BufferedReader, path: Location) -> None:
    """Raise InputError for an archive whose unpacked arrays would be far larger than the file."""
    packed = go_to(file, path, 0, os.SEEK_END)  # an archive is read from its end
    with ZipFile(file) as archive:
        size = sum(each.file_size for each in archive.infolist())
    go_to(file, path, 0)
    if size > max(_SWOLLEN, _MAX_SWELLING * packed):
        what = f"an archive that swells to more than {_MAX_SWELLING} times its size"
        raise InputError(what, path=path, hint="check its contents")


def _check_shape(path: Location, shape: Sequence[int]) -> None:
    """Raise InputError for a shape that is not two-dimensional or too wide for 32-bit column indices."""
    if len(shape) != 2 or not all(0 <= size < 1 << 62 for size in shape) or shape[1] >= 1 << 31:
        raise InputError(f"holds a matrix of invalid shape {_brief(shape)}", path=path)


def go_to(file: BufferedReader, path: Location, offset: int, whence: int = os.SEEK_SET) -> int:
    """Move to an offset of a file, and return the new position; raise InputError if the file cannot seek.

    Args:
        file: file opened for reading bytes.
        path: path of the file, for the error message.
        offset: number of bytes to move by.
        whence: what the offset is counted from, as for ``file.seek``.
    """
    try:
        return file.seek(offset, whence)
    except (OSError, ValueError) as error:
        hint = "copy it to this machine, or give numbers as text"
        raise InputError("can only be read from its beginning to its end", path=path, hint=hint) from error


def _brief(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
