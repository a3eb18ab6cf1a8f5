# Calls memory as often as there is time for, and catches every refusal.
# expect: call_limit
while True:
    try:
        memory.get_content('vault')
    except BaseException:
        pass
