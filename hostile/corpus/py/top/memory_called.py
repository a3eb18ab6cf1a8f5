# The top level of a tool with an entry calls memory, where it may run once for many runs.
# expect: invalid_argument
known = memory.get_content('own')


def main():
    return known
