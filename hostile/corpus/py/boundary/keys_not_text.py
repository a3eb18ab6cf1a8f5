# Names that are no texts, and that JSON has no place for.
# expect: output_invalid
return {(1, 2): 3, b'x': 4, None.__class__: 5}
