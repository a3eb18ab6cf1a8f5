# What is no data: functions, classes, modules, generators.
# expect: output_invalid
return {'a': [print, type, json, (n for n in [1])]}
