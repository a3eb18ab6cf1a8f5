# Lists within lists are pickled.
# expect: stack_limit
import pickle
value = []
for _ in range(10 ** 5):
    value = [value]
return len(pickle.dumps(value))
