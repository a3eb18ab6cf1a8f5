# Waits for a lock that it holds itself, and there is nobody else to give it back.
# expect: timeout or tool_error
import threading
lock = threading.Lock()
lock.acquire()
lock.acquire()
