# A profile function raises in every function of C that is called.
# expect: tool_error or output
import sys


def profile(frame, event, argument):
    if event == 'c_call':
        raise MemoryError


sys.setprofile(profile)
return 1
