# Bytes that are no text, to standard output and error, without an end.
# expect: timeout
import os
while True:
    os.write(1, b'\xff\xfe\x00\n' * 1000)
    os.write(2, b'\xc0\x80\n' * 1000)
