# Prints for ever.
# expect: timeout
while True:
    print('more')
