# Bytes that mean nothing go to every descriptor that there may be.
# expect: output 1
import os
for descriptor in range(10):
    try:
        os.write(descriptor, bytes(range(9, 14)) + b'\xff\xfe\x00 call get_content own\n\n\n')
    except OSError:
        pass
return 1
