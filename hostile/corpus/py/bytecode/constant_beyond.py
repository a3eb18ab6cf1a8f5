# An instruction loads a constant far behind the last one, and uses whatever lies there as an object.
# expect: tool_error or stack_limit
import opcode


def victim():
    return None


extended, load, give = (opcode.opmap[name] for name in ('EXTENDED_ARG', 'LOAD_CONST', 'RETURN_VALUE'))
victim.__code__ = victim.__code__.replace(co_code=bytes([extended, 7, extended, 255, load, 255, give, 0]), co_consts=())
return repr(victim())
