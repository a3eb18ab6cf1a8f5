# The reply to a call is left unread, and another call is made.
# expect: output {"marker":1}
import os
os.write(0, b'call\nget_content\n"own"')
return memory.get_content('shared')
