# An exception whose text never comes.
# expect: timeout
class Endless(Exception):
    def __str__(self):
        while True:
            pass


raise Endless
