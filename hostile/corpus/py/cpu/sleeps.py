# Sleeps longer than the run may take, and sleeps again where it is woken.
# expect: timeout
while True:
    try:
        time.sleep(3600)
    except BaseException:
        pass
