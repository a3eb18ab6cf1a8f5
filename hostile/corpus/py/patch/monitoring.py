# The interpreter's own monitoring calls the tool for every instruction, and is told to stop it.
# expect: tool_error or output or timeout
import sys
tool = 3
sys.monitoring.use_tool_id(tool, 'evil')


def monitor(*args):
    raise KeyboardInterrupt


for event in (sys.monitoring.events.INSTRUCTION, sys.monitoring.events.PY_RETURN, sys.monitoring.events.CALL):
    sys.monitoring.register_callback(tool, event, monitor)
sys.monitoring.set_events(tool, sys.monitoring.events.INSTRUCTION | sys.monitoring.events.CALL)
return 1
