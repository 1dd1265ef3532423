# without: -
mount -o remount,rw / 2>/dev/null && echo breached
mount -t tmpfs none /tmp 2>/dev/null && echo breached
umount /proc/sys 2>/dev/null && echo breached
unshare -Ur true 2>/dev/null && echo breached
exit 0
