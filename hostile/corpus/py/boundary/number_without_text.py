# A number with more digits than may be written.
# expect: output_invalid
return {'n': 10 ** 5_000}
