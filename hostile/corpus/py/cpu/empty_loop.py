# A loop of Python that does nothing, for ever.
# expect: timeout
while True:
    pass
