# Adds up an iterator without an end, all of it in C.
# expect: timeout
return sum(iter(int, 1))
