# A pickle of nine bytes that asks for a memo of four billion places.
# expect: memory_limit or tool_error
import pickle
return pickle.loads(b'\x80\x04Nr\xff\xff\xff\x7f.')
