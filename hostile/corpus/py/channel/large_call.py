# A call whose argument is a hundred megabytes of brackets.
# expect: output "fault"
import os
os.write(0, b'call\nget_content\n' + b'[' * 10 ** 8)
return os.read(0, 65536).split(b'\n')[0].decode()
