"""Transfers between accounts: properties, invariants, errors of the domain."""

from collections import defaultdict


class InsufficientFunds(Exception):
    def __init__(self, account, missing):
        super().__init__(f"{account} lacks {missing}")
        self.missing = missing


class Account:
    def __init__(self, name, balance=0):
        self.name, self._balance, self.history = name, balance, []

    @property
    def balance(self):
        return self._balance

    @balance.setter
    def balance(self, value):
        if value < 0:
            raise InsufficientFunds(self.name, -value)
        self.history.append(value - self._balance)
        self._balance = value


def transfer(source, target, amount):
    source.balance -= amount
    try:
        target.balance += amount
    except Exception:
        source.balance += amount
        raise


def main():
    accounts = {name: Account(name, start) for name, start in [("ann", 100), ("bob", 20), ("eve", 0)]}
    failures = defaultdict(list)
    for source, target, amount in [("ann", "bob", 70), ("bob", "eve", 100), ("eve", "ann", 1), ("bob", "eve", 90)]:
        try:
            transfer(accounts[source], accounts[target], amount)
        except InsufficientFunds as error:
            failures[source].append({"text": str(error), "missing": error.missing})
    return {"accounts": {a.name: [a.balance, a.history] for a in accounts.values()}, "failures": failures}
