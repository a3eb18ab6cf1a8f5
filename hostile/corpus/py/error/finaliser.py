# Finalisers that fail, and one that brings itself back.
# expect: output 1
class Fails:
    def __del__(self):
        raise RuntimeError('too late')


class Returns:
    def __del__(self):
        kept.append(self)


kept = []
for _ in range(100):
    Fails()
    Returns()
return 1
