"""What XLA gives to a function that it calls, made by hand, as ``xla/ffi/api/c_api.h`` has it."""

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p

Function = ctypes.CFUNCTYPE(c_void_p, c_void_p)


def struct(*fields):
    """Return a structure that begins with its size and its extensions, as those of XLA do."""
    own = [("struct_size", c_size_t), ("extension_start", c_void_p), *fields]
    return type("Struct", (Structure,), {"_fields_": own})


Version = struct(("major_version", c_int32), ("minor_version", c_int32))
Buffer = struct(("dtype", c_int32), ("data", c_void_p), ("rank", c_int64), ("dims", POINTER(c_int64)))
Buffers = struct(("size", c_int64), ("types", c_void_p), ("buffers", POINTER(c_void_p)))
Attributes = struct(("size", c_int64), ("types", c_void_p), ("names", c_void_p), ("attrs", c_void_p))
CallFrame = struct(
    ("api", c_void_p), ("ctx", c_void_p), ("stage", c_int32), ("args", Buffers), ("rets", Buffers),
    ("attrs", Attributes), ("future", c_void_p),
)  # fmt: skip
ErrorArgs = struct(("message", c_char_p), ("errc", c_int32))
StreamArgs = struct(("ctx", c_void_p), ("stream", c_void_p))
Metadata = type(
    "Metadata",
    (Structure,),
    {"_fields_": [("struct_size", c_size_t), ("version", Version), ("traits", c_uint32), ("state_type", c_int64)]},
)


class Extension(Structure):
    """The question for the properties of a function."""

    _fields_ = (("struct_size", c_size_t), ("type", c_int32), ("next", c_void_p), ("metadata", POINTER(Metadata)))


CONTEXT, STREAM, ERROR = 4321, 1234, 99


class Frame:
    """A call with NumPy arrays as arguments and results. `errors` has codes and texts."""

    def __init__(self, arguments, results, stream_error=0):
        self.errors, self.metadata = [], Metadata()
        self._kept = []
        interface = struct(
            ("version", Version), ("internal", c_void_p), *((f"function_{number}", Function) for number in range(18))
        )
        api = interface(version=Version(major_version=0, minor_version=3))
        api.function_0, api.function_4 = Function(self._error), Function(self._stream)
        self._stream_error = stream_error
        self.frame = CallFrame(api=ctypes.addressof(api), ctx=CONTEXT, stage=3)
        self.frame.args, self.frame.rets = self._buffers(arguments), self._buffers(results)
        self._kept.append(api)

    def _buffers(self, arrays):
        made = []
        for array in arrays:
            sizes = (c_int64 * max(array.ndim, 1))(*array.shape)
            made.append(Buffer(data=array.ctypes.data, rank=array.ndim, dims=sizes))
            self._kept += [array, sizes]
        places = (c_void_p * len(made))(*map(ctypes.addressof, made))
        self._kept += [made, places]
        return Buffers(size=len(made), buffers=places)

    def _error(self, given):
        asked = ErrorArgs.from_address(given)
        self.errors.append((asked.errc, asked.message.decode()))
        return ERROR

    def _stream(self, given):
        asked = StreamArgs.from_address(given)
        assert (asked.struct_size, asked.ctx) == (ctypes.sizeof(StreamArgs), CONTEXT)
        asked.stream = STREAM
        return self._stream_error

    def call(self, address):
        """Call a function at an address; return its result."""
        return Function(address)(ctypes.addressof(self.frame)) or 0

    def ask(self, address):
        """Ask a function for its properties; return them."""
        extension = Extension(type=1, metadata=ctypes.pointer(self.metadata))
        self.frame.extension_start = ctypes.addressof(extension)
        assert self.call(address) == 0
        self.frame.extension_start = None
        return self.metadata
