# without: -
import array, os, socket
ends = socket.socketpair()
for n in range(2_000):
    try:
        inside = os.open("/proc/self/root" if n % 2 else ".", os.O_RDONLY)
        ends[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [inside]))], socket.MSG_DONTWAIT)
        os.close(inside)
    except OSError:
        break
print("sent")
