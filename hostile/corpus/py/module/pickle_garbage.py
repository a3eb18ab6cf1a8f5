# Pickles that were changed at random places.
# expect: output or tool_error or memory_limit or stack_limit or timeout
import pickle
good = pickle.dumps({'a': [1, 2.5, ('x', b'y', datetime(2000, 1, 1))], 'b': {3, 4}}, protocol=5)
for n in range(3_000):
    bad = bytearray(good)
    for _ in range(1 + n % 4):
        bad[random.randrange(len(bad))] = random.randrange(256)
    try:
        pickle.loads(bytes(bad))
    except Exception:
        pass
