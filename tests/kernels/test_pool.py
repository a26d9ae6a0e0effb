"""The kernels' threads: every piece once, nobody waited for who holds nothing, and nothing left behind."""

import ctypes
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from isotherm.kernels.native.build import find_compiler

HERE = Path(__file__).parent
NATIVE = HERE.parents[1] / "src/isotherm/kernels/native"


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("pool") / "probe.so"
    flags = ("-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{NATIVE}", "-shared", "-fPIC")
    subprocess.run((find_compiler(), *flags, HERE / "pool_probe.c", NATIVE / "pool.c", "-o", path), check=True)
    return path


@pytest.fixture
def probe(library):
    return ctypes.CDLL(str(library))


def count(probe, pieces: int, threads: int, pause: int = 0) -> int:
    """Runs one call, checks that each piece was done once, and tells how many the workers did."""
    times = np.zeros(pieces, np.int32)
    function = probe.probe_count
    function.restype = ctypes.c_long
    by_others = function(
        ctypes.c_void_p(times.ctypes.data), ctypes.c_long(pieces), ctypes.c_int(threads), ctypes.c_long(pause)
    )
    assert (times == 1).all()
    return int(by_others)


def threads_now() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def run(library: Path, code: str) -> subprocess.CompletedProcess[str]:
    """`code` in a process of its own, where `count(pieces, threads, pause)` runs a call."""
    head = f"import ctypes, os, sys, threading, time\nsys.path.insert(0, {str(HERE)!r})\nimport test_pool as t\n"
    head += f"probe = ctypes.CDLL({str(library)!r})\ncount = lambda *a: t.count(probe, *a)\n"
    return subprocess.run([sys.executable, "-c", head + code], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_every_piece_is_done_once(probe, threads):
    for pieces in (0, 1, 2, 3, 7, 64, 1000):
        for _ in range(20):
            count(probe, pieces, threads)


def test_every_item_is_done_once_whatever_the_step(probe):
    for items in (0, 1, 5, 64, 129):
        for step in (1, 4, 64, 200):
            times = np.zeros(items + 1, np.int32)
            probe.probe_each(
                ctypes.c_void_p(times.ctypes.data), ctypes.c_long(items), ctypes.c_long(step), ctypes.c_int(3)
            )
            assert times.tolist() == [1] * items + [0]


def test_workers_take_their_share_awake_or_asleep(probe):
    for _ in range(2):
        assert count(probe, 50, 2, pause=1_000_000) > 5
        time.sleep(0.05)  # long enough to fall asleep


def test_a_worker_that_does_not_get_on_holds_up_no_other_piece(probe):
    """It would wait for ever if the caller left pieces to it."""
    assert probe.probe_stall(ctypes.c_long(50)) == 50


def test_a_call_inside_a_call_goes_alone(probe):
    times = np.zeros(64, np.int32)
    probe.probe_nested(ctypes.c_void_p(times.ctypes.data))
    assert (times == 1).all()


def test_calls_of_two_threads_at_once_are_both_right(probe):
    failures = []

    def many() -> None:
        try:
            for _ in range(300):
                count(probe, 37, 3)
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=many) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_workers_are_made_once_and_only_when_wanted(library):
    done = run(
        library,
        "before = t.threads_now()\n"
        "count(9, 1); count(1, 8); assert t.threads_now() == before\n"
        "for _ in range(50): count(9, 3)\n"
        "assert t.threads_now() == before + 2\n"
        "count(9, 2); assert t.threads_now() == before + 2\n",
    )
    assert done.returncode == 0, done.stderr


def test_a_fork_works_on_with_workers_of_its_own(library):
    done = run(
        library,
        "count(100, 3)\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    assert t.threads_now() == 1\n"
        "    assert count(50, 2, 1_000_000) > 5\n"
        "    sys.exit(7)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
        "assert count(50, 2, 1_000_000) > 5\n",
    )
    assert done.returncode == 0, done.stderr


def test_idle_workers_use_no_time(library):
    done = run(
        library,
        "count(100, 4); time.sleep(0.05); start = time.process_time(); time.sleep(0.5)\n"
        "assert time.process_time() - start < 0.05\n",
    )
    assert done.returncode == 0, done.stderr


def test_a_process_ends_while_another_thread_is_in_a_call(library):
    done = run(
        library,
        "threading.Thread(target=lambda: [count(64, 3, 100_000) for _ in range(10_000)], daemon=True).start()\n"
        "time.sleep(0.2)\n",
    )
    assert done.returncode == 0, done.stderr
