# An answer of lists within lists.
# expect: output_invalid
value = []
for _ in range(10 ** 5):
    value = [value]
return value
