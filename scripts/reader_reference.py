#!/usr/bin/env python3
"""Writes what a reader must say of a few lines: the plain computation that crates/extraction/src/reader is held against.

usage: reader_reference.py                          tests/data/reader/tiny.safetensors (random) and tiny.json
       reader_reference.py --model FILE --out FILE  the same lines under another model

Needs numpy alone; the same numpy gives the same bytes. Everything is computed without batches and without caches, in the order in which the
model was trained: words are cut by searching every way, character by character; attention is a softmax over the whole window.
The JSON holds the lines, their tokens (id, start, end in bytes; start = end for the speaker's mark), each window (ids, which of
them it labels, their logits in the order of the heads A, B, C, D, aA, aB) and the spans."""
import argparse, json, math, pathlib, struct, unicodedata

import numpy as np

DATA = pathlib.Path(__file__).resolve().parent.parent / 'tests' / 'data' / 'reader'
TYPES = {'F32': np.float32, 'F16': np.float16, 'U8': np.uint8, 'I8': np.int8, 'U32': np.uint32}
MARKS = {'patient': 'P:', 'clinician': 'C:', 'family': 'F:', 'agent': 'A:', 'unknown': 'U:', None: '|'}
LAYERS = {'A': 'names', 'B': 'clauses', 'C': 'details', 'D': 'identifiers'}
HEADS = ('A', 'B', 'C', 'D', 'aA', 'aB')
LINES = [
    ('clinician', '¿Sigues con la sertralina de 50 mg por la mañana? —Dra. Núñez'),
    ('patient', 'Sí, pero me da náuseas 😕👍🏽 y a veces no la tomo.'),
    ('family', 'Su ﬁebre subió a 39½ °C; le dimos ibuprofeno ﬂash① ayer'),
    ('agent', 'Patient denies chest pain (no SOB), hx of T2DM & HTN'),
    ('unknown', 'Electroencefalografistaotorrinolaringológicamente supercalifragilisticexpialidocious'),
    (None, '☐ Alergias ☑ Penicilina: ronchas | dosis | 12/03/2024 │ 5×10⁹/L'),
    (None, ''),
    (None, ' \t\u00a0\u2003\x1c\u3000 '),
    (None, 'Ｆｕｌｌ－ｗｉｄｔｈ\u200b and cafe\u0301 n\u0303\x01 \x02 ok\x07'),
    ('patient', '她今天很好 Привет ▁▁ <s> </s> <unk> \ufeff'),
    ('clinician', 'Mr. O’Neill, tel. +34 600 123 456, juan.perez@example.org, c/ Mayor 3'),
    ('patient', 'x' * 90 + ' y me duele la cabeza desde ayer, como antes del verano; hoy mejor.'),
    ('family', 'He thinks about killing himself.\u2028Quiere dejar de fumar.'),
]


# The file.

def write(path, tensors, meta):
    head, blobs, at = {'__metadata__': meta}, [], 0
    for name, tensor in tensors.items():
        blob = np.ascontiguousarray(tensor).tobytes()
        kind = next(kind for kind, dtype in TYPES.items() if tensor.dtype == dtype)
        head[name] = {'dtype': kind, 'shape': list(tensor.shape), 'data_offsets': [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(head, separators=(',', ':')).encode()
    text += b' ' * (-len(text) % 8)
    path.write_bytes(struct.pack('<Q', len(text)) + text + b''.join(blobs))


def read(path):
    raw = path.read_bytes()
    size = struct.unpack('<Q', raw[:8])[0]
    head = json.loads(raw[8:8 + size])
    meta = head.pop('__metadata__')
    place = lambda entry: slice(8 + size + entry['data_offsets'][0], 8 + size + entry['data_offsets'][1])
    tensors = {name: np.frombuffer(raw[place(entry)], TYPES[entry['dtype']]).reshape(entry['shape']) for name, entry in head.items()}
    return tensors, meta


# A random model of the format, small enough for the repository.

def tiny(path, seed, width=32, layers=2, inner=96, window=48, context=12, count=300):
    random = np.random.default_rng(seed)
    text = [''.join(unicodedata.normalize('NFKC', c) for c in line) for _, line in LINES]
    words = ['▁' + word for line in text + list(MARKS.values()) for word in line.split()]
    letters = sorted({c for word in words for c in word if ord(c) < 0x250 or c in '▁☐☑⁄'} - set('Qzü'))
    longer = sorted({word[i:j] for word in words for i in range(len(word)) for j in range(i + 2, min(len(word), i + 8) + 1)
                     if all(c in letters for c in word[i:j])})
    pieces = ['<s>', '<pad>', '</s>', '<unk>'] + letters
    pieces += [longer[i] for i in sorted(random.choice(len(longer), count - len(pieces), replace=False))]
    scores = np.array([0 if i < 4 else -random.uniform(3, 12) for i in range(count)], np.float32)
    other = {c: unicodedata.normalize('NFKC', c) for _, line in LINES for c in line if unicodedata.normalize('NFKC', c) != c}
    other |= dict.fromkeys('\x01\x02\x07\x1c\ufeff', '')
    known = sorted(other)
    ends = lambda texts, size: np.cumsum([size(text) for text in texts]).astype(np.uint32)
    tensors = {
        'pieces.bytes': np.frombuffer(''.join(pieces).encode(), np.uint8), 'pieces.ends': ends(pieces, lambda piece: len(piece.encode())),
        'pieces.scores': scores, 'norm.from': np.array([ord(c) for c in known], np.uint32), 'norm.ends': ends([other[c] for c in known], len),
        'norm.to': np.array([ord(c) for k in known for c in other[k]], np.uint32),
        'table.codes': random.integers(0, 256, (count, width // 2)).astype(np.uint8),
        'table.scale': random.uniform(.02, .2, (count, width // 32)).astype(np.float16),
    }
    normal = lambda *shape, of=1.: random.normal(0, of, shape).astype(np.float32)
    tensors |= {'position': normal(window, width, of=.3), 'embed.gain': 1 + normal(width, of=.1), 'embed.bias': normal(width, of=.1)}
    for layer in range(layers):
        for name, rows, columns in (('qkv', 3 * width, width), ('out', width, width), ('up', inner, width), ('down', width, inner)):
            name = f'layer.{layer}.{name}'
            tensors[name] = random.integers(-127, 128, (rows, columns)).astype(np.int8)
            tensors |= {name + '.scale': random.uniform(.5, 4, rows).astype(np.float32) / np.float32(127 * columns ** .5), name + '.bias': normal(rows, of=.2)}
        for name in ('norm1', 'norm2'):
            tensors |= {f'layer.{layer}.{name}.gain': 1 + normal(width, of=.1), f'layer.{layer}.{name}.bias': normal(width, of=.1)}
    meta = {'layers': layers, 'heads': 2, 'window': window, 'context': context, 'bos': 0, 'pad': 1, 'eos': 2, 'unknown': 3,
            'unknown_score': repr(float(scores.min()) - 10), 'names': 'illness drug', 'clauses': 'wish', 'details': 'dose date', 'identifiers': 'name other',
            'attributes': 'said=yes,no;when=past,now,later'}
    values = sum(len(group.split(',')) for group in meta['attributes'].split(';'))
    for head in HEADS:
        rows = values if head[0] == 'a' else 1 + 2 * len(meta[LAYERS[head]].split())
        tensors |= {f'head.{head}': normal(rows, width, of=.4), f'head.{head}.bias': normal(rows, of=.2)}
    write(path, tensors, {key: str(value) for key, value in meta.items()})


# The model.

class Reader:
    def __init__(self, path):
        self.tensors, self.meta = read(path)
        self.bos, self.eos, self.unknown, pad = (int(self.meta[key]) for key in ('bos', 'eos', 'unknown', 'pad'))
        ends = [0, *self.tensors['pieces.ends'].tolist()]
        raw = self.tensors['pieces.bytes'].tobytes()
        texts = [raw[a:z].decode() for a, z in zip(ends, ends[1:])]
        self.ids = {text: i for i, text in enumerate(texts) if i not in (self.bos, self.eos, self.unknown, pad)}
        self.longest = max(map(len, self.ids))
        self.scores = self.tensors['pieces.scores'].astype(float).tolist()
        ends = [0, *self.tensors['norm.ends'].tolist()]
        to = ''.join(map(chr, self.tensors['norm.to'].tolist()))
        self.normal = {chr(c): to[a:z] for c, a, z in zip(self.tensors['norm.from'].tolist(), ends, ends[1:])}

    def word(self, word):
        """Pieces of a word: (id, start, end) in characters."""
        normal, source = '▁', [0]
        for at, char in enumerate(word):
            for other in self.normal.get(char, char):
                normal += other
                source.append(at)
        size = len(normal)
        best, back = [0.] + [-math.inf] * size, [None] * (size + 1)
        for start in range(size):
            for end in range(start + 1, min(size, start + self.longest) + 1):
                known = self.ids.get(normal[start:end])
                if known is not None and best[start] + self.scores[known] > best[end]:
                    best[end], back[end] = best[start] + self.scores[known], (start, known)
            alone = best[start] + float(self.meta['unknown_score'])
            if alone > best[start + 1]:
                best[start + 1], back[start + 1] = alone, (start, self.unknown)
        out, at = [], size
        while at > 0:
            start, known = back[at]
            out.append((known, source[start] if start else 0, len(word) if at == size else source[at - 1] + 1))
            at = start
        return out[::-1]

    def tokens(self, text):
        out, at = [], 0
        while at < len(text):
            end = at
            while end < len(text) and not text[end].isspace():
                end += 1
            if end > at:
                out += [(known, a + at, z + at) for known, a, z in self.word(text[at:end])]
            at = max(end, at + 1)
        return out

    def layout(self, lines):
        return [[(known, 0, 0) for known, _, _ in self.tokens(MARKS[speaker])] + self.tokens(text) for speaker, text in lines]

    def windows(self, tokens):
        """(references (line, token), first labelled, end of labelled)"""
        size, context = int(self.meta['window']), int(self.meta['context'])
        units = [(line, a, min(len(own), a + size - context - 2)) for line, own in enumerate(tokens) for a in range(0, len(own), size - context - 2)]
        refer = lambda unit: [(unit[0], at) for at in range(unit[1], unit[2])]
        out, at = [], 0
        while at < len(units):
            before, back = [], at - 1
            while back >= 0 and len(before) + units[back][2] - units[back][1] <= context:
                before = refer(units[back]) + before
                back -= 1
            if not before and at > 0:
                before = refer(units[at - 1])[-context:]
            body = []
            while at < len(units) and (not body or len(before) + len(body) + units[at][2] - units[at][1] + 2 <= size):
                body += refer(units[at])
                at += 1
            after = refer(units[at])[:max(0, size - 2 - len(before) - len(body))] if at < len(units) else []
            out.append((before + body + after, len(before), len(before) + len(body)))
        return out

    def vectors(self, ids):
        codes = self.tensors['table.codes'][ids].reshape(len(ids), -1, 16)
        halves = np.concatenate([codes & 15, codes >> 4], 2).astype(np.float32) - 8
        return (halves * self.tensors['table.scale'][ids].astype(np.float32)[..., None]).reshape(len(ids), -1)

    def dense(self, name, x):
        # The program rounds each row to 128 steps between its least and its greatest number, so that products are of whole numbers.
        least, step = x.min(1, keepdims=True), (x.max(1, keepdims=True) - x.min(1, keepdims=True)) / 127
        x = least + step * np.floor((x - least) / step + .5)
        return x @ (self.tensors[name].astype(np.float32) * self.tensors[name + '.scale'][:, None]).T + self.tensors[name + '.bias']

    def norm(self, name, x):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-12) * self.tensors[name + '.gain'] + self.tensors[name + '.bias']

    def logits(self, ids):
        x = self.norm('embed', self.vectors(ids) + self.tensors['position'][:len(ids)])
        heads, erf = int(self.meta['heads']), np.vectorize(math.erf)
        split = lambda part: part.reshape(len(ids), heads, -1).transpose(1, 0, 2)
        for layer in range(int(self.meta['layers'])):
            name = f'layer.{layer}.'
            query, key, value = map(split, np.split(self.dense(name + 'qkv', x), 3, -1))
            weights = softmax(query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1]))
            x = self.norm(name + 'norm1', x + self.dense(name + 'out', (weights @ value).transpose(1, 0, 2).reshape(x.shape)))
            inner = self.dense(name + 'up', x)
            x = self.norm(name + 'norm2', x + self.dense(name + 'down', inner * .5 * (1 + erf(inner / math.sqrt(2)))))
        return np.concatenate([x @ self.tensors['head.' + head].T + self.tensors[f'head.{head}.bias'] for head in HEADS], 1)


def softmax(x):
    power = np.exp(x - x.max(-1, keepdims=True))
    return power / power.sum(-1, keepdims=True)


# What the logits mean.

def spans(reader, line, tokens, logits):
    """Spans of one line's tokens in one window, and by how little a label was chosen."""
    out, at, margin = [], 0, math.inf
    groups = [(name, values.split(',')) for name, values in (group.split('=') for group in reader.meta['attributes'].split(';'))]
    values = sum(len(group) for _, group in groups)
    for letter, layer in LAYERS.items():
        kinds = reader.meta[layer].split()
        own = logits[:, at:at + 1 + 2 * len(kinds)]
        at += own.shape[1]
        first, runs = logits.shape[1] - 2 * values + values * (letter == 'B'), []
        for n, (_, start, end) in enumerate(tokens):
            ranked = np.sort(own[n])
            margin = min(margin, ranked[-1] - ranked[-2]) if start < end else margin
            label = int(own[n].argmax()) if start < end else 0
            share = float(softmax(own[n])[label])
            if label and label % 2 == 0 and runs and runs[-1][1] == n and runs[-1][2] == (label - 1) // 2:
                runs[-1][1], runs[-1][3] = n + 1, runs[-1][3] + [share]
            elif label:
                runs.append([n, n + 1, (label - 1) // 2, [share]])
        for a, z, kind, shares in runs:
            span = {'line': line, 'start': tokens[a][1], 'end': tokens[z - 1][2], 'layer': layer, 'kind': kinds[kind], 'probability': round(float(np.mean(shares)), 5)}
            if letter in 'AB':
                column, span['attributes'] = first, {}
                for name, group in groups:
                    mean = softmax(logits[a:z, column:column + len(group)]).mean(0)
                    span['attributes'][name] = [round(float(share), 5) for share in mean]
                    column += len(group)
            out.append(span)
    return out, margin


def reference(reader):
    """What the tests compare, and by how little the nearest label was chosen."""
    tokens, out, found, least = reader.layout(LINES), [], [], math.inf
    for refs, first, last in reader.windows(tokens):
        ids = [reader.bos, *(tokens[line][at][0] for line, at in refs), reader.eos]
        logits = reader.logits(np.array(ids))[1 + first:1 + last]
        out.append({'ids': ids, 'first': 1 + first, 'last': 1 + last, 'logits': [[round(float(value), 4) for value in row] for row in logits]})
        for line in sorted({line for line, _ in refs[first:last]}):
            rows = [n for n, ref in enumerate(refs[first:last]) if ref[0] == line]
            own, margin = spans(reader, line, [tokens[line][refs[first + n][1]] for n in rows], logits[rows])
            least = min(least, margin)
            found += own
    order = list(LAYERS.values())
    byte = lambda line, at: len(LINES[line][1][:at].encode())
    for span in found:
        span['start'], span['end'] = byte(span['line'], span['start']), byte(span['line'], span['end'])
    found.sort(key=lambda span: (span['line'], span['start'], span['end'], order.index(span['layer'])))
    lines = [{'speaker': speaker, 'text': text} for speaker, text in LINES]
    places = [[[known, byte(line, a), byte(line, z)] for known, a, z in own] for line, own in enumerate(tokens)]
    return {'lines': lines, 'tokens': places, 'windows': out, 'tagged': found}, least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--model', type=pathlib.Path)
    parser.add_argument('--out', type=pathlib.Path, default=DATA / 'tiny.json')
    given = parser.parse_args()
    model = given.model or DATA / 'tiny.safetensors'
    for seed in range(200):
        if given.model is None:
            DATA.mkdir(parents=True, exist_ok=True)
            tiny(model, seed)
        told, margin = reference(Reader(model))
        # Two labels as probable as each other could come out in either order: no reference.
        if given.model is not None or margin > 0.003:
            break
    given.out.write_text(json.dumps(told, ensure_ascii=False, separators=(',', ':')).replace('},{"ids"', '},\n{"ids"') + '\n')
    print(f"{model}: {sum(map(len, told['tokens']))} tokens, {len(told['windows'])} windows, {len(told['tagged'])} spans; nearest label {margin:.4f}")


if __name__ == '__main__':
    main()
