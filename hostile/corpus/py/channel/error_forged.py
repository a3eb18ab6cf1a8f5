# Writes by hand that it failed, with a fault that was never raised and a place that is none.
# expect: tool_error
import os
os.write(0, b'error\n{"message":"\x1b[31mforged\\u001b[2J","kind":"memory","fault":12345,"line":-5,"column":-1,"file":"../../x"}')
os._exit(0)
