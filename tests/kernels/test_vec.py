"""vec.h and math.h on every instruction set: accurate, and blind to where in a vector an element lies."""

import ctypes
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from isotherm.kernels.native.build import find_compiler
from isotherm.kernels.native.isa import FLAGS, supported

HERE = Path(__file__).parent
NATIVE = HERE.parents[1] / "src/isotherm/kernels/native"
INF = math.inf


@pytest.fixture(
    scope="module", params=[(isa, bf16) for isa in supported() for bf16 in (1, 0)], ids=lambda p: f"{p[0]}-bf16={p[1]}"
)
def probe(request, tmp_path_factory):
    isa, bf16 = request.param
    path = tmp_path_factory.mktemp("probe") / "probe.so"
    flags = ("-O3", "-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-Wall", "-Wextra", "-Werror", "-Wno-psabi")
    command = (find_compiler(), *flags, *FLAGS[isa], f"-DISO_BF16={bf16}", f"-I{NATIVE}", "-shared", "-fPIC")
    subprocess.run((*command, HERE / "vec_probe.c", "-o", path), check=True)
    return ctypes.CDLL(str(path)), torch.bfloat16 if bf16 else torch.float32


def call(probe, name: str, x: torch.Tensor, n: int | None = None, out: torch.Tensor | None = None) -> torch.Tensor:
    y = torch.empty_like(x) if out is None else out
    size = ctypes.c_int64(x.numel() if n is None else n)
    getattr(probe[0], name)(ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()), size)
    return y


def ulps(got: torch.Tensor, exact: np.ndarray) -> float:
    """The largest error in units of the last place of the exact value."""
    spacing = np.maximum(np.spacing(np.abs(exact).astype(np.float32)), np.float32(2**-149)).astype(np.float64)
    return float(np.max(np.abs(got.double().numpy() - exact) / spacing))


FUNCTIONS = {
    "exp": (np.exp, torch.linspace(-87.3, 88.7, 200_003), 2.0),
    "log": (np.log, torch.cat([torch.linspace(1e-6, 3, 200_001), torch.logspace(-37, 38, 50_001)]), 2.0),
    "log1p": (np.log1p, torch.cat([torch.linspace(0, 4, 100_001), torch.logspace(-30, 38, 50_001)]), 2.5),
    "softplus": (lambda x: np.logaddexp(0, x), torch.linspace(-85, 90, 200_003), 3.5),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), torch.linspace(-85, 90, 200_003), 3.5),
    "silu": (lambda x: x / (1 + np.exp(-x)), torch.linspace(-80, 90, 200_003), 3.5),
    "sqrt": (np.sqrt, torch.linspace(0, 100, 10_001), 0.5),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_accurate_to_a_few_units_of_the_last_place(probe, name):
    exact, x, bound = FUNCTIONS[name]
    assert ulps(call(probe, f"probe_{name}", x), exact(x.double().numpy())) <= bound


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_element_has_the_same_bits_in_every_lane(probe, name):
    _, x, _ = FUNCTIONS[name]
    values = x[:: x.numel() // 500].contiguous()
    whole = call(probe, f"probe_{name}", values)
    for shift in range(1, 17):
        assert torch.equal(call(probe, f"probe_{name}", values[shift:].contiguous()), whole[shift:])


def test_the_scalar_form_has_the_bits_of_the_lanes(probe):
    x = torch.linspace(-30, 30, 1001)
    assert torch.equal(call(probe, "probe_scalar", x), call(probe, "probe_softplus", x))


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("exp", [-INF, -1e30, -88.0, 0.0, 89.0, 1e30, INF], [0.0, 0.0, 0.0, 1.0, INF, INF, INF]),
        ("log", [0.0, 1.0, INF], [-INF, 0.0, INF]),
        ("log1p", [0.0, 1e-30, INF], [0.0, 1e-30, INF]),
        ("softplus", [-INF, -1e5, 1e5, INF], [0.0, 0.0, 1e5, INF]),
        ("sigmoid", [-INF, -1e5, 0.0, 1e5, INF], [0.0, 0.0, 0.5, 1.0, 1.0]),
        ("round", [0.5, 1.5, 2.5, -0.5, -1.5, 2.4999], [0.0, 2.0, 2.0, 0.0, -2.0, 2.0]),
    ],
)
def test_special_values(probe, name, x, expected):
    assert call(probe, f"probe_{name}", torch.tensor(x)).tolist() == torch.tensor(expected).tolist()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nan_gives_nan(probe, name):
    assert call(probe, f"probe_{name}", torch.full((16,), torch.nan)).isnan().all()


def test_log_of_a_negative_number_is_nan(probe):
    assert call(probe, "probe_log", torch.tensor([-1.0, -INF])).isnan().all()


def test_storing_rounds_to_nearest_even_as_torch_does(probe):
    bits = torch.arange(0, 2**32, 65_521, dtype=torch.int64).to(torch.int32)
    halves = (torch.arange(-(2**15), 2**15, dtype=torch.int64) * 65536 + 32768).to(torch.int32)
    x = torch.cat([bits, halves])[: (bits.numel() + halves.numel()) // 16 * 16].view(torch.float32)
    got = call(probe, "probe_store", x, out=torch.empty(x.shape, dtype=probe[1]))
    expected = x.to(probe[1])
    finite = ~expected.isnan()
    assert torch.equal(got[finite], expected[finite])
    assert got[~finite].isnan().all()


def test_loading_widens_exactly(probe):
    x = torch.randn(160).to(probe[1])
    assert torch.equal(call(probe, "probe_load", x, out=torch.empty(160)), x.float())


@pytest.mark.parametrize("n", range(17))
def test_partial_loads_fill_with_zeros_and_partial_stores_leave_the_rest(probe, n):
    x, y = torch.randn(16).to(probe[1]), torch.full((16,), 7.0)
    if n:
        call(probe, "probe_load", x, n, y)
        assert torch.equal(y, torch.cat([x[:n].float(), torch.zeros(16 - n)]))
    stored = torch.full((16,), 7.0, dtype=probe[1])
    call(probe, "probe_store", x.float(), n, stored)
    assert torch.equal(stored, torch.cat([x[:n], torch.full((16 - n,), 7.0, dtype=probe[1])]))


def test_the_horizontal_sum_is_the_stated_tree(probe):
    x = torch.randn(16) * torch.logspace(-4, 4, 16)
    s = x
    while s.numel() > 1:
        s = s[: s.numel() // 2] + s[s.numel() // 2 :]
    assert call(probe, "probe_hsum", x)[:2].tolist() == [s.item(), x.max().item()]


def test_choices_follow_their_definition(probe):
    a = torch.tensor([1.0, 2.0, torch.nan, 3.0, -INF, 5.0, -0.0, 8.0] * 2)
    b = torch.tensor([2.0, 1.0, 4.0, torch.nan, 0.0, 5.0, 0.0, -8.0] * 2)
    y = torch.empty(64)
    call(probe, "probe_choose", torch.cat([a, b]), 9, y)
    expected = (
        torch.where(a > b, a, b),
        torch.where(a < b, a, b),
        torch.where((a <= b) & (torch.arange(16) < 9), a, b),
        ((a == b) | a.isnan()).float(),
    )
    assert torch.equal(y.view(torch.int32), torch.cat(expected).view(torch.int32))
