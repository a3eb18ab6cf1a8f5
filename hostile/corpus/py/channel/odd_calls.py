# The channel is treated as a file: seeked, cut, asked for its state, made to block, opened as text.
# expect: output or tool_error
import os
done = []
for call in (
    lambda: os.lseek(0, -1, 2), lambda: os.ftruncate(0, 10), lambda: os.fstat(0), lambda: os.fsync(0),
    lambda: os.pread(0, 10, 5), lambda: os.pwrite(0, b'x', 7), lambda: os.readv(0, [bytearray(4)]),
    lambda: os.isatty(0), lambda: os.posix_fadvise(0, 0, 0, 0), lambda: open(0, 'w', closefd=False).write('done\n'),
):
    try:
        done.append(str(call()))
    except Exception as error:
        done.append(type(error).__name__)
return done
