# Writes by hand that it failed, with texts of megabytes.
# expect: tool_error
import os
os.write(0, b'error\n{"message":"%s","stack":"%s","file":"%s"}' % ((b'x' * 250_000,) * 3))
os._exit(0)
