"""SQL: windows, common table expressions, JSON, functions and aggregates in Python."""

import json
import math
import sqlite3


class Product:
    def __init__(self):
        self.value = 1

    def step(self, value):
        self.value *= value

    def finalize(self):
        return self.value


db = sqlite3.connect(":memory:")
db.create_function("root", 1, math.isqrt, deterministic=True)
db.create_aggregate("product", 1, Product)
db.create_collation("backwards", lambda a, b: (a < b) - (a > b))
db.execute("CREATE TABLE sale (day TEXT, who TEXT, amount INTEGER)")
db.executemany(
    "INSERT INTO sale VALUES (?, ?, ?)",
    [("2031-05-01", "ann", 10), ("2031-05-02", "bob", 7), ("2031-05-03", "ann", 30), ("2031-06-01", "bob", 1)],
)
queries = {
    "groups": "SELECT strftime('%m', day) AS month, sum(amount), product(amount), group_concat(who) FROM sale GROUP BY 1 HAVING count(*) > 0 ORDER BY 1",
    "window": "SELECT day, amount, sum(amount) OVER (PARTITION BY who ORDER BY day), lag(amount) OVER (ORDER BY day), rank() OVER (ORDER BY amount DESC) FROM sale ORDER BY day",
    "recursive": "WITH RECURSIVE f(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM f LIMIT 15) SELECT a FROM f",
    "function": "SELECT root(amount * 100) FROM sale ORDER BY who COLLATE backwards, day",
    "upsert": "SELECT json_group_array(who) FROM (SELECT DISTINCT who FROM sale ORDER BY who)",
    "json": "SELECT json_extract('{\"a\":[1,{\"b\":null}]}', '$.a[0]'), json_array_length('[1,2]')",
    "dates": "SELECT date('2031-01-31', '+1 month'), julianday('2000-01-01'), strftime('%s', '2031-05-06 07:08:09')",
    "texts": "SELECT upper('aé'), substr('hello', -3, 2), printf('%05.1f', 2.25), 'a' || NULL, hex('ü'), 7 / 2, 7 % -2, round(2.5), like('A%', 'abc')",
}
rows = {name: db.execute(query).fetchall() for name, query in queries.items()}
lazy = db.execute("SELECT * FROM sale")
return {
    **rows,
    "array": json.loads(rows["upsert"][0][0]),
    "names": [column[0] for column in lazy.description],
    "some": lazy.fetchmany(2),
    "changes": db.total_changes,
}
