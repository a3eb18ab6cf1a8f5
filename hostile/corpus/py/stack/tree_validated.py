# A syntax tree that is as deep, and has its places already, so that the compiler sees it first.
# expect: tool_error or stack_limit or memory_limit
import ast
place = dict(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
node = ast.Constant(1, **place)
for _ in range(3 * 10 ** 4):
    node = ast.BinOp(node, ast.Add(), ast.Constant(1, **place), **place)
return eval(compile(ast.Expression(node), 'x', 'eval'))
