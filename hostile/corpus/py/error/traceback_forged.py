# A traceback of the tool's making, which ends at an instruction that there is not.
# expect: tool_error
import sys
import types
error = ValueError('forged')
error.__traceback__ = types.TracebackType(None, sys._getframe(), 10 ** 9, -10 ** 9)
raise error
