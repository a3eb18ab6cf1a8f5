# Every key of a dict has the same hash: numbers are their own, up to a modulus that is known.
# expect: timeout
import sys
return len({i * sys.hash_info.modulus: i for i in range(10 ** 6)})
