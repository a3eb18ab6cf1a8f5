# Every descriptor is closed, the channel to the host among them.
# expect: tool_error or output
import os
os.closerange(0, 10)
return 'answer'
