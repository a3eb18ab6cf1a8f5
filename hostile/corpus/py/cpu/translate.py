# A text is translated by an object that is asked for each character, and answers when it likes.
# expect: timeout
class Table:
    def __getitem__(self, character):
        while True:
            pass


return 'x'.translate(Table())
