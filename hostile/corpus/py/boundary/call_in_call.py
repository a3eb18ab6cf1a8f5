# A content that calls memory while it is written.
# expect: output {"inner":1,"outer":2}
class Calls(dict):
    def items(self):
        memory.set_content('own', {'inner': 1})
        return [('outer', 2)]


memory.set_content('own', Calls(a=1))
return memory.get_content('own')
