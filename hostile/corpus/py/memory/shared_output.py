# An answer that is small in memory and astronomic as text: every list holds the next one twice.
# expect: timeout or memory_limit
value = [1]
for _ in range(90):
    value = [value, value]
return value
