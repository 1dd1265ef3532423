# without: memory
# limit: memory=104857600
# ends: memory
import time
held = []
for _ in range(10_000 if ISOLATED else 30):
    held.append(bytearray(b"x") * 10_000_000)
print("breached")
