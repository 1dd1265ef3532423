# without: -
# limit: time=3
# ends: time processes
import threading, time
def wait():
    time.sleep(60)
while True:
    try:
        threading.Thread(target=wait).start()
    except RuntimeError:
        time.sleep(0.01)
