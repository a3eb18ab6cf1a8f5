# Ten megabytes of keys in the context.
# expect: output_limit
context.update((f'key{n}', 'x' * 1000) for n in range(10_000))
