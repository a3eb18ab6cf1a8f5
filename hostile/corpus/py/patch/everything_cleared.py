# Every dict and list that the collector knows is emptied.
# expect: tool_error or output or stack_limit
import gc
for found in gc.get_objects():
    if type(found) in (dict, list) and found is not globals():
        try:
            found.clear()
        except Exception:
            pass
