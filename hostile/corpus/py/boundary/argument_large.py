# A content of thirty megabytes.
# expect: too_large
memory.set_content('own', {'a': 'x' * (30 << 20)})
