# Asks for two gibibytes at once.
# expect: memory_limit
return len(bytearray(2 ** 31 - 100))
