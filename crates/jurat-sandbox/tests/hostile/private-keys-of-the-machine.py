# without: -
import glob
for path in glob.glob("/etc/ssl/private/*") + glob.glob("/etc/pki/**/private/*", recursive=True):
    print("breached", path)
