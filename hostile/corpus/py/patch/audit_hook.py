# A hook that hears of everything, for ever, and forbids it.
# expect: tool_error or output
import sys


def hook(event, arguments):
    raise RuntimeError(event)


sys.addaudithook(hook)
return memory.get_content('shared')
