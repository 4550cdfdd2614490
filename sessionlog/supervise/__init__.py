"""One small process per handed-over command starts it, watches it and kills all of it; another,
its parent, takes its place when it is killed or stopped.

    order       what is asked for, and what came of it: the lines on the control socket
    linux       what Linux tells of processes; `elsewhere` is what other systems do, best effort
    system      a process held so that no other can be meant by its number; the door of all signals
    tree        everything a command started: interrupted, killed, reaped; swept by its marker
    birth       from the supervisor to the command: session, terminal, pipes, exec
    output      what a program without a terminal prints: its tail, and the way to its recording
    tape        the process that records
    runs        the journal of runs, for who was not there when they began
    run         the supervisor itself
    guard       who watches the supervisor: `python -m sessionlog.supervise.guard`
    place       can a command run at all? Asked before anything starts
    handle      the viewer's end: `start(order) -> Handle`

Until the command is running a supervisor imports the standard library alone, and of that the few
modules that load fast: a person waits for it.
"""
