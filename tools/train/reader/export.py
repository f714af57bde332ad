"""Writes a trained reader as safetensors; README.md lists the tensors."""

import json
import struct

import numpy as np

import windows
from material import ATTRIBUTES, LAYERS, MARKS

# The heads' names in the file.
HEADS = {'names': 'A', 'clauses': 'B', 'details': 'C', 'identifiers': 'D', 'names.attributes': 'aA', 'clauses.attributes': 'aB'}
TYPES = {'float32': 'F32', 'float16': 'F16', 'uint8': 'U8', 'int8': 'I8', 'uint32': 'U32'}


def whole_numbers(matrix):
    """Inputs × outputs in f32 to outputs × inputs in i8, and one scale for each output."""
    rows = matrix.T
    scale = np.maximum(np.abs(rows).max(1), 1e-12).astype(np.float32) / 127
    return np.clip(np.rint(rows / scale[:, None]), -127, 127).astype(np.int8), scale


def tensors(encoder, kept, parameters):
    out = {}
    bytes_ = [encoder.pieces[n].encode() for n in kept]
    out['pieces.bytes'] = np.frombuffer(b''.join(bytes_), np.uint8)
    out['pieces.ends'] = np.cumsum([len(one) for one in bytes_]).astype(np.uint32)
    out['pieces.scores'] = encoder.scores[kept].astype(np.float32)
    characters = sorted(encoder.characters)
    out['norm.from'] = np.array([ord(c) for c in characters], np.uint32)
    out['norm.ends'] = np.cumsum([len(encoder.characters[c]) for c in characters]).astype(np.uint32)
    out['norm.to'] = np.array([ord(o) for c in characters for o in encoder.characters[c]], np.uint32)
    codes, scales = encoder.blocks('emb.word')
    blocks = encoder.width // 32
    out['table.codes'] = codes.reshape(-1, blocks * 16)[kept]
    out['table.scale'] = scales.reshape(-1, blocks)[kept]
    body = parameters['body']
    out['position'], out['embed.gain'], out['embed.bias'] = body['position'][:windows.WINDOW], body['gain'], body['shift']
    for number, layer in enumerate(body['layers']):
        for name in ('qkv', 'out', 'up', 'down'):
            out[f'layer.{number}.{name}'], out[f'layer.{number}.{name}.scale'] = whole_numbers(layer[name])
            out[f'layer.{number}.{name}.bias'] = layer[name + '_bias']
        for place in '12':
            out[f'layer.{number}.norm{place}.gain'], out[f'layer.{number}.norm{place}.bias'] = layer['gain' + place], layer['shift' + place]
    for name, head in parameters['heads'].items():
        out[f'head.{HEADS[name]}'], out[f'head.{HEADS[name]}.bias'] = head['weight'].T, head['bias']
    return {name: np.ascontiguousarray(value) for name, value in out.items()}


def read(path, encoder):
    """A written reader: the ids of its pieces in the whole vocabulary, and its parameters, whose matrices are what their i8 codes say."""
    file = open(path, 'rb').read()
    length = struct.unpack_from('<Q', file)[0]
    head = json.loads(file[8:8 + length])
    about = head.pop('__metadata__')
    types = {form: np.dtype(name) for name, form in TYPES.items()}
    tensor = {}
    for name, one in head.items():
        start, end = one['data_offsets']
        tensor[name] = np.frombuffer(file[8 + length + start:8 + length + end], types[one['dtype']]).reshape(one['shape'])
    place = {piece: n for n, piece in enumerate(encoder.pieces)}
    ends = [0, *tensor['pieces.ends']]
    text = tensor['pieces.bytes'].tobytes()
    kept = {place[text[a:z].decode()] for a, z in zip(ends, ends[1:])}
    matrix = lambda name: (tensor[name].astype(np.float32) * tensor[name + '.scale'][:, None]).T
    layers = []
    for number in range(int(about['layers'])):
        own = f'layer.{number}.'
        layer = {name: matrix(own + name) for name in ('qkv', 'out', 'up', 'down')}
        layer |= {name + '_bias': tensor[f'{own}{name}.bias'] for name in ('qkv', 'out', 'up', 'down')}
        for at in '12':
            layer['gain' + at], layer['shift' + at] = tensor[f'{own}norm{at}.gain'], tensor[f'{own}norm{at}.bias']
        layers.append(layer)
    body = {'position': tensor['position'], 'gain': tensor['embed.gain'], 'shift': tensor['embed.bias'], 'layers': layers}
    heads = {name: {'weight': tensor[f'head.{short}'].T, 'bias': tensor[f'head.{short}.bias']} for name, short in HEADS.items()}
    return kept, {'body': body, 'heads': heads}


def write(path, encoder, kept, parameters):
    place = {piece: n for n, piece in enumerate(kept)}
    about = {'layers': len(parameters['body']['layers']), 'heads': encoder.heads, 'window': windows.WINDOW, 'context': windows.CONTEXT,
             'bos': place[encoder.begin], 'eos': place[encoder.end], 'pad': place[encoder.padding], 'unknown': place[encoder.unknown],
             'unknown_score': encoder.unknown_score, **{name: ' '.join(kinds) for name, kinds in LAYERS.items()},
             'attributes': ';'.join(f'{name}={",".join(options)}' for name, options in ATTRIBUTES.items()),
             'speakers': ';'.join(f'{speaker or "none"}={mark}' for speaker, mark in MARKS.items())}
    head, data, at = {'__metadata__': {key: str(value) for key, value in about.items()}}, [], 0
    for name, value in tensors(encoder, kept, parameters).items():
        value = value if str(value.dtype) in TYPES else value.astype(np.float32)
        head[name] = {'dtype': TYPES[str(value.dtype)], 'shape': list(value.shape), 'data_offsets': [at, at + value.nbytes]}
        data.append(value.tobytes())
        at += value.nbytes
    text = json.dumps(head, separators=(',', ':')).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as out:
        out.write(struct.pack('<Q', len(text)) + text + b''.join(data))
