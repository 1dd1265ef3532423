# without: -
import os
for name in (b"\xff\xfe", b"a\nb", b"\x1b]0;x\x07", b"-rf", b" ", b"." * 200, "\u202egnp.exe".encode(), b"x" * 255):
    os.mkdir(name)
    os.symlink(b"/" + name * (1 if len(name) < 100 else 15), name + b"/link" if len(name) < 250 else b"long")
os.symlink("one", "two")
os.symlink("two", "one")
os.symlink(".", "self")
print("made")
