"""A few captures that several tests read; written once."""

from __future__ import annotations

import pytest

from tb_npu_plugin.sample import SampleTruth, write_sample


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> SampleTruth:
    """Two ranks, level 1."""
    return write_sample(tmp_path_factory.mktemp("pair"), ranks=2, steps=3, kernels_per_step=220)


@pytest.fixture(scope="session")
def four(tmp_path_factory: pytest.TempPathFactory) -> SampleTruth:
    """Four ranks in two tensor-parallel groups, level 2, more than one micro-batch."""
    return write_sample(
        tmp_path_factory.mktemp("four"), ranks=4, steps=2, kernels_per_step=2100, level=2, seed=3
    )


@pytest.fixture(scope="session")
def short(tmp_path_factory: pytest.TempPathFactory) -> SampleTruth:
    """Two ranks, level 0."""
    return write_sample(
        tmp_path_factory.mktemp("short"), ranks=2, steps=2, kernels_per_step=90, level=0, seed=5
    )
