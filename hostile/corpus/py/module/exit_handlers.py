# Functions that are to run when the interpreter ends.
# expect: output 1
import atexit
import threading


def stay():
    while True:
        pass


atexit.register(stay)
threading._register_atexit(stay)
return 1
