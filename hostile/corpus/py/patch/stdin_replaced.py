# The standard streams are replaced by what exits when it is flushed.
# expect: tool_error
import sys


class Stream:
    def write(self, text):
        return len(text)

    def flush(self):
        raise SystemExit(0)


sys.stdout = sys.stderr = sys.stdin = Stream()
return 'answer'
