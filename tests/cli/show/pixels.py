# SPDX-License-Identifier: BSD-2-Clause
"""What is where in a picture: pixels of a PNG as gnuplot's cairo writes them, and the legend of the same picture as SVG."""
import itertools
import re
import struct
import zlib


class Png:
    """8 bits of red, green, blue a pixel: PNG specification (ISO 15948), 7 and 9; of filters, 9.2."""

    def __init__(self, path):
        data = open(path, 'rb').read()
        assert data[:8] == b'\x89PNG\r\n\x1a\n', path
        at, packed = 8, b''
        while at < len(data):
            n, = struct.unpack_from('>I', data, at)
            kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + n]
            if kind == b'IHDR':
                self.width, self.height, bits, colours, _, _, interlaced = struct.unpack('>IIBBBBB', body)
                assert (bits, colours, interlaced) == (8, 2, 0), path
            elif kind == b'IDAT':
                packed += body
            at += 12 + n
        self.lines = self.unfilter(zlib.decompress(packed))

    def unfilter(self, raw):
        size, before, lines = 3 * self.width, bytes(3 * self.width), []
        for y in range(self.height):
            kind, line = raw[y * (size + 1)], bytearray(raw[y * (size + 1) + 1:(y + 1) * (size + 1)])
            if kind == 1:
                for i in range(3):
                    line[i::3] = bytes(itertools.accumulate(line[i::3], lambda a, b: a + b & 255))
            elif kind == 2:
                line = bytearray(a + b & 255 for a, b in zip(line, before))
            elif kind == 3:
                for i in range(size):
                    line[i] = line[i] + ((line[i - 3] if i > 2 else 0) + before[i]) // 2 & 255
            elif kind == 4:
                self.paeth(line, before)
            before = bytes(line)
            lines.append(before)
        return lines

    @staticmethod
    def paeth(line, before):
        for c in range(3):
            left = corner = 0
            for i in range(c, len(line), 3):
                up = before[i]
                if left == corner:
                    foretold = up
                elif up == corner:
                    foretold = left
                else:
                    to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
                    foretold = left if to_left <= to_up and to_left <= to_corner else up if to_up <= to_corner else corner
                left = line[i] = line[i] + foretold & 255
                corner = up

    def at(self, x, y):
        return tuple(self.lines[y][3 * x:3 * x + 3])

    def column(self, x, top=0, bottom=None):
        return [self.at(x, y) for y in range(top, bottom or self.height)]

    def row(self, y, left=0, right=None):
        return [self.at(x, y) for x in range(left, right or self.width)]

    def empty(self):
        """The longest run of lines on which nothing is drawn: they are white, but for lines of a grid."""
        longest = now = 0
        for line in self.lines:
            now = now + 1 if not line.strip(b'\xff') else 0
            longest = max(longest, now)
        return longest


def legend(path):
    """Boxes of the legend of an SVG with the texts to their right: {text: (red, green, blue)}."""
    text = open(path, encoding='utf-8').read()
    boxes = [(float(x), (float(top) + float(bottom)) / 2, tuple(map(int, rgb.split(','))))
             for rgb, x, bottom, top in re.findall(
                 r"<polygon fill = 'rgb\(([\d, ]+)\)' points = '([\d.]+),([\d.]+) [\d.]+,[\d.]+ [\d.]+,([\d.]+) ", text)
             if abs(float(bottom) - float(top) - 12) < 0.1]
    words = re.findall(r'translate\(([\d.]+),([\d.]+)\)[^>]*>\s*<text>([^<]*)</text>', text)
    found = {}
    for x, y, colour in boxes:
        for tx, ty, word in words:
            if 16 < float(tx) - x < 21 and abs(float(ty) - y) < 6:
                found[re.sub(r': [\d,]+$', '', word)] = colour
    return found
