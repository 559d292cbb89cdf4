"""Numbers straight from the pages of a SQLite table, as numpy columns.

A profile's big tables hold numbers and little else (names are ids of STRING_IDS). Python's sqlite3
makes an object of every cell, 15 times slower than taking a thousand pages at once: a kernel has
28 rows of hardware counters. The format (https://www.sqlite.org/fileformat2.html) in short: a
table is a tree of pages; a leaf (type 13) lists its cells; a cell is payload size and row id
(varints) and a record: header size, a type per column, the values, big-endian. What does not fit
into these words (values on overflow pages, other encodings) is :class:`Unfit`, for sqlite3 to read.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tb_npu_plugin.backend.readers.db_cells import LEAF, Batch, Cells, Damage, Ints, Unfit

#: A batch is about this many bytes of pages.
BATCH_BYTES = 1 << 20
_INTERIOR = 5
_HEADER = 100
_MAX_DEPTH = 20
_SAMPLE = 16


class Pages:
    """The pages of a database file. ``file`` is open without a buffer."""

    def __init__(self, file: io.FileIO) -> None:
        self.file = file
        file.seek(0)
        head = file.read(_HEADER)
        if len(head) < _HEADER or not head.startswith(b"SQLite format 3\0"):
            raise Unfit("no database")
        size = int.from_bytes(head[16:18], "big")
        self.size = 65536 if size == 1 else size
        if self.size < 512 or self.size & (self.size - 1) or head[56:60] not in (
            b"\0\0\0\1", b"\0\0\0\0"
        ):  # fmt: skip
            raise Unfit("page size or encoding")
        self.usable = self.size - head[20]
        self.count = file.seek(0, io.SEEK_END) // self.size

    def read(self, numbers: Ints) -> npt.NDArray[np.uint8]:
        """Those pages, one a row; neighbours are read at once."""
        out = np.zeros((len(numbers), self.size), dtype=np.uint8)
        breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
        edges = [0, *breaks.tolist(), len(numbers)]
        for begin, end in pairwise(edges):
            if begin == end:
                continue
            view = memoryview(out[begin:end]).cast("B")  # type: ignore[arg-type]
            self.file.seek((int(numbers[begin]) - 1) * self.size)
            got = self.file.readinto(view)
            if got < len(view):  # the file became shorter: what is missing is no page
                out[begin + got // self.size : end] = 0
        return out

    def leaves(self, root: int, damage: Damage) -> Ints:
        """The leaf pages of the table that begins at page ``root``, in order of its rows."""
        level = np.array([root], dtype=np.int64)
        for _ in range(_MAX_DEPTH):
            inside = (level > 1) & (level <= self.count)
            damage.pages += int((~inside).sum())
            level = level[inside]
            if not len(level):
                return level
            some = self.read(level[:: 1 + len(level) // _SAMPLE])
            if (some[:, 0] == LEAF).any():  # all leaves are at one depth
                return self._once(level, damage)
            children = [self._children(page, damage) for page in self._each(level)]
            level = np.concatenate([*children, np.empty(0, dtype=np.int64)])
            if len(level) > self.count:
                raise Unfit("pages in a circle")
        raise Unfit("tree too deep")

    @staticmethod
    def _once(pages: Ints, damage: Damage) -> Ints:
        """The pages without those that a damaged tree lists again."""
        found, first = np.unique(pages, return_index=True)
        damage.pages += len(pages) - len(found)
        return pages if len(found) == len(pages) else pages[np.sort(first)]

    def _each(self, numbers: Ints) -> Iterator[npt.NDArray[np.uint8]]:
        step = max(1, BATCH_BYTES // self.size)
        for begin in range(0, len(numbers), step):
            yield from self.read(numbers[begin : begin + step])

    def _children(self, page: npt.NDArray[np.uint8], damage: Damage) -> Ints:
        cells = int(page[3]) << 8 | int(page[4])
        if page[0] != _INTERIOR or 12 + 2 * cells > self.size:
            damage.pages += 1
            return np.empty(0, dtype=np.int64)
        at = page[12 : 12 + 2 * cells].view(">u2").astype(np.int64)
        at = at[at <= self.size - 4]
        numbers = [page[at + i].astype(np.int64) << (24 - 8 * i) for i in range(4)]
        right = int.from_bytes(page[8:12].tobytes(), "big")
        return np.append(sum(numbers, np.zeros(len(at), dtype=np.int64)), right)

    def table(
        self,
        root: int,
        columns: Sequence[tuple[int, bool]],
        row_id: int | None,
        damage: Damage,
        *,
        numeric: bool = False,
        only: tuple[int, int] | None = None,
    ) -> Iterator[Batch]:
        """Rows of the table at ``root``. ``columns``: (position, whether it holds fractions);
        ``row_id``: the position of the column that is an alias of the row id, if any; ``numeric``:
        no column can hold text; ``only``: a column and its value in the rows wanted.

        Raises :class:`Unfit`, also after some batches.
        """
        leaves = self.leaves(root, damage)
        step = max(1, BATCH_BYTES // self.size)
        for begin in range(0, len(leaves), step):
            pages = self.read(leaves[begin : begin + step])
            yield Cells(pages, self.usable, damage, numeric).batch(columns, row_id, only)
