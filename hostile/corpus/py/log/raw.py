# Lines of the log written by hand: of no level, of no JSON, of megabytes.
# expect: output 1
import os
for rest in (b'', b'fatal\n"x"', b'info\nnot json', b'info\n"\\ud800"', b'error\n"' + b'\\u001b' * 10 ** 6 + b'"', b'x' * 10 ** 6):
    os.write(0, b'log\n' + rest)
return 1
