# What the host's process was started with.
# expect: output [{},["tool"]]
import os
import sys
return [{key: value for key, value in os.environ.items()}, sys.argv]
