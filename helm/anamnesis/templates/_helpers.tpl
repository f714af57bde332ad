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

{{/* Hooks run before the release's own account exists, so they have one of their own. */}}
{{- define "anamnesis.hookAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ include "anamnesis.fullname" . }}-hook
{{- else -}}
{{ include "anamnesis.serviceAccount" . }}
{{- end }}
{{- end }}

{{- define "anamnesis.image" -}}
{{- if .Values.image.digest -}}
{{ printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else -}}
{{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{/* An image of `image` values that is not the program's own. */}}
{{- define "anamnesis.otherImage" -}}
{{- if .digest -}}
{{ printf "%s@%s" .repository .digest }}
{{- else -}}
{{ printf "%s:%s" .repository .tag }}
{{- end }}
{{- end }}

{{- define "anamnesis.storeClaim" -}}
{{ default (printf "%s-store" (include "anamnesis.fullname" .)) .Values.store.persistence.existingClaim }}
{{- end }}

{{- define "anamnesis.keysClaim" -}}
{{ default (printf "%s-keys" (include "anamnesis.fullname" .)) .Values.store.keys.persistence.existingClaim }}
{{- end }}

{{- define "anamnesis.spoolClaim" -}}
{{ default (printf "%s-spool" (include "anamnesis.fullname" .)) .Values.spool.persistence.existingClaim }}
{{- end }}

{{/* Where the master key comes from: secret, volume or service. */}}
{{- define "anamnesis.masterKey" -}}
{{- with .Values.store.keys.masterKey }}
{{- if .inService }}service{{ else if .existingSecret }}secret{{ else }}volume{{ end }}
{{- end }}
{{- end }}

{{- define "anamnesis.masterKeyClaim" -}}
{{ default (printf "%s-master-key" (include "anamnesis.fullname" .)) .Values.store.keys.masterKey.persistence.existingClaim }}
{{- end }}

{{/* "true" where the program logs in by the account's token: as asked for, or because Vault is asked that way. */}}
{{- define "anamnesis.token" -}}
{{- if or .Values.serviceAccount.token.mount (regexMatch "(?m)^\\s*auth\\s*=\\s*[\"']kubernetes[\"']" (include "anamnesis.config" .)) }}true{{ end }}
{{- end }}

{{/* "true" with a store on PostgreSQL, else nothing. */}}
{{- define "anamnesis.postgres" -}}
{{- if eq .Values.store.engine "postgres" }}true{{ end }}
{{- end }}

{{/* How the master key comes into a pod; the one that only prepares the broker has none. Arguments: root, component. */}}
{{- define "anamnesis.masterKeyOf" -}}
{{- if ne .component "topology" }}{{ include "anamnesis.masterKey" .root }}{{ end }}
{{- end }}

{{/* "true" where a pod mounts the embedded store. Arguments: root, component. */}}
{{- define "anamnesis.mountsStore" -}}
{{- if and (not (include "anamnesis.postgres" .root)) (ne .component "topology") }}true{{ end }}
{{- end }}

{{- define "anamnesis.spoolOnVolume" -}}
{{- if eq .Values.spool.place "volume" }}true{{ end }}
{{- end }}

{{/* "true" where a second worker could not start: the store is one file, or the spool's volume is for one node. */}}
{{- define "anamnesis.single" -}}
{{- if not (include "anamnesis.postgres" .) -}}
true
{{- else if and (include "anamnesis.spoolOnVolume" .) (ne .Values.spool.persistence.accessMode "ReadWriteMany") -}}
true
{{- end }}
{{- end }}

{{/* "true" when a policy is replaced, else nothing. */}}
{{- define "anamnesis.policies" -}}
{{- range .Values.jobs }}{{ if .policy }}true{{ end }}{{ end }}
{{- end }}

{{- define "anamnesis.migrates" -}}
{{- if and (include "anamnesis.postgres" .) .Values.migration.enabled }}true{{ end }}
{{- end }}

{{/* "true" when a Job prepares the broker before the workers start. */}}
{{- define "anamnesis.preparesBroker" -}}
{{- if or .Values.broker.topology.apply .Values.broker.policies.apply }}true{{ end }}
{{- end }}

{{- define "anamnesis.lexicons" -}}
{{- if .Values.lexicons.existingConfigMap -}}
{{ .Values.lexicons.existingConfigMap }}
{{- else if .Values.lexicons.files -}}
{{ include "anamnesis.fullname" . }}-lexicons
{{- end }}
{{- end }}

{{- define "anamnesis.certificates" -}}
{{- if or .Values.certificates.existingSecret .Values.certificates.existingConfigMap }}true{{ end }}
{{- end }}

{{/* Prefix of exchanges and queues: that of the values, else the program's default. */}}
{{- define "anamnesis.prefix" -}}
{{ default "anamnesis" .Values.broker.prefix }}
{{- end }}

{{/*
Secrets that are files, each with the setting that names the file. A pod has only those that it needs: workers do not
hold the migrator's password. Arguments: root, component (worker, job, migration, topology, policies, test).
*/}}
{{- define "anamnesis.secretFiles" -}}
{{- $component := .component }}
{{- $values := .root.Values }}
{{- $broker := $values.broker.url }}
{{- if and (eq $component "topology") $values.broker.topology.url.existingSecret }}
{{- $broker = $values.broker.topology.url }}
{{- end }}
{{- $files := list }}
{{- if and (eq $values.store.engine "postgres") (not (has $component (list "topology" "policies"))) }}
{{- $files = append $files (dict "file" "store-url" "env" "ANAMNESIS__STORE__URL_FILE" "from" $values.store.postgres.url) }}
{{- $files = append $files (dict "file" "keys-url" "env" "ANAMNESIS__STORE__KEYS_URL_FILE" "from" $values.store.keys.url) }}
{{- if eq $component "migration" }}
{{- $files = append $files (dict "file" "migrate-url" "env" "ANAMNESIS__STORE__MIGRATE_URL_FILE" "from" $values.store.postgres.migrateUrl) }}
{{- end }}
{{- if or (eq $component "job") (and (eq $component "worker") (eq $values.scheduler.mode "embedded")) }}
{{- $files = append $files (dict "file" "jobs-url" "env" "ANAMNESIS__STORE__JOBS_URL_FILE" "from" $values.store.postgres.jobsUrl) }}
{{- end }}
{{- end }}
{{- if has $component (list "worker" "topology" "test") }}
{{- $files = append $files (dict "file" "broker-url" "env" "ANAMNESIS__BROKER__URL_FILE" "from" $broker) }}
{{- end }}
{{- if or (eq $component "policies") (eq $component "test") }}
{{- $files = append $files (dict "file" "management-url" "env" "ANAMNESIS__BROKER__MANAGEMENT_URL_FILE" "from" $values.broker.managementUrl) }}
{{- end }}
{{- if has $component (list "worker" "job") }}
{{- $files = append $files (dict "file" "extraction-api-key" "env" "ANAMNESIS__EXTRACTION__LLM__API_KEY_FILE" "from" $values.extraction.apiKey) }}
{{- end }}
{{- range $files }}
{{- if .from.existingSecret }}
- {{ dict "file" .file "env" .env "secret" .from.existingSecret "key" .from.key | toJson }}
{{- end }}
{{- end }}
{{- end }}

{{/*
What must be agreed with the rest of the chart goes by environment; the file holds the user's own choices.
Arguments: root, component.
*/}}
{{- define "anamnesis.env" -}}
{{- $component := .component }}
{{- $masterKey := include "anamnesis.masterKeyOf" . }}
{{- $mountsStore := include "anamnesis.mountsStore" . }}
{{- $secrets := include "anamnesis.secretFiles" . | fromYamlArray }}
{{- with .root }}
- name: ANAMNESIS_CONFIG
  value: /etc/anamnesis/anamnesis.toml
- name: ANAMNESIS__HTTP__BIND
  value: "0.0.0.0:8080"
- name: ANAMNESIS__LOG__FORMAT
  value: {{ .Values.log.format | quote }}
- name: ANAMNESIS__LOG__FILTER
  value: {{ .Values.log.filter | quote }}
{{- if $mountsStore }}
- name: ANAMNESIS__STORE__PATH
  value: /var/lib/anamnesis/store.db
- name: ANAMNESIS__STORE__KEYS
  value: /var/lib/anamnesis-keys/store.keys
{{- end }}
- name: ANAMNESIS__JOBS__SCHEDULER
  value: {{ eq .Values.scheduler.mode "embedded" | quote }}
{{- if include "anamnesis.policies" . }}
- name: ANAMNESIS__JOBS__DIRECTORY
  value: /etc/anamnesis-jobs
{{- end }}
{{- if eq $masterKey "secret" }}
- name: ANAMNESIS__STORE__MASTER_KEY_FILE
  value: /etc/anamnesis-master-key/master-key
{{- else if eq $masterKey "volume" }}
- name: ANAMNESIS__STORE__MASTER_KEY_FILE
  value: /var/lib/anamnesis-master-key/master-key
{{- end }}
{{- range $secrets }}
- name: {{ .env }}
  value: /etc/anamnesis-secrets/{{ .file }}
{{- end }}
{{- if .Values.broker.prefix }}
- name: ANAMNESIS__BROKER__PREFIX
  value: {{ .Values.broker.prefix | quote }}
{{- end }}
{{- if .Values.broker.topology.apply }}
- name: ANAMNESIS__BROKER__DECLARE
  value: "false"
{{- end }}
{{- with .Values.certificates.files }}
{{- range $setting, $file := dict "STORE__POSTGRES__CA_FILE" .database "BROKER__CA_FILE" .broker "BROKER__CERTIFICATE_FILE" .brokerCertificate "BROKER__KEY_FILE" .brokerKey "EMBEDDING__CA_FILE" .embedding "EXTRACTION__LLM__CA_FILE" .extraction }}
{{- if $file }}
- name: ANAMNESIS__{{ $setting }}
  value: /etc/anamnesis-certificates/{{ $file }}
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.embedding.apiKey.existingSecret }}
- name: ANAMNESIS__EMBEDDING__API_KEY_FILE
  value: /etc/anamnesis-embedding/api-key
{{- end }}
{{- if eq $component "worker" }}
{{- if include "anamnesis.spoolOnVolume" . }}
- name: ANAMNESIS__WORKER__SPOOL
  value: /var/spool/anamnesis
{{- else if or (eq .Values.spool.place "none") (include "anamnesis.postgres" .) }}
# Without a volume there is no folder to watch.
- name: ANAMNESIS__WORKER__SPOOL
  value: ""
{{- end }}
{{- end }}
{{- with .Values.worker.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "anamnesis.volumeMounts" -}}
{{- $component := .component }}
{{- $masterKey := include "anamnesis.masterKeyOf" . }}
{{- $mountsStore := include "anamnesis.mountsStore" . }}
{{- $secrets := include "anamnesis.secretFiles" . | fromYamlArray }}
{{- with .root }}
- name: config
  mountPath: /etc/anamnesis
  readOnly: true
{{- if $mountsStore }}
- name: store
  mountPath: /var/lib/anamnesis
- name: keys
  mountPath: /var/lib/anamnesis-keys
{{- end }}
{{- if eq $masterKey "secret" }}
- name: master-key
  mountPath: /etc/anamnesis-master-key
  readOnly: true
{{- else if eq $masterKey "volume" }}
- name: master-key
  mountPath: /var/lib/anamnesis-master-key
{{- end }}
- name: tmp
  mountPath: /tmp
{{- if $secrets }}
- name: secrets
  mountPath: /etc/anamnesis-secrets
  readOnly: true
{{- end }}
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
{{- if include "anamnesis.certificates" . }}
- name: certificates
  mountPath: /etc/anamnesis-certificates
  readOnly: true
{{- end }}
{{- if .Values.producers.keys.existingSecret }}
- name: producers
  mountPath: /etc/anamnesis-producers
  readOnly: true
{{- end }}
{{- if include "anamnesis.lexicons" . }}
- name: lexicons
  mountPath: /etc/anamnesis-lexicons
  readOnly: true
{{- end }}
{{- if include "anamnesis.token" . }}
- name: token
  mountPath: /var/run/secrets/kubernetes.io/serviceaccount
  readOnly: true
{{- end }}
{{- if and (eq $component "worker") (include "anamnesis.spoolOnVolume" .) }}
- name: spool
  mountPath: /var/spool/anamnesis
{{- end }}
{{- if and (eq $component "migration") .Values.migration.backup.existingClaim }}
- name: backups
  mountPath: /backups
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "anamnesis.volumes" -}}
{{- $component := .component }}
{{- $masterKey := include "anamnesis.masterKeyOf" . }}
{{- $mountsStore := include "anamnesis.mountsStore" . }}
{{- $hook := has $component (list "migration" "topology") }}
{{- $secrets := include "anamnesis.secretFiles" . | fromYamlArray }}
{{- with .root }}
- name: config
  configMap:
    name: {{ include "anamnesis.fullname" . }}{{ if $hook }}-hook{{ end }}
{{- if $mountsStore }}
- name: store
  persistentVolumeClaim:
    claimName: {{ include "anamnesis.storeClaim" . }}
- name: keys
  persistentVolumeClaim:
    claimName: {{ include "anamnesis.keysClaim" . }}
{{- end }}
{{- if eq $masterKey "secret" }}
- name: master-key
  secret:
    secretName: {{ .Values.store.keys.masterKey.existingSecret }}
    # Readable by the group of the pod only.
    defaultMode: 0440
    items:
      - key: {{ .Values.store.keys.masterKey.key }}
        path: master-key
{{- else if eq $masterKey "volume" }}
- name: master-key
  persistentVolumeClaim:
    claimName: {{ include "anamnesis.masterKeyClaim" . }}
{{- end }}
- name: tmp
  emptyDir:
    sizeLimit: 256Mi
{{- if $secrets }}
- name: secrets
  projected:
    # Readable by the group of the pod only; the program refuses anything wider.
    defaultMode: 0440
    sources:
      {{- range $secrets }}
      - secret:
          name: {{ .secret }}
          items:
            - key: {{ .key }}
              path: {{ .file }}
      {{- end }}
{{- end }}
{{- if include "anamnesis.policies" . }}
- name: jobs
  configMap:
    name: {{ include "anamnesis.fullname" . }}-{{ if $hook }}hook-{{ end }}jobs
{{- end }}
{{- if include "anamnesis.certificates" . }}
- name: certificates
  projected:
    # Readable by the group of the pod only: there may be a key among them.
    defaultMode: 0440
    sources:
      {{- with .Values.certificates.existingSecret }}
      - secret:
          name: {{ . }}
      {{- end }}
      {{- with .Values.certificates.existingConfigMap }}
      - configMap:
          name: {{ . }}
      {{- end }}
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
{{- if include "anamnesis.lexicons" . }}
- name: lexicons
  configMap:
    name: {{ include "anamnesis.lexicons" . }}{{ if and $hook (not .Values.lexicons.existingConfigMap) }}-hook{{ end }}
{{- end }}
{{- if include "anamnesis.token" . }}
{{- with .Values.serviceAccount.token }}
- name: token
  projected:
    # As the cluster would mount it, but only where it was asked for.
    defaultMode: 0440
    sources:
      - serviceAccountToken:
          path: token
          expirationSeconds: {{ .expirationSeconds }}
          {{- with .audience }}
          audience: {{ . }}
          {{- end }}
      - configMap:
          name: kube-root-ca.crt
          items:
            - key: ca.crt
              path: ca.crt
      - downwardAPI:
          items:
            - path: namespace
              fieldRef:
                fieldPath: metadata.namespace
{{- end }}
{{- end }}
{{- if and (eq $component "worker") (include "anamnesis.spoolOnVolume" .) }}
- name: spool
  persistentVolumeClaim:
    claimName: {{ include "anamnesis.spoolClaim" . }}
{{- end }}
{{- if and (eq $component "migration") .Values.migration.backup.existingClaim }}
- name: backups
  persistentVolumeClaim:
    claimName: {{ .Values.migration.backup.existingClaim }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

{{/* A container of the program. Arguments: root, component, name, args, resources. */}}
{{- define "anamnesis.container" -}}
- name: {{ .name }}
  image: {{ include "anamnesis.image" .root }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  args: {{ .args | toJson }}
  env:
    {{- with .env }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- include "anamnesis.env" . | trim | nindent 4 }}
  resources:
    {{- toYaml .resources | nindent 4 }}
  securityContext:
    {{- toYaml .root.Values.securityContext | nindent 4 }}
  volumeMounts:
    {{- include "anamnesis.volumeMounts" . | trim | nindent 4 }}
{{- end }}

{{/* Waits until the migration Job, or a person, has brought the schema. Arguments: root, component, resources. */}}
{{- define "anamnesis.waits" -}}
{{- if include "anamnesis.postgres" .root }}
initContainers:
  {{- $arguments := list "migrate" "wait" "--timeout" (.root.Values.migration.waitSeconds | toString) }}
  {{- include "anamnesis.container" (merge (dict "name" "schema" "args" $arguments) .) | nindent 2 }}
{{- end }}
{{- end }}

{{/* What is the same in every pod. Arguments: root, account (optional). */}}
{{- define "anamnesis.pod" -}}
{{- $account := .account }}
{{- with .root }}
serviceAccountName: {{ default (include "anamnesis.serviceAccount" .) $account }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.worker.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.worker.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* The embedded store's volume can be mounted on one node at a time: the worker's. */}}
{{- define "anamnesis.nearWorker" -}}
{{- if not (include "anamnesis.postgres" .) }}
affinity:
  podAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- include "anamnesis.selectorLabels" . | nindent 12 }}
            app.kubernetes.io/component: worker
{{- end }}
{{- end }}

{{/* Exit code 2 is a mistake that no repetition mends; a pod that its node put out has not failed. */}}
{{- define "anamnesis.failurePolicy" -}}
podFailurePolicy:
  rules:
    - action: Ignore
      onPodConditions:
        - type: DisruptionTarget
          status: "True"
    - action: FailJob
      onExitCodes:
        operator: In
        values: [2]
      # Kubernetes 1.27 wants both fields, of which one is empty.
      onPodConditions: []
{{- end }}

{{/* Of objects that must be there before the release is. Arguments: weight, keep (optional). */}}
{{- define "anamnesis.hook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: before-hook-creation{{ if not .keep }},hook-succeeded{{ end }}
{{- end }}

{{/* The configuration as TOML: a text as it is, settings by section written out. */}}
{{- define "anamnesis.config" -}}
{{- if kindIs "string" .Values.config }}{{ .Values.config }}{{ else if .Values.config }}{{ include "anamnesis.toml" (dict "table" .Values.config "path" "") | trim }}{{ end }}
{{- end }}

{{/* A table of TOML: its values first, then the tables and lists of tables in it. */}}
{{- define "anamnesis.toml" -}}
{{- $path := .path }}
{{- range $key, $value := .table }}
{{- if not (or (kindIs "map" $value) (eq (include "anamnesis.tables" $value) "true") (kindIs "invalid" $value)) }}
{{ $key }} = {{ include "anamnesis.tomlValue" $value }}
{{- end }}
{{- end }}
{{- range $key, $value := .table }}
{{- $below := ternary (printf "%s.%s" $path $key) $key (ne $path "") }}
{{- if kindIs "map" $value }}
[{{ $below }}]{{ include "anamnesis.toml" (dict "table" $value "path" $below) }}
{{- else if eq (include "anamnesis.tables" $value) "true" }}
{{- range $value }}
[[{{ $below }}]]{{ include "anamnesis.toml" (dict "table" . "path" $below) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* "true" for a list of tables. */}}
{{- define "anamnesis.tables" -}}
{{- if and (kindIs "slice" .) . }}{{ kindIs "map" (first .) }}{{ end }}
{{- end }}

{{/* A value within a line. Numbers of a YAML file are floats: whole ones are written whole, and none with an exponent. */}}
{{- define "anamnesis.tomlValue" -}}
{{- if kindIs "string" . }}{{ toJson . }}
{{- else if kindIs "float64" . }}{{ if eq . (floor .) }}{{ printf "%.0f" . }}{{ else }}{{ regexReplaceAll "0+$" (printf "%.9f" .) "" }}{{ end }}
{{- else if kindIs "slice" . }}[{{ range $at, $one := . }}{{ if $at }}, {{ end }}{{ include "anamnesis.tomlValue" $one }}{{ end }}]
{{- else if kindIs "map" . }}{ {{- range $at, $key := keys . | sortAlpha }}{{ if $at }}, {{ end }}{{ $key }} = {{ include "anamnesis.tomlValue" (get $ $key) }}{{ end -}} }
{{- else }}{{ . }}{{ end }}
{{- end }}

{{/* The configuration, for the release and for hooks. */}}
{{- define "anamnesis.configData" -}}
anamnesis.toml: |
  {{- default "# Nothing but the defaults." (include "anamnesis.config" .) | nindent 2 }}
{{- end }}

{{- define "anamnesis.policyData" -}}
{{- range $name, $job := .Values.jobs }}
{{- with $job.policy }}
{{ $name }}.toml: |
  {{- . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- define "anamnesis.lexiconData" -}}
{{- range $name, $text := .Values.lexicons.files }}
{{ $name }}: |
  {{- $text | nindent 2 }}
{{- end }}
{{- end }}
