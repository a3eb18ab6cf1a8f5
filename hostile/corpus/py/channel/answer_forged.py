# Writes an answer by hand, with a context that it may not change, and ends at once.
# expect: output_invalid
import os
os.write(0, b'answer\n{"a":1}\n{"steps":{"forged":true}}')
os._exit(0)
