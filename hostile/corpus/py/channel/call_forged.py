# A memory call is written by hand: it is one like any other, and has the grants of the tool.
# expect: output ["fault","ok"]
import os
answers = []
for message in (b'call\nget_content\n"vault"', b'call\nget_content\n"shared"'):
    os.write(0, message)
    answers.append(os.read(0, 65536).split(b'\n')[0].decode())
return answers
