"""What one link can carry at most, in one direction: by chip, or as the user says."""

from __future__ import annotations

import re

from tb_npu_plugin.backend.errors import RequestError
from tb_npu_plugin.backend.readers.csv_file import quote
from tb_npu_plugin.backend.selection import Selected

#: Beginning of a chip's name -> bytes per s of one link and direction, as the maker's product pages
#: give them (Atlas A2: HCCS 56 GB/s both ways between two NPUs, a 200 Gbit/s RoCE port per NPU).
CHIPS: dict[str, dict[str, float]] = {
    "Ascend910B": {"HCCS": 28e9, "RDMA": 25e9},
}
_TERM = re.compile(r"^([A-Za-z_]{2,16})=(\d{1,5}(?:\.\d{1,3})?)$")


def link_peaks(sel: Selected) -> dict[str, float]:
    """Link type -> bytes per s: of the ``peak`` option (``HCCS=28,RDMA=25``, in GB/s), over those
    of the chip where a file names it; empty where neither tells.

    Raises RequestError 400 for an option that is no such list.
    """
    chips = {c.info.chip for c in sel.captures if c.info.chip}
    found: dict[str, float] = {}
    if len(chips) == 1:
        chip = chips.pop()
        for name, peaks in CHIPS.items():
            if chip.startswith(name):
                found.update(peaks)
    for word in re.split(r"[,\s]+", sel.options.get("peak", "").strip()):
        match = _TERM.match(word)
        if not word:
            continue
        if not match or not float(match[2]):
            raise RequestError(400, "bad-peak", f"The peak of a link cannot be {word!r}.",
                               "Write GB/s of one link in one direction: HCCS=28,RDMA=25.")  # fmt: skip
        found[match[1].upper()] = float(match[2]) * 1e9
    return found


def peak_sql(peaks: dict[str, float], column: str) -> str:
    """The peak of the link type in ``column``; NULL where unknown."""
    cases = " ".join(f"WHEN {quote(link)} THEN {peak!r}" for link, peak in peaks.items())
    return f"CAST(CASE {column} {cases} END AS DOUBLE)" if cases else "CAST(NULL AS DOUBLE)"


def peaks_text(peaks: dict[str, float]) -> str:
    """``HCCS=28 RDMA=25``, in GB/s."""
    return " ".join(f"{link}={peak / 1e9:g}" for link, peak in peaks.items())
