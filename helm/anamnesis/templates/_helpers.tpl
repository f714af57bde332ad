{{- define "anamnesis.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* 48 characters: CronJob names may have 52, and the job's name is appended to a shortened one. */}}
{{- define "anamnesis.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 48 | trimSuffix "-" }}
{{- else if contains (include "anamnesis.name" .) .Release.Name }}
{{- .Release.Name | trunc 48 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "anamnesis.name" .) | trunc 48 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "anamnesis.selectorLabels" -}}
app.kubernetes.io/name: {{ include "anamnesis.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "anamnesis.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "anamnesis.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: anamnesis
{{- end }}

{{- define "anamnesis.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "anamnesis.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "anamnesis.image" -}}
{{- if .Values.image.digest -}}
{{ printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else -}}
{{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "anamnesis.storeClaim" -}}
{{ default (printf "%s-store" (include "anamnesis.fullname" .)) .Values.store.persistence.existingClaim }}
{{- end }}

{{- define "anamnesis.keysClaim" -}}
{{ default (printf "%s-keys" (include "anamnesis.fullname" .)) .Values.store.keys.persistence.existingClaim }}
{{- end }}

{{/* Where the master key comes from: secret, volume or service. */}}
{{- define "anamnesis.masterKey" -}}
{{- with .Values.store.keys.masterKey }}
{{- if and .inService .existingSecret }}
{{- fail "store.keys.masterKey: either inService or existingSecret" }}
{{- end }}
{{- if and .inService (not (regexMatch "(?m)^\\s*root\\s*=\\s*[\"'](vault|aws|google|azure)[\"']" $.Values.config)) }}
{{- fail "store.keys.masterKey.inService: config must name the service, [keys] root" }}
{{- end }}
{{- if .inService }}service{{ else if .existingSecret }}secret{{ else }}volume{{ end }}
{{- end }}
{{- end }}

{{- define "anamnesis.masterKeyClaim" -}}
{{ default (printf "%s-master-key" (include "anamnesis.fullname" .)) .Values.store.keys.masterKey.persistence.existingClaim }}
{{- end }}

{{/* "true" when a policy is replaced, else nothing. */}}
{{- define "anamnesis.policies" -}}
{{- range .Values.jobs }}{{ if .policy }}true{{ end }}{{ end }}
{{- end }}

{{/* What must be agreed with the rest of the chart goes by environment; the file holds the user's own choices. */}}
{{- define "anamnesis.env" -}}
- name: ANAMNESIS_CONFIG
  value: /etc/anamnesis/anamnesis.toml
- name: ANAMNESIS__HTTP__BIND
  value: "0.0.0.0:8080"
- name: ANAMNESIS__LOG__FORMAT
  value: {{ .Values.log.format | quote }}
- name: ANAMNESIS__LOG__FILTER
  value: {{ .Values.log.filter | quote }}
- name: ANAMNESIS__STORE__PATH
  value: /var/lib/anamnesis/store.db
- name: ANAMNESIS__STORE__KEYS
  value: /var/lib/anamnesis-keys/store.keys
- name: ANAMNESIS__JOBS__TICK
  value: {{ eq .Values.scheduler.mode "embedded" | quote }}
{{- if include "anamnesis.policies" . }}
- name: ANAMNESIS__JOBS__DIRECTORY
  value: /etc/anamnesis-jobs
{{- end }}
{{- if eq (include "anamnesis.masterKey" .) "secret" }}
- name: ANAMNESIS__STORE__MASTER_KEY_FILE
  value: /etc/anamnesis-master-key/master-key
{{- else if eq (include "anamnesis.masterKey" .) "volume" }}
- name: ANAMNESIS__STORE__MASTER_KEY_FILE
  value: /var/lib/anamnesis-master-key/master-key
{{- end }}
{{- with .Values.broker.url.existingSecret }}
- name: ANAMNESIS__BROKER__URL
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $.Values.broker.url.key }}
{{- end }}
{{- if .Values.embedding.apiKey.existingSecret }}
- name: ANAMNESIS__EMBEDDING__API_KEY_FILE
  value: /etc/anamnesis-embedding/api-key
{{- end }}
{{- with .Values.worker.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "anamnesis.volumeMounts" -}}
- name: config
  mountPath: /etc/anamnesis
  readOnly: true
- name: store
  mountPath: /var/lib/anamnesis
- name: keys
  mountPath: /var/lib/anamnesis-keys
{{- if eq (include "anamnesis.masterKey" .) "secret" }}
- name: master-key
  mountPath: /etc/anamnesis-master-key
  readOnly: true
{{- else if eq (include "anamnesis.masterKey" .) "volume" }}
- name: master-key
  mountPath: /var/lib/anamnesis-master-key
{{- end }}
- name: tmp
  mountPath: /tmp
{{- if include "anamnesis.policies" . }}
- name: jobs
  mountPath: /etc/anamnesis-jobs
  readOnly: true
{{- end }}
{{- if .Values.embedding.apiKey.existingSecret }}
- name: embedding
  mountPath: /etc/anamnesis-embedding
  readOnly: true
{{- end }}
{{- if .Values.certificates.existingSecret }}
- name: certificates
  mountPath: /etc/anamnesis-certificates
  readOnly: true
{{- end }}
{{- if .Values.producers.keys.existingSecret }}
- name: producers
  mountPath: /etc/anamnesis-producers
  readOnly: true
{{- end }}
{{- end }}

{{- define "anamnesis.volumes" -}}
- name: config
  configMap:
    name: {{ include "anamnesis.fullname" . }}
- name: store
  persistentVolumeClaim:
    claimName: {{ include "anamnesis.storeClaim" . }}
- name: keys
  persistentVolumeClaim:
    claimName: {{ include "anamnesis.keysClaim" . }}
{{- if eq (include "anamnesis.masterKey" .) "secret" }}
- name: master-key
  secret:
    secretName: {{ .Values.store.keys.masterKey.existingSecret }}
    # Readable by the group of the pod only.
    defaultMode: 0440
    items:
      - key: {{ .Values.store.keys.masterKey.key }}
        path: master-key
{{- else if eq (include "anamnesis.masterKey" .) "volume" }}
- name: master-key
  persistentVolumeClaim:
    claimName: {{ include "anamnesis.masterKeyClaim" . }}
{{- end }}
- name: tmp
  emptyDir:
    sizeLimit: 256Mi
{{- if include "anamnesis.policies" . }}
- name: jobs
  configMap:
    name: {{ include "anamnesis.fullname" . }}-jobs
{{- end }}
{{- with .Values.certificates.existingSecret }}
- name: certificates
  secret:
    secretName: {{ . }}
    # Readable by the group of the pod only: there may be a key among them.
    defaultMode: 0440
{{- end }}
{{- with .Values.producers.keys.existingSecret }}
- name: producers
  secret:
    secretName: {{ . }}
    # Readable by the group of the pod only.
    defaultMode: 0440
{{- end }}
{{- with .Values.embedding.apiKey }}
{{- if .existingSecret }}
- name: embedding
  secret:
    secretName: {{ .existingSecret }}
    # Readable by the group of the pod only.
    defaultMode: 0440
    items:
      - key: {{ .key }}
        path: api-key
{{- end }}
{{- end }}
{{- end }}
