# without: kernel landlock
# root: yes
path = "/proc/sys/vm/swappiness"
value = open(path).read()
# The same value, so that nothing changes where it succeeds.
with open(path, "w") as file:
    file.write(value)
print("breached")
