# Writes an answer by hand that is none.
# expect: output_invalid
import os
os.write(0, b'answer\n{"a":1}}{\n[]')
os._exit(0)
