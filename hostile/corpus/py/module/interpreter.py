# An interpreter within the interpreter, that has the same channel and none of the limits.
# expect: output or tool_error or stack_limit or memory_limit
import _xxsubinterpreters as interpreters
for _ in range(3):
    inner = interpreters.create()
    interpreters.run_string(inner, 'import os; os.write(0, b"call\\nget_content\\n\\"vault\\"")')
