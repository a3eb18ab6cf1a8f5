# A view of a buffer stays while the buffer is to grow, and to be freed.
# expect: tool_error
import array
numbers = array.array('b', bytes(1000))
view = memoryview(numbers)
numbers.extend(bytes(10 ** 7))
