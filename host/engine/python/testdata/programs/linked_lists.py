"""A linked list: built, reversed, merged, sorted, and searched for a cycle."""


class Node:
    __slots__ = "value", "next"

    def __init__(self, value, next=None):
        self.value, self.next = value, next

    def __iter__(self):
        node = self
        while node:
            yield node.value
            node = node.next


def build(values):
    head = None
    for value in reversed(values):
        head = Node(value, head)
    return head


def turn(node):
    before = None
    while node:
        node.next, before, node = before, node, node.next
    return before


def merge(a, b):
    head = tail = Node(None)
    while a and b:
        if b.value < a.value:
            a, b = b, a
        tail.next = a
        tail = a
        a = a.next
    tail.next = a or b
    return head.next


def sort(node):
    if not node or not node.next:
        return node
    slow, fast = node, node.next
    while fast and fast.next:
        slow, fast = slow.next, fast.next.next
    slow.next, rest = None, slow.next
    return merge(sort(node), sort(rest))


def circle(node):
    slow = fast = node
    while fast and fast.next:
        slow, fast = slow.next, fast.next.next
        if slow is fast:
            return True
    return False


ring = build([1, 2, 3])
ring.next.next.next = ring.next
return [list(turn(build([1, 2, 3]))), list(sort(build([5, 2, 9, 1, 5, 6]))), circle(ring), circle(build(range(9)))]
