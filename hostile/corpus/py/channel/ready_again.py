# Says again that it is ready to have its picture taken, at addresses of its own.
# expect: output 1
import os
os.write(0, b'ready\n0\n4294967295\n16')
time.time()
return 1
