"""Signs one CloudEvent (JSON on standard input) for Anamnesis: KEY_FILE=scribe.key sign.py KEY_ID [RFC 3339 TIME]"""
import datetime, hashlib, hmac, json, os, sys

event = json.load(sys.stdin)
key_id = sys.argv[1]
at = sys.argv[2] if len(sys.argv) > 2 else datetime.datetime.now(datetime.timezone.utc).isoformat()
with open(os.environ["KEY_FILE"], "rb") as file:
    key = file.read().strip()
canonical = json.dumps(event["data"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
digest = hashlib.sha256(event["type"].encode() + b"\0" + canonical.encode()).hexdigest()
signed = "\n".join(["anamnesis-signature-v1", key_id, at, event["source"], event["id"], digest])
event["signaturekey"], event["signedat"] = key_id, at
event["signature"] = hmac.new(key, signed.encode(), hashlib.sha256).hexdigest()
json.dump(event, sys.stdout, ensure_ascii=False)
