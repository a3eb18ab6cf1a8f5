"""sqlite3 in memory: transactions, constraints, rows by name, converters."""

import sqlite3


def main():
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    db.executescript(
        """
        PRAGMA foreign_keys = ON;
        CREATE TABLE shelf (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL);
        CREATE TABLE item (name TEXT, count INTEGER CHECK (count >= 0), shelf REFERENCES shelf(id) ON DELETE CASCADE);
        CREATE INDEX by_name ON item (name);
    """
    )
    db.executemany("INSERT INTO shelf (name) VALUES (?)", [("left",), ("right",)])
    db.executemany(
        "INSERT INTO item VALUES (:name, :count, :shelf)",
        [
            {"name": "pen", "count": 3, "shelf": 1},
            {"name": "ink", "count": 0, "shelf": 1},
            {"name": "'; --", "count": 7, "shelf": 2},
        ],
    )
    db.commit()
    errors = []
    for statement in (
        "UPDATE item SET count = count - 5",
        "INSERT INTO shelf (name) VALUES ('left')",
        "INSERT INTO item VALUES ('x', 1, 99)",
        "SELECT nope",
    ):
        try:
            with db:
                db.execute("INSERT INTO item VALUES ('lost', 1, 1)")
                db.execute(statement)
        except sqlite3.Error as error:
            errors.append(f"{type(error).__name__}: {error}")
    rows = [
        dict(row)
        for row in db.execute(
            "SELECT i.name, count, s.name AS shelf FROM item i JOIN shelf s ON s.id = i.shelf ORDER BY 1"
        )
    ]
    deleted = db.execute("DELETE FROM shelf WHERE id = 1").rowcount
    left = db.execute("SELECT count(*) FROM item").fetchone()[0]
    values = db.execute("SELECT ?, ?, ?, ?, typeof(?)", (None, 2**40, 0.1, b"\0\1", "x")).fetchone()
    dump = "\n".join(db.iterdump()).count("INSERT")
    return {
        "errors": errors,
        "rows": rows,
        "left": [deleted, left, dump],
        "values": [v.hex() if isinstance(v, bytes) else v for v in values],
    }
