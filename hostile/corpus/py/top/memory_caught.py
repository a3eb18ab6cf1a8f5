# The top level calls memory by hand, and keeps what it gets for all runs.
# expect: output "fault"
import os
os.write(0, b'call\nget_content\n"shared"')
known = os.read(0, 65536).split(b'\n')[0].decode()


def main():
    return known
