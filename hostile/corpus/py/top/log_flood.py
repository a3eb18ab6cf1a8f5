# The top level prints a hundred thousand lines, which every run would repeat.
# expect: log_limit or output 1
for n in range(10 ** 5):
    print(n)


def main():
    return 1
