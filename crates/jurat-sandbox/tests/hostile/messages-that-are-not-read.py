# without: memory
# limit: memory=62914560
# ends: memory
import ctypes, time
c = ctypes.CDLL(None)
letter = ctypes.create_string_buffer(b"\1" + bytes(7) + b"x" * 8000)
n_sent = 0
for n in range(30_000 if ISOLATED else 6_000):
    box = c.msgget(0, 0o1600)
    while c.msgsnd(box, letter, 8000, 0o4000) == 0:
        n_sent += 8000
    if n % 500 == 0:
        time.sleep(0.05)
    if n_sent > 80_000_000 and not ISOLATED:
        break
print("breached" if n_sent > 80_000_000 else n_sent)
