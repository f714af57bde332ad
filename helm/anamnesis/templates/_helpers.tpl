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
{{- with .Values.store.keys.masterKey.existingSecret }}
- name: ANAMNESIS__STORE__MASTER_KEY
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $.Values.store.keys.masterKey.key }}
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
