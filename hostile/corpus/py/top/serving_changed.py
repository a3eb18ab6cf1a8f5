# The top level changes the half of the conversation that runs are served by, for all runs.
# expect: output or tool_error
import sys
serving = sys.modules['_toolrun.serving']
serving._reseed = serving._limit = lambda *a: None
serving.describe = lambda *a: {'message': 'forged', 'kind': 'memory', 'fault': 0}


def main():
    raise ValueError('real')
