# Calls itself as deep as it may, catches that, and begins again.
# expect: timeout
def deep():
    deep()


while True:
    try:
        deep()
    except RecursionError:
        pass
