# A regular expression tries every way to split a text that fits none. It runs within C, where no bytecode ends.
# expect: timeout
re.match('(a+)+$', 'a' * 60 + 'b')
