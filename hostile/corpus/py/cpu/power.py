# A power with a hundred million digits, computed by a single instruction.
# expect: timeout or memory_limit
return (10 ** 10 ** 8) & 1
