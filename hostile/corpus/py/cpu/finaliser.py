# What is deleted last does not let itself be deleted.
# expect: timeout
class Stays:
    def __del__(self):
        while True:
            pass


kept = Stays()
del kept
