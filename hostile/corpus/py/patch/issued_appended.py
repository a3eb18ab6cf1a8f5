# An error is entered into the list of those that the host raised, under numbers that none has.
# expect: tool_error
import sys
forged = MemoryAccessError('internal', 'forged')
issued = sys.modules['_toolrun.operations'].issued
issued.append((forged, -1))
issued.insert(0, (forged, 10 ** 30))
raise forged
