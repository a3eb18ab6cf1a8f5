# A value that is twice as long at each turn.
# expect: memory_limit
text = b'x'
while True:
    text += text
