#!/usr/bin/env python3
"""Learns how surely findings are read (models/facts/confidence.tsv) from whole documents with gold facts.

usage: train_confidence.py GOLD.jsonl... [--anamnesis PROGRAM] [--out FILE] [--folds N] [--strength L2]

The program reads each document and remembers all that it finds (extraction.min_confidence=0); the scorer of facts says which
rows are right; `extract --features` says what surrounds each finding. A logistic model with a penalty on large weights is
fitted by Newton-like steps on each weight (coordinate descent), which needs no random numbers: same gold and program, same bytes. Before
the last fit on everything, whole patients are held out in turn (--folds), and the reliability of those predictions is printed."""
import argparse, collections, json, math, os, re, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import score_facts as scorer

MIN_COUNT = 3       # a feature must occur in so many findings …
MIN_DOCUMENTS = 2   # … of so many documents: nothing is learned from one hand alone


def findings_of(docs, program):
    """Every finding of every document with its features."""
    lines = []
    for doc in docs:
        said = {'turns': [{'speaker': t['speaker'], 'text': t['text']} for t in doc['turns']]} if doc.get('turns') else {'text': doc['text']}
        lines.append(json.dumps({'id': doc['id'], 'language': doc['lang'], 'document_type': doc['type'], 'occurred_at': doc['occurred_at'], **said}, ensure_ascii=False))
    done = subprocess.run([program, 'extract', '--features'], input='\n'.join(lines) + '\n', capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'extract ends with {done.returncode}: {done.stderr.strip()[-300:]}')
    return {o['id']: o['entities'] for o in map(json.loads, done.stdout.splitlines())}


def examples(paths, program):
    """(patient, document, features, right) of each finding that became a row which the gold judges."""
    out = []
    for path in paths:
        docs = [json.loads(line) for line in open(path, encoding='utf-8') if line.strip()]
        scorer.check(docs)
        rows, texts, _ = scorer.read_documents(docs, program)
        verdicts = []
        scorer.score(docs, rows, texts, 0, verdicts)
        judged = collections.defaultdict(list)
        for right, row in verdicts:
            judged[(row.get('source') or {}).get('document_id')].append((right, row))
        found = findings_of(docs, program)
        for doc in docs:
            mine = judged[scorer.document_id(doc)]
            for finding in found[doc['id']]:
                value = scorer.fold(finding['value'])
                same = [right for right, row in mine if row['entity'] == finding['type'] and bool(row['negated']) == finding['negated']
                        and (row['experiencer'] == finding['experiencer']) and value in scorer.fold(row['statement'])]
                if same:
                    out.append((doc['patient'], doc['id'], finding['features'], any(same)))
    return out


def fit(data, strength, rounds=60):
    """Weights by cyclic coordinate descent on the penalised log-likelihood."""
    documents, count = collections.defaultdict(set), collections.Counter()
    for _, doc, features, _ in data:
        for f in set(features): documents[f].add(doc); count[f] += 1
    names = sorted(f for f in count if count[f] >= MIN_COUNT and len(documents[f]) >= MIN_DOCUMENTS)
    columns = {f: [] for f in names}
    for n, (_, _, features, _) in enumerate(data):
        for f in features:
            if f in columns: columns[f].append(n)
    target = [1.0 if right else 0.0 for *_, right in data]
    odds = [0.0] * len(data)
    weights = dict.fromkeys(['bias'] + names, 0.0)
    columns = {'bias': list(range(len(data))), **columns}
    for _ in range(rounds):
        for name, places in columns.items():
            penalty = 0.0 if name == 'bias' else strength
            slope = -penalty * weights[name]; curve = penalty + 1e-9
            for n in places:
                p = 1 / (1 + math.exp(-max(-30, min(30, odds[n]))))
                slope += target[n] - p; curve += max(p * (1 - p), .02)
            step = slope / curve
            weights[name] += step
            for n in places: odds[n] += step
    return weights


def probability(weights, features):
    odds = weights['bias'] + sum(weights.get(f, 0.0) for f in features)
    return 1 / (1 + math.exp(-max(-30, min(30, odds))))


def held_out(data, folds, strength):
    patients = sorted({d[0] for d in data})
    predicted = []
    for fold in range(folds):
        out = set(patients[fold::folds])
        weights = fit([d for d in data if d[0] not in out], strength)
        predicted += [(probability(weights, d[2]), d[3]) for d in data if d[0] in out]
    return predicted


def report(predicted):
    bins = collections.defaultdict(lambda: [0, 0])
    for p, right in predicted:
        cell = bins[min(int(p * 10), 9)]; cell[0] += 1; cell[1] += right
    print('held out: confidence   findings  right')
    for low, (n, right) in sorted(bins.items()): print(f'  {low / 10:.1f} to {low / 10 + .1:.1f}          {n:6}  {100 * right / n:4.0f} %')
    loss = -sum(math.log(max(p if right else 1 - p, 1e-9)) for p, right in predicted) / len(predicted)
    total = sum(right for _, right in predicted)
    print(f'  {len(predicted)} findings, {100 * total / len(predicted):.0f} % right, log loss {loss:.3f}')
    for floor in (.3, .4, .5, .6, .7, .8):
        kept = [right for p, right in predicted if p >= floor]
        if kept: print(f'  at least {floor:.1f}: {len(kept):5} findings, {100 * sum(kept) / len(kept):3.0f} % right, {100 * sum(kept) / total:3.0f} % of the right ones')


def main():
    scorer.EVERYTHING = True
    ask = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    ask.add_argument('gold', nargs='+'); ask.add_argument('--anamnesis', default='target/debug/anamnesis')
    ask.add_argument('--out', default='models/facts/confidence.tsv'); ask.add_argument('--folds', type=int, default=8)
    ask.add_argument('--strength', type=float, default=2.0, help='penalty on the square of each weight')
    args = ask.parse_args()
    data = examples(args.gold, os.path.abspath(args.anamnesis))
    report(held_out(data, args.folds, args.strength))
    weights = fit(data, args.strength)
    with open(args.out, 'w', encoding='utf-8') as out:
        out.write('# Log odds that a finding is right, by feature (src/extract/confidence). Apache-2.0. Made by scripts/train_confidence.py\n')
        out.write(f'# from {", ".join(os.path.basename(p) for p in args.gold)}: {len(data)} findings of {len({d[1] for d in data})} documents.\n')
        for name in sorted(weights):
            if abs(weights[name]) >= .005 and not re.search(r'[\t\n]', name): out.write(f'{name}\t{weights[name]:.2f}\n')
    print(f'{args.out}: {len(weights)} weights')


if __name__ == '__main__':
    main()
