# Writes to what is everyone's and fails afterwards.
# expect: tool_error
memory.set_content('shared', {'marker': 'gone'})
memory.delete_content('own')
raise RuntimeError('now')
