"""Stores documents with another memory library, as fast as its own interface allows: `anamnesis bench peers` runs it.

One JSON line each: {"peer", "version", "documents", "seconds"}, or {"peer", "error"} where the library is not installed.
Nothing is redacted, extracted or encrypted here; what is measured is embedding (by the same fake server) and storing.
"""

import argparse
import importlib.metadata
import json
import os
import time
from urllib.parse import urlparse

BATCH = 64


def llamaindex(documents, url, embeddings, dimension):
    from llama_index.core.schema import TextNode
    from llama_index.embeddings.openai import OpenAIEmbedding
    from llama_index.vector_stores.postgres import PGVectorStore

    at = urlparse(url)
    store = PGVectorStore.from_params(
        host=at.hostname, port=str(at.port or 5432), database=at.path.lstrip("/"), user=at.username,
        password=at.password or "", table_name="peer", embed_dim=dimension)
    model = OpenAIEmbedding(api_base=embeddings, api_key="none", embed_batch_size=BATCH, dimensions=None)
    store.add([TextNode(text="first", embedding=[0.1] * dimension)])  # makes the table
    started = time.monotonic()
    for at in range(0, len(documents), BATCH):
        some = documents[at:at + BATCH]
        vectors = model.get_text_embedding_batch([d["text"] for d in some])
        store.add([TextNode(id_=d["document_id"], text=d["text"], embedding=v,
                            metadata={"patient_id": d["patient_id"]}) for d, v in zip(some, vectors)])
    return time.monotonic() - started, importlib.metadata.version("llama-index-vector-stores-postgres")


def mem0(documents, url, embeddings, dimension):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", choices=["llamaindex", "mem0"], required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--embeddings", required=True)
    parser.add_argument("--dimension", type=int, required=True)
    parser.add_argument("--documents", required=True)
    args = parser.parse_args()
    with open(args.documents, encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    peer = {"llamaindex": llamaindex, "mem0": mem0}[args.peer]
    try:
        seconds, version = peer(documents, args.url, args.embeddings, args.dimension)
    except ImportError as missing:
        print(json.dumps({"peer": args.peer, "error": f"not installed: {missing.name}"}))
        return
    print(json.dumps({"peer": args.peer, "version": version, "documents": len(documents), "seconds": seconds}))


main()
