# Whatever ends the loop is caught, a BaseException too, and a finally goes on in its place.
# expect: timeout
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
    finally:
        continue
