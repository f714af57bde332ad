"""Fits how surely a finding is read (crates/extraction/src/fusion/calibration.tsv), from rows of whole documents that are known to be right or wrong.

    score_facts.py SET.jsonl… --anamnesis PROGRAM --profile careful --everything --rows rows.jsonl
    anamnesis extract --reader-file FILE --explain documents.ndjson > findings.ndjson      made of the same sets by --documents
    python3 surety.py --sets SET.jsonl… --documents documents.ndjson     writes the documents for `extract`, and ends
    python3 surety.py --sets SET.jsonl… --rows rows.jsonl --findings findings.ndjson --out calibration.tsv

A logistic regression with a weight for each feature, and for each group a bias, a weight for support and one for each mark. Printed: log loss and
reliability of predictions made for hands that were left out, then of the fit. The same input gives the same bytes.
The committed weights: sets a to e (tests/data/facts, tests/data/cold).
"""

import argparse
import collections
import json
import pathlib
import re
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / 'scripts'))
import score_facts  # noqa: E402

OWN = ('bias', 'support', 'anything')  # features that have weights by group too
SELDOM = 15  # marks that fewer findings of a group have get no weight
UNIMPORTANT = .3  # what is true and would not be missed counts so much as what is right
SHARED, BY_GROUP, MARK = 1e-2, 1., 1.5  # how much weights are held back, for each row of a thousand


def arguments():
    ask = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    ask.add_argument('--sets', nargs='+', required=True)
    ask.add_argument('--documents')
    ask.add_argument('--rows')
    ask.add_argument('--findings')
    ask.add_argument('--out')
    return ask.parse_args()


def documents(sets):
    return [json.loads(line) for path in sets for line in open(path, encoding='utf-8') if line.strip()]


def write_documents(path, docs):
    with open(path, 'w', encoding='utf-8') as out:
        for doc in docs:
            said = {'turns': doc['turns']} if doc.get('turns') else {'text': doc['text']}
            out.write(json.dumps({'id': doc['id'], 'language': doc['lang'], 'document_type': doc['type'], 'occurred_at': doc['occurred_at'], **said}, ensure_ascii=False) + '\n')


def words(text):
    return set(re.findall(r'[a-z0-9]{2,}', score_facts.fold(text)))


def examples(docs, rows, findings):
    """(patient, group, features, marks, right, weight) of the rows for which a finding of their document is known."""
    by_document = {score_facts.document_id(doc): doc for doc in docs}
    found = {answer['id']: answer for answer in findings}
    out = []
    for row in rows:
        doc = by_document.get((row.get('source') or {}).get('document_id'))
        if doc is None or row['entity'] == 'risk':
            continue
        text = doc.get('text') or '\n'.join(turn['text'] for turn in doc['turns'])
        statement, fragment = score_facts.fold(row['statement']), words(row['fragment'])
        best = None
        for entity in found[doc['id']]['entities']:
            if entity['type'] != row['entity'] or 'surety' not in entity:
                continue
            own = words(text[entity['evidence']['start']:entity['evidence']['end']])
            # Redaction took words away: most of what is left must be the same.
            passage = len(own & fragment) / max(min(len(own), len(fragment)), 1)
            named = score_facts.fold(entity['value']) in statement or score_facts.fold(entity['text']) in statement
            redacted = '[' in row['statement'] or 'person_' in statement
            fit = (named or (redacted and passage >= .8)) and 2 * named + passage + (entity['negated'] == row['negated'])
            if fit and (best is None or fit > best[0]):
                best = (fit, entity['surety'])
        if best:
            out.append((doc['patient'], best[1]['group'], best[1]['features'], best[1]['marks'], row['right'] is not False, 1 if row['right'] is not None else UNIMPORTANT))
    return out


def columns(known):
    shared = sorted({name for _, _, features, *_ in known for name in features} - {'bias'})
    groups = sorted({group for _, group, *_ in known})
    marks = collections.Counter((group, mark) for _, group, _, marks, *_ in known for mark in marks)
    own = [(group, name) for group in groups for name in OWN]
    return [('all', name) for name in ['bias', *shared]] + own + sorted(key for key, count in marks.items() if count >= SELDOM)


def table(known, names):
    place = {name: n for n, name in enumerate(names)}
    x, y = np.zeros((len(known), len(names))), np.array([right for *_, right, _ in known], float)
    for row, (_, group, features, marks, *_) in enumerate(known):
        for name, value in features.items():
            x[row, place['all', name]] = value
            if (group, name) in place:
                x[row, place[group, name]] = value
        for mark in marks:
            if (group, mark) in place:
                x[row, place[group, mark]] = 1
    return x, y, np.array([weight for *_, weight in known], float)


def fit(x, y, share, names):
    """Newton's method on the penalised log loss."""
    penalty = np.array([SHARED if group == 'all' else MARK if ':' in name else BY_GROUP for group, name in names]) * share.sum() / 1000
    weights = np.zeros(len(names))
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (share * (p - y)) + penalty * weights
        curve = (x * (share * p * (1 - p))[:, None]).T @ x + np.diag(penalty + 1e-9)
        weights -= np.linalg.solve(curve, slope)
    return weights


def reliability(name, p, y, share):
    mean = lambda values, of=slice(None): np.average(values[of], weights=share[of])
    loss = -mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    print(f'{name}: {len(y)} rows, {mean(y):.3f} right, log loss {loss:.3f}')
    for low in np.arange(0, 1, .1):
        inside = (p >= low) & (p < low + .1)
        if inside.any():
            print(f'  {low:.1f} to {low + .1:.1f}: {inside.sum():5} rows, {mean(y, inside):.2f} right')


def main():
    args = arguments()
    docs = documents(args.sets)
    if args.documents:
        return write_documents(args.documents, docs)
    read = lambda path: [json.loads(line) for line in open(path, encoding='utf-8')]
    known = examples(docs, read(args.rows), read(args.findings))
    names = columns(known)
    x, y, share = table(known, names)
    # A hand is what stands before the number of a patient: "d1-p07". Who is left out writes otherwise than the others.
    part = np.array([patient.split('-')[0] for patient, *_ in known])
    left_out = np.zeros(len(y))
    for n in sorted(set(part)):
        left_out[part == n] = 1 / (1 + np.exp(-x[part == n] @ fit(x[part != n], y[part != n], share[part != n], names)))
    reliability('left out', left_out, y, share)
    by = collections.defaultdict(list)
    for (_, group, *_, right, _), p in zip(known, left_out):
        by[group].append((p, right))
    for group, all_ in sorted(by.items()):
        sure = [right for p, right in all_ if p >= .6]
        print(f'  {group:20} {len(all_):4} rows {np.mean([r for _, r in all_]):.2f} right; at least .6: {len(sure):4} rows {np.mean(sure or [0]):.2f} right')
    weights = fit(x, y, share, names)
    reliability('fit', 1 / (1 + np.exp(-x @ weights)), y, share)
    if args.out:
        with open(args.out, 'w', encoding='utf-8') as out:
            out.write('# How surely a finding is read: weights by group and feature, fitted by tools/train/reader/surety.py.\n')
            out.write('# Source: sets a to e (tests/data/facts, tests/data/cold). Licence: Apache-2.0. May be changed by: the command above.\n')
            out.writelines(f'{group}\t{name}\t{weight:.4f}\n' for (group, name), weight in zip(names, weights))


if __name__ == '__main__':
    main()
