# The class of the error that the host's refusal becomes cannot be made.
# expect: tool_error
def refuse(*args, **kwargs):
    raise SystemExit(3)


NotFoundError.__init__ = refuse
memory.get_content('vault')
