# Two keys of a dict that are one name in JSON.
# expect: output_invalid or output
return {1: 'a', '1': 'b', True: 'c', 'true': 'd'}
