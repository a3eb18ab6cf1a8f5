# A content whose second look is another one than the first.
# expect: tool_error or invalid_argument
class Twice(dict):
    looks = 0

    def items(self):
        Twice.looks += 1
        return [('a', object())] if Twice.looks == 1 else iter(int, 1)


memory.set_content('shared', Twice(a=1))
