# The frames of the half of the conversation that is the host's are reached, and their variables cleared.
# expect: tool_error or output
import sys
frame = sys._getframe()
while frame:
    if 'toolrun' in frame.f_code.co_filename:
        frame.f_globals.clear()
    frame = frame.f_back
return 'answer'
