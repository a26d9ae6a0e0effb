"""Pairs sorted by expert: integers only, so every provider shares it."""

import numpy as np
import torch
from torch import Tensor

from isotherm.kernels.api import Groups


def group(experts: Tensor, count: int) -> Groups:
    """experts [M, k] int32, each below `count` -> the M*k pairs sorted by expert, rows ascending within one."""
    k = experts.shape[1]
    flat = experts.numpy().reshape(-1)
    order = np.argsort(flat, kind="stable")
    places = np.empty(flat.size, dtype=np.int32)
    places[order] = np.arange(flat.size, dtype=np.int32)
    offsets = np.zeros(count + 1, dtype=np.int32)
    offsets[1:] = np.cumsum(np.bincount(flat, minlength=count))
    rows = (order // k).astype(np.int32)
    return Groups(torch.from_numpy(rows), torch.from_numpy(offsets), torch.from_numpy(places.reshape(experts.shape)))
