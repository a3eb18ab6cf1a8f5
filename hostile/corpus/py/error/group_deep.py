# A group within a group within a group.
# expect: tool_error or stack_limit
group = ValueError()
for _ in range(10 ** 4):
    group = BaseExceptionGroup('g', [group])
raise group
