# without: -
import os
def tried(what):
    try:
        what()
        print("breached", what)
    except OSError:
        pass
tried(lambda: os.setpriority(os.PRIO_PROCESS, 0, -20))
tried(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)))
tried(lambda: os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"-1000"))
tried(lambda: os.setgroups([0]))
tried(lambda: os.setuid(0))
