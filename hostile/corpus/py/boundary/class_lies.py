# An object that says it is a dict when it is asked for its class.
# expect: output_invalid or tool_error
class Lies:
    __class__ = dict


return {'a': Lies()}
