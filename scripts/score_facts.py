#!/usr/bin/env python3
"""Holds what a reader is shown against what a clinician would want remembered: whole documents in, memory out.

usage: score_facts.py GOLD.jsonl... [--anamnesis PROGRAM] [--misses N] [--rows FILE] [--profile P] [--everything]   facts of whole documents; several sets: each, then all together
       score_facts.py --agreement FIRST.jsonl SECOND.jsonl                   two annotators of the same documents: F1 of their facts

GOLD, one document a line:
  {"id","lang","type","patient","occurred_at","text"|"turns":[{"speaker","text"}],"participants"?,"metadata"?,"provenance"?,
   "must":[{"kind","value":[alternatives in both languages],"polarity":"present|denied","experiencer":"patient|family|other",
            "temporality":"current|past|future","certainty":"certain|possible|planned","status"?,"dose"?,"date"?,"reaction"?,"quote"?}],
   "may":[{"kind","value","polarity"?,"quote"?}]  true, but nobody would miss it (or two readers disagree): counts neither way
   "must_not":[{"kind","value","polarity"?="present","experiencer"?="patient","while"?="decision|active"}],
   "pii":[strings that may not be stored], "keep":[clinical words that redaction may not take]}
The gold lists everything that a clinician would keep. Kinds: condition, symptom, medication, allergy, intolerance, appointment, event,
procedure, preference, goal, relationship, risk, measurement (lab), adherence, statement. For risk, the value holds the class.

Each patient has a store of his own; "now" is an hour after his last document; other settings of the environment are not passed on.
A fact is right when one row has its value (whole words), kind, polarity and person, a status and time that fit, for risk its class and a
passage that overlaps the quote, and when no other row in force says otherwise of the same value. A row counts once: a second row for the
same fact is a duplicate, and wrong. Status and time are judged as of the patient's last document (a fact that a later document of the gold
speaks of again is judged by the later one); rows of earlier visits that are superseded or
lapsed and match a fact in value, kind, person and polarity count neither way. A reliability table follows: how often rows of an
extraction confidence are right. Last line: one JSON object, with 95 % intervals (Wilson) of each share; of several sets, one for each and "all"."""
import argparse, collections, datetime, json, math, os, re, subprocess, sys, tempfile, unicodedata, uuid

ORG = str(uuid.uuid5(uuid.NAMESPACE_URL, 'anamnesis:facts'))
FAMILIES = [{'condition', 'symptom', 'substance_use'}, {'medication', 'adherence'}, {'allergy', 'intolerance'}, {'appointment'}, {'event', 'procedure'}, {'preference'}, {'goal'},
            {'relationship'}, {'risk'}, {'lab', 'observation', 'measurement', 'score'}, {'statement'}]
WIDE = {'preference', 'goal', 'event', 'procedure', 'appointment', 'relationship', 'lab', 'measurement'}
CLASSES = ('passive_ideation', 'active_ideation', 'plan_or_means', 'attempt_history', 'self_harm', 'harm_to_others', 'abuse')
LONGEST_QUOTE = 300
SETTINGS = {}  # of the program, by --profile and --everything
STATUS = {'active', 'started', 'stopped', 'changed', 'on_hold', 'not_taken', 'never', 'suggested', 'intended', 'declined', 'resolved', 'completed'}


def fold(text):
    text = unicodedata.normalize('NFD', str(text).lower())
    return ''.join(c for c in text if not unicodedata.combining(c))


def family(kind):
    return next((n for n, kinds in enumerate(FAMILIES) if kind in kinds), kind)


def check(docs):
    for doc in docs:
        for fact in doc['must'] + doc.get('may', []) + doc.get('must_not', []):
            if not isinstance(family(fact['kind']), int):
                sys.exit(f"{doc['id']}: unknown kind {fact['kind']}")
            status = fact.get('status') or []
            if not set(status if isinstance(status, list) else [status]) <= STATUS:
                sys.exit(f"{doc['id']}: unknown status {status}")


def words(value, text):
    """Whether the value begins a word of the text (inflections may follow)."""
    return bool(value) and re.search(r'(?<![a-z0-9])' + re.escape(fold(value)), text) is not None


def patient_id(name):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, 'facts:patient:' + name))


def document_id(doc):
    return str(uuid.uuid5(uuid.NAMESPACE_URL, 'facts:document:' + doc['id']))


def message(doc):
    data = {'organization_id': ORG, 'patient_id': patient_id(doc['patient']), 'document_id': document_id(doc), 'revision': 1,
            'document_type': doc['type'], 'occurred_at': doc['occurred_at'], 'language': doc['lang']}
    data.update({k: doc[k] for k in ('participants', 'metadata', 'provenance', 'known_identities') if doc.get(k)})
    if doc.get('turns'):
        data['turns'] = [{'speaker': t['speaker'], 'text': t['text']} for t in doc['turns']]
    else:
        data['text'] = doc['text']
    return data


def run(program, folder, *args, now=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith('ANAMNESIS')}
    if now:
        env['ANAMNESIS__PIPELINE__NOW'] = now
    env.update(SETTINGS)
    done = subprocess.run([program, *args], capture_output=True, text=True, cwd=folder, timeout=900, env=env)
    if done.returncode not in (0, 3) and args[0] in ('memory', 'context', 'export') and not done.stdout.strip():
        return ''
    if done.returncode not in (0, 3):
        sys.exit(f'{args[0]} ends with {done.returncode}: {done.stderr.strip()[-300:]}')
    return done.stdout


def instant(text):
    if len(text) <= 10:
        text = (text + '-01-01'[len(text) - 4:] if len(text) < 10 else text) + 'T00:00:00Z'
    return datetime.datetime.fromisoformat(text.replace('Z', '+00:00')).astimezone(datetime.timezone.utc)


def rows_of(program, folder, name, now=None):
    scope = ('--org', ORG, '--patient', patient_id(name))
    rows = [r for r in json.loads(run(program, folder, 'memory', 'list', *scope, '--output', 'json', now=now) or '[]') if r.get('entity')]
    context = json.loads(run(program, folder, 'context', *scope, '--output', 'json', now=now) or '{}')
    for flag in context.get('profile', {}).get('risks', []):
        rows.append({'entity': 'risk', 'statement': flag.get('class', ''), 'fragment': flag.get('quote') or '', 'negated': bool(flag.get('denied')), 'absence': False,
                     'experiencer': flag.get('experiencer') or 'patient', 'state': 'active', 'use': 'decision', 'at': flag.get('at'), 'source': {'document_id': flag.get('document_id')}})
    return rows


def same_value(fact, row):
    statement = fold(row.get('statement') or '')
    if fact['kind'] == 'risk':
        classes = [v for v in fact['value'] if v in CLASSES]
        return (statement in classes) if classes else any(words(v, statement) for v in fact['value'])
    quote = fold(row.get('fragment') or '')
    text = statement + (' ' + quote if fact['kind'] in WIDE and len(quote) <= LONGEST_QUOTE else '')
    return any(words(v, text) for v in fact['value'])


def same_passage(fact, row):
    if fact['kind'] != 'risk' or not fact.get('quote'):
        return True
    gold, got = (set(re.findall(r'[a-z0-9]{2,}', fold(t))) for t in (fact['quote'], row.get('fragment') or ''))
    return len(got) <= 60 and len(gold & got) * 2 >= min(len(gold), len(got)) > 0


def same_kind(fact, row):
    if {fact['kind'], row['entity']} == {'allergy', 'intolerance'} and 'why' in fact:
        return False
    return fact['kind'] == 'statement' or family(fact['kind']) == family(row['entity'])


def in_force(row):
    return row.get('use') in ('decision', 'hypothesis') or (row.get('class') == 'time_bound_state' and row.get('state') == 'active')


def denied(row):
    return bool(row.get('negated')) or bool(row.get('absence'))


def ended(row):
    return row.get('state') in ('resolved', 'superseded') or 'stopped' in fold(row.get('statement') or '')


def fits(fact, row):
    status = fact.get('status') or []
    status = set(status if isinstance(status, list) else [status])
    if fact['kind'] != 'statement' and (row.get('experiencer') == 'patient') != (fact['experiencer'] == 'patient'):
        return False
    if {fact['kind'], row['entity']} == {'allergy', 'intolerance'}:
        return False
    if status & {'stopped', 'not_taken', 'never'} and not status & {'active', 'started'}:
        return denied(row) or ended(row)
    if fact['kind'] != 'statement' and denied(row) != (fact['polarity'] == 'denied'):
        return False
    if fact['kind'] in ('condition', 'medication', 'symptom', 'allergy', 'intolerance') and fact['polarity'] == 'present':
        past = ended(row) or row.get('use') == 'history'
        if fact['temporality'] == 'past' and not past: return False
        if fact['temporality'] == 'current' and (ended(row) or not in_force(row)): return False
    if fact['certainty'] in ('possible', 'planned') and fact['kind'] not in ('appointment', 'event', 'procedure') and row.get('use') == 'decision' and not ended(row):
        return False
    return True


def numbers(text):
    found = re.findall(r'(?<![\d.,])\d+(?:[.,]\d+)*', str(text))
    return {float(re.sub(r'[.,](?=\d{3}(?:\D|$))', '', n).replace(',', '.')) for n in found if n.count('.') + n.count(',') < 3}


def excused(may, row):
    return same_kind(may, row) and same_value(may, row) and same_passage(may, row) and denied(row) == (may.get('polarity') == 'denied')


def score(docs, rows, texts, misses, verdicts=None):
    total = collections.Counter(); kinds = collections.defaultdict(collections.Counter); langs = collections.defaultdict(collections.Counter); wrong = []
    by_patient = collections.defaultdict(list)
    for doc in docs: by_patient[doc['patient']].append(doc)
    for name, own in by_patient.items():
        mine, taken = rows[name], {}
        may = [m for doc in own for m in doc.get('may', [])]
        gold = [(doc, fact) for doc in own for fact in doc['must'] if not any(
            instant(later['occurred_at']) > instant(doc['occurred_at']) and family(f['kind']) == family(fact['kind']) and fact['kind'] not in ('risk', 'event', 'appointment', 'measurement', 'lab')
            and {fold(v) for v in f['value']} & {fold(v) for v in fact['value']} and (f['experiencer'] == 'patient') == (fact['experiencer'] == 'patient') for later in own for f in later['must'])]
        for doc, fact in gold:
            key = (family(fact['kind']), fold(fact['value'][0]), fact['polarity'], fact['experiencer'] == 'patient', fold(fact.get('quote') or ''))
            near = [n for n, r in enumerate(mine) if same_kind(fact, r) and same_value(fact, r) and same_passage(fact, r)]
            good = [n for n in near if fits(fact, mine[n]) and taken.get(n, key) == key]
            wanted = [f for _, f in gold if f is not fact]
            rivals = [n for n in near if n not in good and mine[n].get('use') == 'decision' and fact['kind'] != 'risk'
                      and (mine[n].get('experiencer') == 'patient') == (fact['experiencer'] == 'patient') and not any(excused(m, mine[n]) for m in may)
                      and not any(same_kind(f, mine[n]) and same_value(f, mine[n]) and fits(f, mine[n]) for f in wanted)]
            verdict = 'right' if good and not rivals else 'context' if near else 'missed'
            for c in (total, kinds[fact['kind']], langs[doc['lang']]): c[verdict] += 1
            if good: taken[good[0]] = key
            if fact['kind'] == 'risk' and fact['polarity'] == 'present' and fact['temporality'] == 'current' and fact['experiencer'] == 'patient':
                total['risk_of'] += 1; total['risk_right'] += bool(good)
            if fact['kind'] == 'risk' and fact['polarity'] == 'denied':
                total['denial_of'] += 1; total['denial_right'] += bool(good)
            if fact['polarity'] == 'present' and fact['temporality'] == 'current' and fact['experiencer'] == 'patient' and fact['certainty'] == 'certain' and fact['kind'] != 'risk':
                total['usable_of'] += 1; total['usable'] += bool(good and not rivals and mine[good[0]].get('use') == 'decision')
            if fact.get('dose'):
                total['dose_of'] += 1; total['dose_right'] += any(numbers(fact['dose']) <= numbers(mine[n].get('statement') or '') for n in good)
            if fact.get('reaction'):
                said = ' '.join(fact['reaction']) if isinstance(fact['reaction'], list) else str(fact['reaction'])
                wanted_words = [w for w in re.findall(r'[a-z]{3,}', fold(said)) if w not in ('and', 'the', 'with', 'con', 'del', 'por', 'las', 'los')]
                total['reaction_of'] += 1; total['reaction_right'] += any(any(words(w, fold(mine[n].get('statement') or '') + ' ' + fold(mine[n].get('reaction') or '')) for w in wanted_words) for n in good)
            if fact.get('date'):
                day = str(fact['date']); total['date_of'] += 1
                total['date_right'] += any(day == str(mine[n].get('at') or '')[:len(day)] or (day == str(mine[n].get('valid_from') or '')[:len(day)] and not doc['occurred_at'].startswith(day)) or day in (mine[n].get('statement') or '') for n in good)
            if verdict != 'right' and len(wrong) < misses:
                wrong.append((verdict, doc['id'], fact['kind'], fact['value'][0], [mine[n]['statement'] for n in near][:3]))
        for doc in own:
            for bad in doc.get('must_not', []):
                total['must_not_of'] += 1
                hit = next((r for r in mine if same_kind(bad, r) and r.get('experiencer') == bad.get('experiencer', 'patient') and denied(r) == (bad.get('polarity') == 'denied')
                            and r.get('use') in ('decision',) + (() if bad.get('while', 'decision') == 'decision' else ('hypothesis',)) and not ended(r)
                            and (r.get('source') or {}).get('document_id') in (None, document_id(doc))
                            and any(words(v, fold(r.get('statement') or '') + (' ' + fold(r.get('fragment') or '') if bad['kind'] == 'risk' else '')) for v in bad['value'])), None)
                if hit:
                    total['must_not'] += 1
                    if len(wrong) < misses: wrong.append(('VIOLATES', doc['id'], bad['kind'], bad['value'][0], [hit['statement']]))
            for item in doc.get('pii', []):
                value = fold(item if isinstance(item, str) else item.get('text') or item.get('value') or '')
                total['pii_of'] += 1; total['pii_left'] += bool(value) and re.search(r'(?<![a-z0-9])' + re.escape(value) + r'(?![a-z0-9])', texts[name]) is not None
            for word in doc.get('keep', []):
                total['keep_of'] += 1; total['kept'] += fold(word) in texts[name]
        facts_of = [f for _, f in gold]
        for n, r in enumerate(mine):
            if r['entity'] in ('health_signal', 'summary'): continue
            if n not in taken and any(excused(m, r) for m in may):
                if verdicts is not None: verdicts.append((None, r))
                continue
            if n not in taken and r.get('state') in ('superseded', 'resolved_unconfirmed') and any(
                    same_kind(f, r) and same_value(f, r) and denied(r) == (f['polarity'] == 'denied') and (r.get('experiencer') == 'patient') == (f['experiencer'] == 'patient') for f in facts_of): continue
            right = n in taken
            if verdicts is not None: verdicts.append((right, r))
            total['stored'] += 1; total['stored_right'] += right
            if r.get('use') == 'decision': total['decision'] += 1; total['decision_right'] += right
            if r['entity'] == 'risk' and not denied(r): total['flags'] += 1; total['flags_right'] += right
            if r['entity'] == 'risk' and denied(r): total['denials'] += 1; total['denials_right'] += right
    return total, kinds, langs, wrong


def interval(hits, count):
    """95 % interval of a share in per cent (Wilson)."""
    if not count: return [0.0, 100.0]
    z, p = 1.96, hits / count
    middle, spread = p + z * z / (2 * count), z * math.sqrt(p * (1 - p) / count + z * z / (4 * count * count))
    return [round(100 * (middle - spread) / (1 + z * z / count), 1), round(100 * (middle + spread) / (1 + z * z / count), 1)]


SHARES = {'recall': ('right', 'facts'), 'wrong_context': ('context', 'facts'), 'usable': ('usable', 'usable_of'), 'precision': ('stored_right', 'stored'),
          'decision_precision': ('decision_right', 'decision'), 'must_not_violated': ('must_not', 'must_not_of'), 'doses': ('dose_right', 'dose_of'), 'dates': ('date_right', 'date_of'),
          'reactions': ('reaction_right', 'reaction_of'), 'risk_recall': ('risk_right', 'risk_of'), 'risk_precision': ('flags_right', 'flags'), 'denials_kept': ('denial_right', 'denial_of'),
          'pii_left': ('pii_left', 'pii_of')}


def figures(total, langs):
    """What one set, or several together, came to."""
    total['facts'] = sum(total[v] for v in ('right', 'context', 'missed'))
    out = {'documents': total['documents'], 'stored_documents': total['stored_documents'], 'set_aside': total['set_aside'], 'facts': total['facts'], 'rows': total['stored'], 'decision': total['decision']}
    for name, (hits, count) in SHARES.items():
        out[name] = round(100 * total[hits] / max(total[count], 1), 1)
    out['recall_by_language'] = {l: round(100 * c['right'] / max(c['right'] + c['context'] + c['missed'], 1), 1) for l, c in sorted(langs.items())}
    out['denials_invented_per_25'] = round(25 * (total['denials'] - total['denials_right']) / max(total['documents'], 1), 1)
    out['clinical_words_taken'] = total['keep_of'] - total['kept']
    out['intervals'] = {name: interval(total[hits], total[count]) for name, (hits, count) in SHARES.items()}
    return out


def reliability(verdicts):
    """Rows by the confidence with which they were read: how many, how many of them right."""
    bins = collections.defaultdict(lambda: [0, 0])
    for right, row in verdicts:
        if right is not None and row.get('extraction_confidence') is not None:
            cell = bins[min(int(row['extraction_confidence'] * 10), 9)]
            cell[0] += 1; cell[1] += right
    print('extraction confidence   rows  right')
    for low, (count, right) in sorted(bins.items()):
        print(f'{low / 10:.1f} to {low / 10 + .1:.1f}             {count:5}  {100 * right / count:4.0f} %')


def read_documents(docs, program):
    """What the program keeps of the documents: rows and all exported text by patient, and what became of the messages."""
    rows, texts, outcome = {}, {}, collections.Counter()
    for name in sorted({d['patient'] for d in docs}):
        own = sorted((d for d in docs if d['patient'] == name), key=lambda d: instant(d['occurred_at']))
        now = (instant(own[-1]['occurred_at']) + datetime.timedelta(hours=1)).strftime('%Y-%m-%dT%H:%M:%SZ')
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + '/messages.ndjson', 'w', encoding='utf-8') as out:
                for doc in own: out.write(json.dumps(message(doc), ensure_ascii=False) + '\n')
            tally = json.loads(run(program, folder, 'ingest', 'messages.ndjson', '--output', 'json', now=now).strip().splitlines()[-1])
            outcome.update({k: v for k, v in tally.items() if isinstance(v, int)})
            rows[name] = rows_of(program, folder, name, now)
            texts[name] = re.sub(r'\\[nrt]', ' ', fold(run(program, folder, 'export', '--org', ORG, '--patient', patient_id(name), now=now) + json.dumps(rows[name], ensure_ascii=False)))
    return rows, texts, outcome


def facts(args, program):
    sets, everything, all_langs, all_verdicts = {}, collections.Counter(), collections.defaultdict(collections.Counter), []
    for path in args.gold:
        docs = [json.loads(line) for line in open(path, encoding='utf-8') if line.strip()]
        check(docs)
        rows, texts, outcome = read_documents(docs, program)
        verdicts = []
        total, kinds, langs, wrong = score(docs, rows, texts, args.misses, verdicts)
        for line in wrong: print(*line, sep=' | ')
        print(f'{os.path.basename(path)}')
        for kind, c in sorted(kinds.items(), key=lambda k: -sum(k[1].values())):
            print(f"{kind:13} right {c['right']:3} context {c['context']:3} missed {c['missed']:3}")
        reliability(verdicts)
        total.update({'documents': len(docs), 'stored_documents': outcome['stored'], 'set_aside': outcome['quarantined']})
        sets[os.path.splitext(os.path.basename(path))[0]] = figures(total, langs)
        everything.update(total); all_verdicts += verdicts
        for lang, c in langs.items(): all_langs[lang].update(c)
        if args.rows:
            with open(args.rows, 'a', encoding='utf-8') as out:
                for right, row in verdicts: out.write(json.dumps({'right': right, **row}, ensure_ascii=False) + '\n')
    if len(sets) == 1:
        print(json.dumps(next(iter(sets.values()))))
        return
    everything.pop('facts', None)
    print('all sets together'); reliability(all_verdicts)
    sets['all'] = figures(everything, all_langs)
    print(json.dumps(sets))


def agreement(paths):
    """F1 of two annotators over the documents that both have read: a fact agrees in value, family of kinds, polarity and person."""
    first, second = ({d['id']: d for d in map(json.loads, filter(str.strip, open(p, encoding='utf-8')))} for p in paths)
    both = sorted(first.keys() & second.keys())
    same = lambda a, b: (family(a['kind']) == family(b['kind']) and a['polarity'] == b['polarity'] and (a['experiencer'] == 'patient') == (b['experiencer'] == 'patient')
                         and any(words(v, fold(w)) or words(w, fold(v)) for v in a['value'] for w in b['value']))
    hits = wanted = given = 0
    for key in both:
        # What one lists as unimportant and the other as a fact is no disagreement about the text.
        a, b = first[key]['must'], second[key]['must']
        loose = lambda doc: [dict({'polarity': 'present', 'experiencer': 'patient'}, **m) for m in doc.get('may', [])]
        found_a = sum(any(same(f, g) for g in b) for f in a); found_b = sum(any(same(f, g) for g in a) for f in b)
        skip_a = sum(not any(same(f, g) for g in b) and any(family(f['kind']) == family(g['kind']) and same(f, g) for g in loose(second[key])) for f in a)
        skip_b = sum(not any(same(f, g) for g in a) and any(family(f['kind']) == family(g['kind']) and same(f, g) for g in loose(first[key])) for f in b)
        hits += found_a + found_b; wanted += len(a) - skip_a; given += len(b) - skip_b
    print(json.dumps({'documents': len(both), 'facts': [wanted, given], 'agreement': round(hits / max(wanted + given, 1), 3)}))


def main():
    ask = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    ask.add_argument('gold', nargs='*'); ask.add_argument('--anamnesis', default=os.environ.get('ANAMNESIS', 'anamnesis'))
    ask.add_argument('--misses', type=int, default=0); ask.add_argument('--rows', metavar='FILE', help='append each row with its verdict: right, or null where it is true and unimportant')
    ask.add_argument('--agreement', nargs=2, metavar=('FIRST', 'SECOND'))
    ask.add_argument('--profile', choices=('fast', 'careful'), help='how the program reads; without it, as it does by default')
    ask.add_argument('--everything', action='store_true', help='doubtful findings are stored too: what training looks at')
    args = ask.parse_args()
    if args.profile: SETTINGS['ANAMNESIS__EXTRACTION__PROFILE'] = args.profile
    if args.everything: SETTINGS['ANAMNESIS__EXTRACTION__MIN_CONFIDENCE'] = '0'
    program = os.path.abspath(args.anamnesis) if os.path.exists(args.anamnesis) else args.anamnesis
    if args.agreement: agreement(args.agreement)
    elif args.gold: facts(args, program)
    else: ask.error('GOLD or --agreement')


if __name__ == '__main__':
    main()
