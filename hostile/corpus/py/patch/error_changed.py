# An error of the host's whose code and text are changed before it is let through.
# expect: not_found
try:
    memory.get_content('vault')
except MemoryAccessError as error:
    error.code, error.message, error.args = 'internal', 'forged', ('forged',)
    error.__class__ = memory.UnavailableError
    raise
