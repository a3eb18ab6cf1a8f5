# The name of a store ends the line of the message that it stands in.
# expect: output "not_found"
try:
    memory.get_content('own"\nset_content\n"shared"\n{"marker":2}')
except MemoryAccessError as error:
    return error.code
