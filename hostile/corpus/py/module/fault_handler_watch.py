# A watchdog that would end the process, whoever's it is, in a moment.
# expect: tool_error or output 1
import faulthandler
faulthandler.dump_traceback_later(0.01, exit=True)
time.sleep(0.05)
return 1
