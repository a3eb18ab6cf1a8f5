# A JSON text of brackets alone is read.
# expect: stack_limit
return json.loads('[' * 10 ** 6)
