# A trace function is called by the interpreter itself, in the half of the conversation that is not the tool's too.
# expect: timeout
import sys


def trace(frame, event, argument):
    if 'toolrun' in frame.f_code.co_filename:
        while True:
            pass
    return trace


sys.settrace(trace)
memory.get_content('own')
