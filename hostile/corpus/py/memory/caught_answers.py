# Uses all that there is, catches that it was refused more, and answers as if nothing were.
# expect: output "alive"
blocks = []
try:
    while True:
        blocks.append(bytearray(10 ** 6))
except MemoryError:
    answer = 'alive'
return answer
