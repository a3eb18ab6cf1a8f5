# The database in the standard library opens a file of the host.
# expect: tool_error
import sqlite3
base = sqlite3.connect(':memory:')
base.execute("ATTACH DATABASE '/etc/passwd' AS other")
return base.execute('SELECT * FROM other.sqlite_master').fetchall()
