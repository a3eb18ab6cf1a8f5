# Asks for files as the host's half does while a tool is loaded, long after that.
# expect: output ["none","none","none"]
import os
answers = []
for name in (b'"/etc/passwd"', b'"../outside/secret.py"', b'"tool.py"'):
    os.write(0, b'file\n' + name)
    answers.append(os.read(0, 65536).split(b'\n')[0].decode())
return answers
