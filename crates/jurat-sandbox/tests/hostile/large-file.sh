# without: file_size
# limit: file=1048576
dd if=/dev/zero of=large bs=1000000 count=20 2>/dev/null && [ $(wc -c < large) = 20000000 ] && echo breached
