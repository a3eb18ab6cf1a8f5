# A list at the top level collects what runs leave there.
# expect: output 1
seen = []


def main():
    seen.append(memory.get_content('shared'))
    return len(seen)
