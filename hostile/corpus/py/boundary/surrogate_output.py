# Half of a surrogate pair, in the answer.
# expect: output_invalid
return {'a': 'x\udead'}
