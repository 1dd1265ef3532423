# without: memory
# limit: memory=104857600
# ends: memory
import ctypes, time
c = ctypes.CDLL(None)
c.shmat.restype = ctypes.c_void_p
for _ in range(400 if ISOLATED else 12):
    segment = c.shmget(0, 16 << 20, 0o1600)
    at = c.shmat(segment, None, 0)
    ctypes.memset(at, 1, 16 << 20)
    c.shmdt(ctypes.c_void_p(at))
    time.sleep(0.02)
print("breached")
