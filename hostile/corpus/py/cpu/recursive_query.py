# A query of the database in the standard library that never runs out of rows.
# expect: timeout
import sqlite3
rows = sqlite3.connect(':memory:').execute(
    'WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
)
return rows.fetchone()
