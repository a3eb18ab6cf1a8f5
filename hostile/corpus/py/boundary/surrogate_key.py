# Half of a surrogate pair, in a name of a content: two of them would become one.
# expect: invalid_argument
memory.set_content('own', {'\udc80': 1, '\udc81': 2})
