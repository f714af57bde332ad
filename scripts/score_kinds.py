"""Scores the lines of tests/data/cold/kinds.jsonl by `extract`: python3 scripts/score_kinds.py PROGRAM [--misses]

Six kinds of misreading; each line says what must come out of it and what must not. Prints right and all, by kind.
"""
import json,subprocess,sys,collections
binp=sys.argv[1]; show=len(sys.argv)>2 and sys.argv[2] == '--misses'
items=[json.loads(l) for l in open('tests/data/cold/kinds.jsonl')]
inp=''.join(json.dumps({"id":i["id"],"text":i["text"],"language":i["lang"],"document_type":i["type"],"occurred_at":i["day"]+"T12:00:00Z"},ensure_ascii=False)+'\n' for i in items)
out=[json.loads(l) for l in subprocess.run([binp,'extract'],input=inp,capture_output=True,text=True).stdout.split('\n') if l]
by={o['id']:o for o in out}
res=collections.defaultdict(lambda:[0,0]); 
def has(o,g):
    f=g['fact']
    if f=='risk':
        cs=[r['class'] for r in o['risk']]
        return (g.get('class') in cs) if 'class' in g else bool(cs)
    es=[e for e in o['entities'] if e['type']==f and not e['negated'] and e['experiencer']=='patient']
    if f=='allergy': es=[e for e in o['entities'] if e['type'] in('allergy','intolerance') and (not e['negated'] or g.get('negated'))]
    if 'value' in g: es=[e for e in es if e['value']==g['value'] or g['value'] in e['value'] or e['value'] in g['value']]
    if f=='medication' and 'status' in g:
        st=lambda e:'stopped' if e.get('status') in('stopped','ended','not_taken') else 'active'
        es=[e for e in es if st(e)==g['status']]
    if f=='allergy' and 'reaction' in g:
        es=[e for e in es if bool(e.get('reaction'))==bool(g['reaction'])]
    if 'uncertain' in g: es=[e for e in es if (e['uncertain'] or e['epistemic']=='inferred' or e['confidence']<0.5)==g['uncertain']]
    return bool(es)
for i in items:
    o=by.get(i['id'])
    for g in i['must']:
        ok=o and has(o,g); k=i['kind']+' must'; res[k][1]+=1; res[k][0]+=bool(ok)
        if show and not ok: print('MISS',i['id'],g,i['text'])
    for g in i['must_not']:
        ok=not (o and has(o,g)); k=i['kind']+' must_not kept'; res[k][1]+=1; res[k][0]+=bool(ok)
        if show and not ok: print('BAD',i['id'],g,i['text'])
for k in sorted(res): print(k,res[k])
print(sum(v[0] for v in res.values()),sum(v[1] for v in res.values()))
