"""Whole documents with facts, as teaching documents: sets in the form of scripts/score_facts.py whose misses have been read.

A fact there has the passage that says it (`quote`) and stems by which it is found (`value`). A name is the longest of them in the passage, to
the ends of its words; a clause is the passage. What the set leaves open teaches nothing: a passage without any of its stems, the words
around a name in its phrase, an attribute that is not given or has several values, all details (their words are not marked), and what is true and unimportant
(those lists hold readings of every kind). A set whose facts have no passages cannot teach.
"""

import json
import pathlib
import re
import unicodedata

from material import ATTRIBUTES, LAYERS, SAME_STATUS, Document, Mention

KEYS = {'polarity': 'polarity', 'person': 'experiencer', 'time': 'temporality', 'certainty': 'certainty', 'status': 'status'}
SPOKEN = {'clinician': 'clinician', 'patient': 'patient', 'family': 'family', 'agent': 'agent'}


def folded(text):
    """Without accents, in lower case, one character for each."""
    return ''.join(unicodedata.normalize('NFD', character)[0].lower()[:1] or ' ' for character in text)


def lines_of(record):
    """number -> (speaker or None, text): the lines of each turn, or of the text; empty ones say nothing."""
    turns = [(turn['speaker'], turn['text']) for turn in record.get('turns') or []] or [(None, record['text'])]
    said = [(speaker and SPOKEN.get(speaker, 'unknown'), line) for speaker, text in turns for line in text.split('\n') if line.strip()]
    return dict(enumerate(said, 1))


def widened(text, start, end):
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return start, end


def name_in(text, start, end, stems):
    """Where the longest of the stems stands in a passage, to the ends of its words, or None."""
    passage = folded(text[start:end])
    for stem in sorted(map(folded, stems), key=len, reverse=True):
        found = re.search(rf'(?<![^\W_]){re.escape(stem)}', passage)
        if found:
            return widened(text, start + found.start(), start + found.end())
    return None


def attributes_of(fact):
    values = []
    for group, options in ATTRIBUTES.items():
        if group == 'weight':
            values.append(0)
        elif group == 'risk':
            values.append(next((options.index(name) for name in fact['value'] if name in options), -1) if fact['kind'] == 'risk' else -1)
        else:
            values.append(option_of(fact, group, options))
    return tuple(values)


def option_of(fact, group, options):
    given = fact.get(KEYS[group])
    if isinstance(given, list):
        return -1
    given = SAME_STATUS.get(given, given)
    if given in options:
        return options.index(given)
    # A set names no status but that of medicines.
    return 0 if group == 'status' and fact['kind'] != 'medication' and fact.get('temporality') != 'past' else -1


def identifiers(text, strings):
    kind = lambda one: 'email' if '@' in one else 'phone' if sum(c.isdigit() for c in one) > 6 else 'id' if any(c.isdigit() for c in one) else 'name'
    return [Mention(found.start(), found.end(), kind(one)) for one in strings if one.strip()
            for found in re.finditer(rf'(?<!\w){re.escape(one)}(?!\w)', text, re.IGNORECASE)]


def document(record, path):
    out = Document(f'{path}/{record["id"]}', lines_of(record), {})
    for number, (_, text) in out.lines.items():
        whole = [Mention(0, len(text), None)]
        out.mentions[number] = {'names': [], 'clauses': [], 'details': whole, 'identifiers': identifiers(text, record['pii'])}
    taken = set()
    for fact in record['must']:
        if fact.get('quote'):
            add(out, fact, taken)
    for fact in record['may']:
        if fact.get('quote'):
            leave_open(out, fact)
    return out


def layer_of(fact):
    return next((layer for layer in ('names', 'clauses') if fact['kind'] in LAYERS[layer]), None)


def where(out, fact):
    """(line, start) of each place where a fact's passage stands."""
    return [(number, text.find(fact['quote'])) for number, (_, text) in out.lines.items() if fact['quote'] in text]


def phrase(text, start, end, first, last):
    """From a name to the marks around it, inside the passage."""
    before, behind = re.split(r'[,.;:()/]', text[start:first])[-1], re.split(r'[,.;:()/]', text[last:end])[0]
    return first - len(before), last + len(behind)


def add(out, fact, taken):
    layer, places = layer_of(fact), where(out, fact)
    if layer is None or not places:
        return
    number, at = next((place for place in places if (*place, fact['kind']) not in taken), places[0])
    taken.add((number, at, fact['kind']))
    text, own, end = out.lines[number][1], out.mentions[number][layer], at + len(fact['quote'])
    if layer == 'clauses':
        own.append(Mention(at, end, fact['kind'], attributes_of(fact)))
        return
    name = name_in(text, at, end, fact['value'])
    own.append(Mention(*(phrase(text, at, end, *name) if name else (at, end)), None))
    if name:
        own.append(Mention(*name, fact['kind'], attributes_of(fact)))


def leave_open(out, fact):
    for number, at in where(out, fact) if layer_of(fact) else []:
        text, own, end = out.lines[number][1], out.mentions[number][layer_of(fact)], at + len(fact['quote'])
        name = name_in(text, at, end, fact['value']) if layer_of(fact) == 'names' else None
        span = phrase(text, at, end, *name) if name else (at, end)
        if not any(one.kind and one.start < span[1] and span[0] < one.end for one in own):
            own.append(Mention(*span, None))


def documents(paths):
    """Of sets such as `tests/data/cold/f.jsonl`; the path of a document is that of its set's name and its id."""
    return [document(json.loads(line), f'sets/{pathlib.Path(path).stem}') for path in paths for line in open(path, encoding='utf-8') if line.strip()]
