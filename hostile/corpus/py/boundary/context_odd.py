# Keys of the context that are no texts, and values that are themselves.
# expect: output_invalid
context[context.get] = context
