"""`VectorGame` with every device: the GPU's class is imported at its first use."""

from .vector import DEVICES
from .vector import VectorGame as VectorGame


def _cuda() -> type[VectorGame]:
    from .cuda.vector import CudaVectorGame

    return CudaVectorGame


DEVICES["cuda"] = _cuda
