# A call of a million fields.
# expect: output "fault"
import os
os.write(0, b'call\nget_content' + b'\n"shared"' * 10 ** 6)
return os.read(0, 1 << 20).split(b'\n')[0].decode()
