# Sorts what compares at random, so that no order is ever right.
# expect: timeout
class Coin:
    def __lt__(self, other):
        return random.random() < 0.5


coins = [Coin() for _ in range(2_000)]
while True:
    coins.sort()
