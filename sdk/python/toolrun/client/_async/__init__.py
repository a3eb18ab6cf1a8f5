"""The asynchronous client. unasync.py generates the package _sync from this package."""
