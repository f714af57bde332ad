"""Teaching documents: their form, their labels, and how they look after redaction.

A document (`material/HAND/NN.txt`, UTF-8) has a head `#doc lang=… type=… at=…`, numbered lines (`N speaker: text` or
`N | text`), then `#facts` (`LINE | KIND | SPAN | NAMES | FLAGS | EXTRAS`), `#not` (`LINE | KIND | SPAN | why`) and `#pii`
(`LINE | SPAN | type`). material/README.md says what each field means. `python material.py FOLDER` lists what does not fit.
"""

import dataclasses
import pathlib
import re
import sys

import numpy as np

SPEAKERS = ('patient', 'clinician', 'family', 'agent', 'unknown')
# Put before a line, so that the encoder sees who speaks.
MARKS = {'clinician': 'C:', 'patient': 'P:', 'family': 'F:', 'agent': 'A:', 'unknown': 'U:', None: '|'}
LAYERS = {
    'names': ('condition', 'symptom', 'medication', 'allergy', 'intolerance', 'substance_use', 'measurement', 'procedure', 'adherence'),
    'clauses': ('risk', 'goal', 'preference', 'event', 'appointment', 'relationship'),
    'details': ('reaction', 'dose', 'date', 'value'),
    'identifiers': ('name', 'address', 'phone', 'email', 'id', 'date_of_birth', 'organisation', 'place', 'other'),
}
# The first of each is what an entry means that does not say otherwise.
ATTRIBUTES = {
    'polarity': ('present', 'denied'), 'person': ('patient', 'family', 'other'), 'time': ('current', 'past', 'future'),
    'certainty': ('certain', 'possible', 'planned'),
    'status': ('none', 'active', 'started', 'stopped', 'changed', 'on_hold', 'not_taken', 'suggested', 'declined', 'resolved'),
    'weight': ('keep', 'minor'),
    'risk': ('passive_ideation', 'active_ideation', 'plan_or_means', 'attempt_history', 'self_harm', 'harm_to_others', 'abuse'),
}
SAME_STATUS = {'never': 'not_taken', 'completed': 'resolved', 'intended': 'suggested'}
DETAIL_KEYS = {'reaction_span': 'reaction', 'dose_span': 'dose', 'date_span': 'date', 'value_span': 'value'}
FLAGS = {flag for group in ATTRIBUTES.values() for flag in group} | set(SAME_STATUS)
REPLACEMENTS = {'name': 'PERSON', 'address': 'ADDRESS', 'phone': 'PHONE', 'email': 'EMAIL', 'organisation': 'ORGANIZATION', 'place': 'LOCATION',
                'date_of_birth': 'DATE', 'id': 'ID', 'other': 'ID'}
DATED = .3  # of the dates with a figure, redaction takes so many away
MISSED = .03  # of the identifiers, redaction leaves so many


@dataclasses.dataclass
class Mention:
    """A stretch of a line, in characters, with its kind; `attributes` are places in ATTRIBUTES, -1 where it has none."""
    start: int
    end: int
    kind: str
    attributes: tuple = ()


@dataclasses.dataclass
class Document:
    path: str
    lines: dict  # number -> (speaker or None, text)
    mentions: dict  # number -> layer -> [Mention]
    redacted: bool = False
    faults: tuple = ()


def attributes_of(kind, names, flags):
    flags = {SAME_STATUS.get(flag, flag) for flag in flags}
    values = []
    for group, options in ATTRIBUTES.items():
        if group == 'risk':
            values.append(next((n for n, option in enumerate(options) if kind == 'risk' and option in names), -1))
        else:
            values.append(next((n for n, option in enumerate(options) if n and option in flags), 0))
    return tuple(values)


def places(text, span):
    """Where a span stands as whole words, or at all."""
    found, at = [], text.find(span)
    while at >= 0:
        found.append(at)
        at = text.find(span, at + 1)
    joined = lambda a, b: a.isalnum() and b.isalnum()
    whole = [a for a in found if (a == 0 or not joined(text[a - 1], text[a]))
             and (a + len(span) == len(text) or not joined(text[a + len(span)], text[a + len(span) - 1]))]
    return whole or found


class Reader:
    """Reads one document, line by line."""

    def __init__(self, path):
        self.document, self.part, self.head, self.faults, self.taken = Document(str(path), {}, {}), 'body', {}, [], {}
        for number, line in enumerate(path.read_text(encoding='utf-8').split('\n'), 1):
            self.number = number
            if line.strip():
                self._line(line)
        if not {'lang', 'type', 'at'} <= self.head.keys():
            self.faults.append('no #doc line with lang, type and at')
        self.document.faults = tuple(self.faults)

    def _fault(self, what):
        self.faults.append(f'{self.number}: {what}')

    def _line(self, line):
        if line.startswith('#doc'):
            self.head = dict(re.findall(r'(\w+)=(\S+)', line))
        elif line.strip() in ('#facts', '#not', '#pii'):
            self.part = line.strip()[1:]
        elif self.part == 'body':
            said = re.match(rf'(\d+) (?:\| ?(.*)|({"|".join(SPEAKERS)}): ?(.*))$', line)
            if not said:
                return self._fault('is no line of the body')
            number = int(said[1])
            self.document.lines[number] = (said[3], said[2] if said[3] is None else said[4])
            self.document.mentions[number] = {layer: [] for layer in LAYERS}
        else:
            self._entry(re.split(r'\s*\|\s*', line.strip(), maxsplit={'facts': 5, 'not': 3, 'pii': 2}[self.part]))

    def _entry(self, fields):
        if len(fields) < 3 or not fields[0].isdigit() or int(fields[0]) not in self.document.lines:
            return self._fault('names no line of the body, or has too few fields')
        number, span = int(fields[0]), fields[1] if self.part == 'pii' else fields[2]
        text = self.document.lines[number][1]
        found = places(text, span)
        if not found:
            return self._fault('its span is not in its line')
        if self.part == 'pii':
            kind = fields[2] if fields[2] in LAYERS['identifiers'] else 'other'
            self.document.mentions[number]['identifiers'] += [Mention(at, at + len(span), kind) for at in found]
        elif self.part == 'facts':
            self._fact(number, fields, span, found)

    def _fact(self, number, fields, span, found):
        kind = fields[1]
        layer = next((layer for layer in ('names', 'clauses') if kind in LAYERS[layer]), None)
        names = {name.strip() for name in (fields[3] if len(fields) > 3 else '').split(';')} - {''}
        flags = set(fields[4].split()) if len(fields) > 4 else set()
        extras = dict(pair.split('=', 1) for pair in re.split(r'\s*;\s*', fields[5]) if '=' in pair) if len(fields) > 5 else {}
        if layer is None or not names or flags - FLAGS or (kind == 'risk' and not names <= set(ATTRIBUTES['risk'])):
            return self._fault('unknown kind, flag or class of risk, or no name')
        taken = self.taken.setdefault((number, kind), set())
        at = next((at for at in found if at not in taken), found[0])
        taken.add(at)
        self.document.mentions[number][layer].append(Mention(at, at + len(span), kind, attributes_of(kind, names, flags)))
        for key, detail in DETAIL_KEYS.items():
            if extras.get(key):
                self._detail(number, extras[key], detail)

    def _detail(self, number, span, detail):
        for line in [number, *self.document.lines]:
            found = places(self.document.lines[line][1], span)
            if found:
                mention = Mention(found[0], found[0] + len(span), detail)
                if mention not in self.document.mentions[line]['details']:
                    self.document.mentions[line]['details'].append(mention)
                return
        self._fault(f'no line holds its {detail}')


def redacted(document, random):
    """The document as redaction leaves it: identifiers replaced by marks, mentions moved, some missed, some dates gone."""
    out = Document(document.path, {}, {}, redacted=True)
    for number, (speaker, text) in document.lines.items():
        own = document.mentions[number]
        cuts = _cuts(own, text, random)
        pieces, moves, at, length = [], [], 0, 0
        for start, end, mark in cuts:
            pieces += [text[at:start], mark]
            length += start - at
            moves.append((start, end, length, length + len(mark)))
            length, at = length + len(mark), end
        out.lines[number] = (speaker, ''.join(pieces) + text[at:])
        out.mentions[number] = {layer: [dataclasses.replace(m, start=_moved(moves, m.start, 2), end=_moved(moves, m.end, 3)) for m in own[layer]]
                                for layer in LAYERS if layer != 'identifiers'} | {'identifiers': []}
    return out


def _cuts(own, text, random):
    cuts = []
    for mention in sorted(own['identifiers'], key=lambda m: (m.start, -m.end)):
        if (cuts and mention.start < cuts[-1][1]) or random.random() < MISSED:
            continue
        label = REPLACEMENTS[mention.kind]
        cuts.append((mention.start, mention.end, f'[{label}]' if label in ('ID', 'DATE') else f'[{label}_{random.integers(65536):04X}]'))
    for mention in own['details']:
        figures = mention.kind == 'date' and any(c.isdigit() for c in text[mention.start:mention.end])
        if figures and random.random() < DATED and not any(mention.start < end and start < mention.end for start, end, _ in cuts):
            cuts.append((mention.start, mention.end, '[DATE]'))
    return sorted(cuts)


def _moved(moves, at, inside):
    """Where a character stands now; one inside of what was replaced stands at the mark's beginning (2) or end (3)."""
    shift = 0
    for move in moves:
        if at >= move[1]:
            shift = move[3] - move[1]
        elif at > move[0] or (at == move[0] and inside == 2):
            return move[inside]
    return at + shift


def documents(folder):
    return [Reader(path).document for path in sorted(pathlib.Path(folder).glob('*/*.txt'))]


if __name__ == '__main__':
    read = documents(sys.argv[1])
    for one in read:
        for fault in one.faults:
            print(one.path, fault)
    count = sum(len(mentions[layer]) for one in read for mentions in one.mentions.values() for layer in ('names', 'clauses'))
    print(f'{len(read)} documents, {count} mentions, {sum(len(one.faults) for one in read)} faults')
    sys.exit(any(one.faults for one in read))
