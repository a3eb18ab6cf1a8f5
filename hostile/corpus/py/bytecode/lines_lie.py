# Tables of lines and of exceptions that are garbage, and are read when something fails.
# expect: tool_error or stack_limit or timeout
import os


def victim():
    return 1 // 0


victim.__code__ = victim.__code__.replace(co_linetable=b'\xff' * 50, co_exceptiontable=os.urandom(50))
victim()
