# A million arguments to a function of three.
# expect: invalid_argument
memory.get_content(*range(10 ** 6))
