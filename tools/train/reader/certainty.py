"""Fits how surely the rules read a finding (crates/extraction/src/confidence/weights.tsv), from rows of whole documents that are known to be
right or wrong.

    score_facts.py SET.jsonl… --anamnesis PROGRAM --profile fast --rows rows.jsonl
    python3 certainty.py --sets SET.jsonl… --rows rows.jsonl --anamnesis PROGRAM [--out weights.tsv]

The documents are redacted, as they are when the pipeline reads them, and extracted with `--explain`, which prints the marks of each finding.
A logistic regression with a weight for each mark, shared by all kinds and of each kind. Printed: what is left for decisions at each
threshold, by predictions for hands that were left out. The same input gives the same bytes.
The committed weights: sets d to i of tests/data/cold, rows and marks by the rules of 2026-11-29 before those on persons, negation, medicines and
allergies of that day.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / 'scripts'))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import score_facts  # noqa: E402
from surety import documents, words  # noqa: E402

SELDOM = 12  # marks that fewer findings have get no weight
UNIMPORTANT = 1.  # what is true and would not be missed counts so much as what is right: it is read as it was said
BIAS, SHARED, OWN = 1e-2, .7, 1.2  # how much weights are held back, for each row of a thousand


def arguments():
    ask = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    ask.add_argument('--sets', nargs='+', required=True)
    ask.add_argument('--rows', nargs='+', required=True)
    ask.add_argument('--anamnesis', required=True)
    ask.add_argument('--out')
    return ask.parse_args()


def run(program, verb, lines):
    done = subprocess.run([program, *verb], input='\n'.join(json.dumps(line, ensure_ascii=False) for line in lines), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def redacted(program, docs):
    """Each document as the pipeline reads it; each turn is redacted by itself."""
    parts = [(n, at, turn['text']) for n, doc in enumerate(docs) for at, turn in enumerate(doc.get('turns') or [{'text': doc['text']}])]
    texts = run(program, ['redact', '-'], [{'id': f'{n}', 'text': text, 'language': docs[n]['lang']} for n, _, text in parts])
    out = [{'id': doc['id'], 'language': doc['lang'], 'document_type': doc['type'], 'occurred_at': doc['occurred_at']} for doc in docs]
    for (n, at, text), answer in zip(parts, texts):
        said = answer.get('text', text)
        if docs[n].get('turns'):
            out[n].setdefault('turns', []).append({'speaker': docs[n]['turns'][at]['speaker'], 'text': said})
        else:
            out[n]['text'] = said
    return out


def examples(docs, read, rows, found):
    """(patient, kind, marks, right, weight) of the rows for which a finding of their document is known."""
    by_document = {score_facts.document_id(doc): n for n, doc in enumerate(docs)}
    out = []
    for row in rows:
        n = by_document.get((row.get('source') or {}).get('document_id'))
        if n is None or row['entity'] == 'risk':
            continue
        text = read[n].get('text') or '\n'.join(turn['text'] for turn in read[n]['turns'])
        statement, fragment = score_facts.fold(row['statement']), words(row['fragment'])
        best = None
        for entity in found[n]['entities']:
            if entity['type'] != row['entity']:
                continue
            own = words(text[entity['evidence']['start']:entity['evidence']['end']])
            passage = len(own & fragment) / max(min(len(own), len(fragment)), 1)
            named = score_facts.fold(entity['value']) in statement or score_facts.fold(entity['text']) in statement
            fit = (named or passage >= .8) and 2 * named + passage + (entity['negated'] == row['negated'])
            if fit and (best is None or fit > best[0]):
                best = (fit, entity)
        if best:
            right = row['right'] is not False
            out.append((docs[n]['patient'], row['entity'], best[1]['marks'], right, 1 if row['right'] is not None else UNIMPORTANT, row.get('use') == 'decision'))
    return out


def columns(known):
    marks = collections.Counter(key for _, kind, own, *_ in known for mark in ['bias', *own] for key in (('all', mark), (kind, mark)))
    return sorted(key for key, count in marks.items() if count >= SELDOM)


def table(known, names):
    place = {name: n for n, name in enumerate(names)}
    x = np.zeros((len(known), len(names)))
    for row, (_, kind, own, *_) in enumerate(known):
        for mark in ['bias', *own]:
            for key in (('all', mark), (kind, mark)):
                if key in place:
                    x[row, place[key]] = 1
    return x, np.array([right for *_, right, _, _ in known], float), np.array([weight for *_, weight, _ in known], float)


def fit(x, y, share, names):
    """Newton's method on the penalised log loss."""
    held = [BIAS if name == ('all', 'bias') else SHARED if name[0] == 'all' else OWN for name in names]
    penalty = np.array(held) * share.sum() / 1000
    weights = np.zeros(len(names))
    for _ in range(25):
        p = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (share * (p - y)) + penalty * weights
        curve = (x * (share * p * (1 - p))[:, None]).T @ x + np.diag(penalty + 1e-9)
        weights -= np.linalg.solve(curve, slope)
    return weights


def thresholds(p, y, counts, decision):
    """What decisions rest on at each threshold: rows that count, of those that are in force."""
    of = counts & decision
    for least in (0, .4, .5, .55, .6, .65, .7):
        kept = of & (p >= least)
        print(f'  at least {least:.2f}: {kept.sum():5} of {of.sum()} rows, {y[kept].mean():.3f} right, {y[kept].sum() / y[of].sum():.3f} of the right ones')


def main():
    args = arguments()
    docs = documents(args.sets)
    rows = [json.loads(line) for path in args.rows for line in open(path, encoding='utf-8')]
    read = redacted(args.anamnesis, docs)
    known = examples(docs, read, rows, run(args.anamnesis, ['extract', '--explain', '-'], read))
    names = columns(known)
    x, y, share = table(known, names)
    # A hand is the part before the number of a patient: "d1-p07". Who is left out writes otherwise than the others.
    part = np.array([patient.split('-')[0] for patient, *_ in known])
    left_out = np.zeros(len(y))
    for n in sorted(set(part)):
        left_out[part == n] = 1 / (1 + np.exp(-x[part == n] @ fit(x[part != n], y[part != n], share[part != n], names)))
    counts, decision = share == 1, np.array([last for *_, last in known])
    print(f'{len(rows)} rows, {len(known)} with a finding, {len(names)} weights')
    thresholds(left_out, y, counts, decision)
    for low in np.arange(0, 1, .1):
        inside = counts & (left_out >= low) & (left_out < low + .1)
        if inside.any():
            print(f'  {low:.1f} to {low + .1:.1f}: {inside.sum():5} rows, {y[inside].mean():.2f} right')
    weights = fit(x, y, share, names)
    if args.out:
        with open(args.out, 'w', encoding='utf-8') as out:
            out.write('# How surely a rule reads a finding: weights by group and mark, fitted by tools/train/reader/certainty.py.\n')
            out.write('# Source: sets d to i of tests/data/cold. Licence: Apache-2.0. May be changed by: the command above.\n')
            out.writelines(f'{group}\t{name}\t{weight:.3f}\n' for (group, name), weight in zip(names, weights) if abs(weight) >= .005)


if __name__ == '__main__':
    main()
