# The module that would call any function of C.
# expect: tool_error
import ctypes
return ctypes.string_at(0)
