# without: -
import fcntl, os
for path in ("/dev/tty", "/dev/console", "/dev/pts/0"):
    try:
        terminal = os.open(path, os.O_RDWR | os.O_NOCTTY)
        fcntl.ioctl(terminal, 0x5412, b"x")
        print("breached", path)
    except OSError:
        pass
