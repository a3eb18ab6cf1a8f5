# A function that says it needs no stack, and puts a million values on it.
# expect: tool_error or stack_limit or memory_limit or timeout or output
import opcode


def victim():
    return None


load, give = opcode.opmap['LOAD_CONST'], opcode.opmap['RETURN_VALUE']
code = bytes([opcode.opmap['RESUME'], 0] + [load, 0] * 1_000_000 + [give, 0])
victim.__code__ = victim.__code__.replace(co_code=code, co_stacksize=0)
return repr(victim())
