# An answer of ten megabytes.
# expect: output_limit
return 'x' * 10 ** 7
