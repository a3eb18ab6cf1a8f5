# The limit on nested values is raised in the guest; the host has one of its own.
# expect: output_invalid
import sys
sys.modules['_toolrun.operations'].nesting = 10 ** 9
value = 1
for _ in range(300):
    value = [value]
return value
