# A content that contains itself.
# expect: invalid_argument
content = {}
content['a'] = [content]
memory.set_content('own', content)
