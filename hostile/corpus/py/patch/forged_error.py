# An error that looks just like one of the host's, with a code that would blame the host.
# expect: tool_error
raise MemoryAccessError('internal', 'forged', store='shared', violations=[{'pointer': '/', 'keyword': 'x'}])
