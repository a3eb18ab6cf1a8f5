"""The tests of the package toolrun: python3 -m unittest discover -t . tests, in the folder above."""
