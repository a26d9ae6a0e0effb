"""What the Triton kernels share: batches on the device, and how kernels are launched. Imports no Triton by itself."""
