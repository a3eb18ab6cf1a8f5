# The channel is put in the places of the standard streams, and they in its.
# expect: output 1 or tool_error
import os
for one, other in ((1, 0), (2, 0), (0, 7), (0, 1)):
    try:
        os.dup2(one, other)
    except (OSError, AttributeError):
        pass
print('where does this go?')
return 1
