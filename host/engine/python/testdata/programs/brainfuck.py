"""An interpreter for a very small language."""

HELLO = "++++++++[>++++[>++>+++>+++>+<<<<-]>+>+>->>+[<]<-]>>.>---.+++++++..+++.>>.<-.<.+++.------.--------.>>+.>++."


def jumps(code):
    open_, pairs = [], {}
    for place, sign in enumerate(code):
        if sign == "[":
            open_.append(place)
        elif sign == "]":
            start = open_.pop()
            pairs[start], pairs[place] = place, start
    return pairs


def run(code):
    pairs, cells, at, place, out, steps = jumps(code), [0] * 32, 0, 0, [], 0
    while place < len(code):
        match code[place]:
            case ">":
                at += 1
            case "<":
                at -= 1
            case "+" | "-" as sign:
                cells[at] = (cells[at] + (1 if sign == "+" else -1)) % 256
            case ".":
                out.append(chr(cells[at]))
            case "[" if not cells[at]:
                place = pairs[place]
            case "]" if cells[at]:
                place = pairs[place]
        place += 1
        steps += 1
    return "".join(out), steps


def main():
    return run(HELLO)
