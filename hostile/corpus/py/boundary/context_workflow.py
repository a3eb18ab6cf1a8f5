# What belongs to the workflow is replaced from within.
# expect: output_invalid
context['steps']['earlier'] = {'output': 'forged'}
context['status'] = 'done'
