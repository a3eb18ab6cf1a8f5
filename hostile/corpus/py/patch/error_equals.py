# An error that says it is every other error.
# expect: tool_error
class Same(Exception):
    def __eq__(self, other):
        return True

    __hash__ = None


try:
    memory.get_content('vault')
except MemoryAccessError:
    raise Same('forged') from None
