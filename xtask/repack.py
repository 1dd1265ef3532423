"""Compresses the files of a wheel again, with Zopfli: `python repack.py WHEEL`. Any reader of zip files reads it, and it is 3 % smaller."""

import os
import sys
import zipfile

from zopfli.zlib import compress

# More of them take minutes and gain a few kilobytes.
ITERATIONS = 5


class Zopfli:
    """What `zipfile` calls for each file. Zopfli compresses it whole."""

    def __init__(self) -> None:
        self.data = bytearray()

    def compress(self, data: bytes) -> bytes:
        self.data += data
        return b""

    def flush(self) -> bytes:
        # A zip file has the bare stream, without the two bytes before it and the checksum after it.
        # The default of 15 blocks for each megabyte is too few for machine code.
        return compress(bytes(self.data), numiterations=ITERATIONS, blocksplittingmax=0)[2:-4]


def main(wheel: str) -> None:
    # `zipfile` has no other way to take a compressor.
    zipfile._get_compressor = lambda *_: Zopfli()  # type: ignore[attr-defined]
    smaller = wheel + ".part"
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(smaller, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(entry, old.read(entry))
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(smaller) as new:
        if [(it.filename, it.CRC) for it in old.infolist()] != [(it.filename, it.CRC) for it in new.infolist()] or new.testzip():
            raise SystemExit("the compressed wheel does not have the files of the wheel")
    os.replace(smaller, wheel)


if __name__ == "__main__":
    main(sys.argv[1])
