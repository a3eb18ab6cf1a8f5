"""The tests of AsyncClient. unasync.py generates the tests of Client from this package."""
