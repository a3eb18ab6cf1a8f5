# Files of the host, by every name that they may have.
# expect: output 0
import os
import pathlib
found = 0
for path in ('/etc/passwd', '/proc/self/environ', '/proc/self/mem', '../../seed.db', '{{outside}}', '{{outside}}/..', '/dev/stdin'):
    for read in (lambda: open(path, 'rb').read(1), lambda: os.listdir(path), lambda: os.open(path, 0), lambda: pathlib.Path(path).stat(), lambda: os.readlink(path)):
        try:
            read()
            found += 1
        except OSError:
            pass
return found
