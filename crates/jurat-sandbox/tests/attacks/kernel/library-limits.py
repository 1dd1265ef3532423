# without: seccomp

def evaluate(turn, world):
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))
    return "breached"
