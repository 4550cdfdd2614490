"""PLACEHOLDER until the real module lands: overwrite this file."""
from sessionlog.formats.native import Native
from sessionlog.formats.base import Head
from sessionlog import codec
from sessionlog.framing import split
FORMATS=(Native(),)
def head_of(n,f,d):
    v=[]
    for l in split(d)[:3]:
        v+= [x for x,_ in codec.parse(l).objects]
    return Head(n,f,tuple(v),d)
def recognise(n,fo,d):
    if d.startswith(b'{"kind":'): return FORMATS[0]
    h=head_of(n,fo,d)
    return next((f for f in FORMATS if f.recognises(h)),None)
