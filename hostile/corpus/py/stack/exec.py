# A source that executes itself.
# expect: stack_limit
text = 'exec(text)'
exec(text)
