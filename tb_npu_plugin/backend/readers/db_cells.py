"""The rows of some leaf pages of a SQLite table, as numpy columns: all cells at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
#: Type of a leaf page of a table.
LEAF = 13
_EDGE = 32
#: Bytes of a value by its type in the record; types from 12 are blobs and text.
_SIZES = np.array([0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0], dtype=np.int64)
_DIGITS = 19
_MAX_TOP = 921  # of 19 digits the first three, so that it fits into 64 bits
_ZEROS = 0x3030303030303030
#: The same by a one-byte type: size, bits to drop of the eight bytes taken, whether it is NULL, 0
#: or 1 without bytes, whether it is a number.
_KIND = np.arange(256)
_SIZE = np.where(_KIND < 12, _SIZES[np.minimum(_KIND, 11)], (_KIND - 12) // 2).astype(np.int32)
_SHIFTS = np.where((_SIZE > 0) & (_KIND < 12), 64 - 8 * _SIZE, 0).astype(np.int64)
_CONSTANTS = (_KIND == 0) | (_KIND == 8) | (_KIND == 9)
_NUMBERS = (_KIND >= 1) & (_KIND <= 9)


class Unfit(Exception):
    """The table cannot be read this way."""


@dataclass
class Damage:
    """What had to be left out: pages that are no leaves, cells that do not fit their page."""

    pages: int = 0
    cells: int = 0


@dataclass(frozen=True)
class Batch:
    """Columns of some rows. ``known[i]`` tells which values of ``values[i]`` are numbers;
    ``odd[i]`` counts those that are neither numbers nor NULL."""

    rows: int
    values: list[Any]
    known: list[Bools]
    odd: list[int]


class Cells:
    """The cells of some leaf pages, all at once."""

    def __init__(
        self, pages: npt.NDArray[np.uint8], usable: int, damage: Damage, numeric: bool
    ) -> None:
        self.damage = damage
        size = pages.shape[1]
        counts = pages[:, 3].astype(np.int64) << 8 | pages[:, 4]
        good = (pages[:, 0] == LEAF) & (8 + 2 * counts <= size)
        damage.pages += int((~good).sum())
        counts = np.where(good, counts, 0)
        # Values are taken eight bytes at a time, so there have to be some bytes around the pages.
        edge = np.zeros(_EDGE, dtype=np.uint8)
        self.bytes = np.concatenate([edge, pages.reshape(-1), edge])
        self.words = np.ndarray(
            (len(self.bytes) - 7,), dtype=">u8", buffer=self.bytes.data, strides=(1,)
        )
        page = np.repeat(np.arange(len(pages), dtype=np.int32) * size + _EDGE, counts)
        before = (np.cumsum(counts) - counts).astype(np.int32)
        nth = np.arange(len(page), dtype=np.int32) - np.repeat(before, counts)
        slot = page + 8 + 2 * nth
        pointer = self.bytes[slot].astype(np.int32) << 8 | self.bytes[slot + 1]
        inside = (pointer >= 8) & (pointer < usable)
        at, page = (page + pointer)[inside], page[inside]
        payload, at = self.varint(at)
        self.row_id, at = self.varint(at)
        local = (payload >= 1) & (payload <= usable - 35)
        if not (numeric or local.all()):
            raise Unfit("values on overflow pages")
        whole = local & (at + np.where(local, payload, 0) <= page + usable)
        damage.cells += int((~inside).sum() + (~whole).sum())
        self.row_id, at, payload = self.row_id[whole], at[whole], payload[whole]
        self.end = at + payload
        header, self.types = self.varint(at)
        self.fits = (header >= 1) & (header <= payload)
        self.body = np.where(self.fits, at + header, at).astype(np.int32)

    def varint(self, at: Ints) -> tuple[Ints, Ints]:
        """The integers that begin at the positions, and the positions behind them."""
        at = np.minimum(at, len(self.bytes) - 10)
        first = self.bytes[at]
        value = (first & 127).astype(np.int64)
        at = at + 1
        more = np.flatnonzero(first >= 128)
        for i in range(1, 9):
            if not len(more):
                break
            byte = self.bytes[at[more]].astype(np.int64)
            if i == 8:
                value[more] = value[more] << 8 | byte
            else:
                value[more] = value[more] << 7 | byte & 127
            at[more] += 1
            more = more[byte >= 128]
        return value, at

    def batch(
        self,
        columns: Sequence[tuple[int, bool]],
        row_id: int | None,
        only: tuple[int, int] | None,
    ) -> Batch:
        """The wanted columns of all cells; cells that end before they should are left out."""
        kinds, offsets = {}, {}
        at, body = self.types, self.body
        wanted = {position for position, _ in columns} | ({only[0]} if only else set())
        for position in range(max(wanted, default=-1) + 1):
            kind: Any = self.bytes[at]
            there = at < self.body
            if there.all() and not (kind & 128).any():  # as good as always
                at = at + 1
            else:
                kind, after = self.varint(at)
                # Rows written before a column was added to the table end early: NULL.
                kind = np.where(there, kind, 0)
                at = np.where(there, after, at)
            if position in wanted:
                kinds[position], offsets[position] = kind, body
            body = body + _size_of(kind, len(self.bytes))
        good = self.fits & (body <= self.end) & (at <= self.body)
        self.damage.cells += int((~good).sum())
        keep: Any = slice(None) if good.all() else np.flatnonzero(good)
        rows = int(good.sum())
        if only:
            value, known, _ = self.numbers(kinds[only[0]][keep], offsets[only[0]][keep], False)
            keep = np.arange(len(good))[keep][known & (value == only[1])]
            rows = len(keep)
        out = Batch(rows, [], [], [])
        for position, fractions in columns:
            if position == row_id:
                out.values.append(self.row_id[keep].astype(np.float64 if fractions else np.int64))
                out.known.append(np.ones(out.rows, dtype=bool))
                out.odd.append(0)
                continue
            values, known, odd = self.numbers(
                kinds[position][keep], offsets[position][keep], fractions
            )
            out.values.append(values)
            out.known.append(known)
            out.odd.append(odd)
        return out

    def numbers(self, kind: Any, at: Ints, fractions: bool) -> tuple[Any, Bools, int]:
        """Values of one column by their types: whole numbers, fractions, text of digits."""
        small = kind if kind.dtype == np.uint8 else np.minimum(kind, 12).astype(np.uint8)
        whole = self.words[at].astype(np.int64)
        whole >>= _SHIFTS[small]
        if (constant := _CONSTANTS[small]).any():
            whole[constant] = (kind == 9)[constant]
        known = _NUMBERS[small]
        values: Any = whole.astype(np.float64) if fractions else whole
        real = np.flatnonzero(kind == 7)
        if len(real):
            number = self.words[at[real]].astype(np.uint64).view(np.float64)
            fits = np.isfinite(number) & (fractions | (np.abs(number) < 2.0**62))
            known[real] = fits
            number = np.where(fits, number, 0.0)
            values[real] = number if fractions else np.rint(number).astype(np.int64)
        text = np.flatnonzero(kind >= 12)
        odd = int((kind == 7).sum() - known[real].sum())
        if len(text):
            self._digits(kind, at, text, values, known)
        return values, known, odd

    def _digits(self, kind: Any, at: Any, rows: Ints, values: Any, known: Bools) -> None:
        """Fill in the numbers that are stored as text."""
        for number in np.unique(kind[rows]).tolist():
            those = rows[kind[rows] == number]
            length = (number - 13) // 2
            if number % 2 == 0 or not 0 < length <= _DIGITS:
                raise Unfit("text that is no number")
            value = np.zeros(len(those), dtype=np.uint64)
            # Eight digits at a time, from the last; what lies before the first counts as 0.
            for shift, behind in ((0, 0), (10**8, 8), (10**16, 16)):
                if behind >= length:
                    break
                word = self.words[at[those] + (length - behind - 8)].astype(np.uint64)
                missing = max(0, 8 - (length - behind))
                if missing:
                    keep = np.uint64((1 << 64 - 8 * missing) - 1)
                    word = word & keep | np.uint64(_ZEROS) & ~keep
                part = _eight_digits(word)
                if behind == 16 and bool((part > _MAX_TOP).any()):
                    raise Unfit("text that is no 64-bit number")
                value += part * np.uint64(shift or 1)
            values[those] = value
            known[those] = True


def _eight_digits(word: Any) -> Any:
    """Eight digits of text, the first in the highest byte, as numbers: pairs, fours, all."""
    word = word ^ np.uint64(_ZEROS)
    if (((word + np.uint64(0x7676767676767676)) | word) & np.uint64(0x8080808080808080)).any():
        raise Unfit("text that is no number")
    for bits, mask in ((8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0xFFFFFFFF)):
        high = word >> np.uint64(bits) & np.uint64(mask)
        word = high * np.uint64(10 ** (bits // 8)) + (word & np.uint64(mask))
    return word


def _size_of(kind: Any, huge: int) -> Any:
    """Bytes that values of these types take; more than there are where that cannot be."""
    if kind.dtype == np.uint8:
        return _SIZE[kind]
    size = np.where(kind < 12, _SIZES[np.clip(kind, 0, 11)], (kind - 12) // 2)
    return np.where(kind < 0, huge, np.minimum(size, huge)).astype(np.int32)
