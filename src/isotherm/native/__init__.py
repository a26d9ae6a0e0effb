"""`numerics=native`: torch's own kernels, and the layout policies of other engines, each behind a switch (docs/native.md).

It measures what exactness costs and shows that the gate can go red. Nothing in exact mode imports it.
"""
