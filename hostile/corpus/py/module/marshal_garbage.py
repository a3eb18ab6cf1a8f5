# Compiled code that was changed at random places is read, which nothing checks.
# expect: output or tool_error or memory_limit or stack_limit or timeout
import marshal
good = marshal.dumps(compile('def f(a, *b, c=1):\n    return [x + c for x in b if a]\nf(1, 2)\n', 'x', 'exec'))
for n in range(2_000):
    bad = bytearray(good)
    bad[random.randrange(len(bad))] = random.randrange(256)
    try:
        code = marshal.loads(bytes(bad))
        exec(code, {})
    except Exception:
        pass
