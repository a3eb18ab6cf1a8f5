# Signals, sent by the tool to itself, with a handler that goes on.
# expect: tool_error or output
import signal
signal.signal(signal.SIGINT, lambda *a: None)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGSEGV):
    signal.raise_signal(number)
