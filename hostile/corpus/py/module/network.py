# Sockets, from the module of C that the replaced one is made of.
# expect: tool_error
import _socket
s = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
s.sendto(b'x', ('127.0.0.1', 53))
