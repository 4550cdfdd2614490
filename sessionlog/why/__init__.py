"""Why a run stopped: from evidence in its log, and nothing else.

facts      what the records tell, as values: calls, troubles, silences
calls      open, answered and repeated calls, kept while records stream by
reading    the pass over the records
errors     words of the provider, the network and limits -> a cause
failures   words of a call's output -> a cause
work       what a call works at: was a failure overcome?
prose      the model's last words: is the work done?
judge      facts, ending, status -> one cause of the closed list
answer     `Why`, `why(session)`, `Reading`
look       the same for a log on disk, of any size
said       the answer in words
"""
