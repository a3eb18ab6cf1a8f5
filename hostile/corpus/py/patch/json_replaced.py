# The module json writes and reads what it likes.
# expect: output {"marker":1,"own":null}
import json.decoder
import json.encoder
json.dumps = json.JSONEncoder.encode = lambda *a, **k: '"forged"'
json.encoder.c_make_encoder = json.encoder.encode_basestring = json.encoder.JSONEncoder.iterencode = None
json.loads = json.decoder.JSONDecoder.decode = lambda *a, **k: {'marker': 'forged'}
json.decoder.JSONDecoder.raw_decode = json.decoder.scanstring = json.decoder.JSONDecoder.scan_once = None
return {'marker': memory.get_content('shared')['marker'], 'own': memory.get_content('own')}
