"""What Triton kernels share."""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def take_turn(OVERLAP: tl.constexpr):
    """Begins a kernel that may start before the one before has ended (gpu.launch.overlap): waits for it, and lets the next start.

    Nothing that a kernel may have written is read, and nothing is written, before this.
    """
    if OVERLAP:
        gdc_wait()
        gdc_launch_dependents()
