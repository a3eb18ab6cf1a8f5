# The top level ends the process, and says before that it is done.
# expect: output or tool_error
import os
os.write(0, b'done\n{"random":false}')
os._exit(0)


def main():
    return 1
