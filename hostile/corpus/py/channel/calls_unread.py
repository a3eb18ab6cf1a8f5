# Calls are written as fast as there is time for, and no reply is ever read.
# expect: call_limit
import os
while True:
    os.write(0, b'call\nget_content\n"shared"')
