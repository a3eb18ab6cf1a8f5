# Functions whose bytecode is made of random bytes.
# expect: output or tool_error or stack_limit or memory_limit or timeout
import os


def victim(a=1, b=2):
    return a + b


while True:
    victim.__code__ = victim.__code__.replace(co_code=os.urandom(64))
    try:
        victim()
    except Exception:
        pass
