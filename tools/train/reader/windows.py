"""What the network sees: windows of a document's lines, with a label for each piece."""

import numpy as np

from material import ATTRIBUTES, LAYERS, MARKS

WINDOW = 256  # pieces, with the two marks at its ends
CONTEXT = 48  # of them, at most so many of what was said before
UNLABELLED = -1


def layout(encoder, document):
    """Pieces of each line, its speaker's mark first: (id, start, end); a mark's start is -1."""
    mark = lambda speaker: [(piece, -1, -1) for piece, _, _ in encoder.tokens(MARKS[speaker])]
    return {number: mark(speaker) + encoder.tokens(text) for number, (speaker, text) in document.lines.items()}


def spans_of(order, pieces):
    """(places, first, last): places are (line, piece) in a window's order; those from `first` to before `last` are answered in
    it, each place in one window only. What stands before is said earlier, what stands behind is an outlook."""
    most = WINDOW - CONTEXT - 2
    units = [(line, at, min(len(pieces[line]), at + most)) for line in order for at in range(0, len(pieces[line]), most)]
    expand = lambda unit: [(unit[0], n) for n in range(unit[1], unit[2])]
    windows, at = [], 0
    while at < len(units):
        before, back = [], at - 1
        while back >= 0 and len(before) + units[back][2] - units[back][1] <= CONTEXT:
            before = expand(units[back]) + before
            back -= 1
        if not before and at > 0:
            before = expand(units[at - 1])[-CONTEXT:]
        body, end = [], at
        while end < len(units) and (not body or len(before) + len(body) + units[end][2] - units[end][1] + 2 <= WINDOW):
            body += expand(units[end])
            end += 1
        room = WINDOW - 2 - len(before) - len(body)
        outlook = expand(units[end])[:room] if end < len(units) else []
        windows.append((before + body + outlook, len(before), len(before) + len(body)))
        at = end
    return windows


def touched(pieces, mention):
    return [n for n, (_, start, end) in enumerate(pieces) if start >= 0 and start < end and start < mention.end and end > mention.start]


def labels(pieces, mentions):
    """For each layer its labels: 0 outside, 1 + 2k where a mention of kind k begins, 2 + 2k inside; for names and clauses the
    attributes (pieces × groups). A shorter mention lies over a longer one; one without a kind teaches nothing."""
    out = {}
    for layer, kinds in LAYERS.items():
        out[layer] = np.zeros(len(pieces), np.int32)
        attributes = np.full((len(pieces), len(ATTRIBUTES)), UNLABELLED, np.int32)
        for mention in sorted(mentions[layer], key=lambda m: m.start - m.end):
            for n, piece in enumerate(touched(pieces, mention)):
                out[layer][piece] = UNLABELLED if mention.kind is None else 1 + 2 * kinds.index(mention.kind) + (n > 0)
                attributes[piece] = mention.attributes or UNLABELLED
        if layer in ('names', 'clauses'):
            out[layer + '.attributes'] = attributes
    return out


def windows(encoder, documents):
    """Of all documents: ids, which places are answered, and labels by layer."""
    out = []
    for document in documents:
        pieces = layout(encoder, document)
        known = {line: labels(pieces[line], document.mentions[line]) for line in pieces}
        for places, first, last in spans_of(sorted(document.lines), pieces):
            window = {'ids': [encoder.begin] + [pieces[line][n][0] for line, n in places] + [encoder.end], 'first': first + 1, 'last': last + 1}
            for key in known[places[0][0]]:
                width = (len(ATTRIBUTES),) if key.endswith('attributes') else ()
                rows = np.full((len(places) + 2, *width), UNLABELLED, np.int32)
                # What redaction took away is no lesson about identifiers.
                if not (key == 'identifiers' and document.redacted):
                    for n in range(first, last):
                        line, piece = places[n]
                        rows[n + 1] = known[line][key][piece]
                window[key] = rows
            out.append(window)
    return out
