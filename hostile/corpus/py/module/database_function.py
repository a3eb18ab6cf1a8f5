# A function of the tool is called from within a query, and runs a query itself, and so on.
# expect: stack_limit or tool_error
import sqlite3
base = sqlite3.connect(':memory:')
base.create_function('deep', 0, lambda: base.execute('SELECT deep()').fetchone()[0])
return base.execute('SELECT deep()').fetchone()
