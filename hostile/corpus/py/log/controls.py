# Lines that would clear a terminal, ring its bell and write its title, on every way to the log.
# expect: output 1
import sys
import warnings
evil = '\x1b[2J\x1b]0;title\x07\r\x9b31m\u202e'
print(evil)
sys.stderr.write(evil)
logging.error(evil)
warnings.warn(evil)
return 1
