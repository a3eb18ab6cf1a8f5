# Asks for a store that exists and was not granted, in each of the ways there are.
# expect: output ["not_found","not_found","not_found"]
codes = []
for call in (lambda: memory.get_content('vault'), lambda: memory.set_content('vault', {'secret': None}), lambda: memory.delete_content(store_name='vault')):
    try:
        call()
    except MemoryAccessError as error:
        codes.append(error.code)
return codes
