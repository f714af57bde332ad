{{/* Values that contradict each other, each with the reason. The schema refuses what is wrong by itself. */}}
{{- define "anamnesis.validate" -}}
{{- $postgres := include "anamnesis.postgres" . }}
{{- $broker := .Values.broker.url.existingSecret }}
{{- $scaled := ne .Values.autoscaling.mode "none" }}
{{- $replicas := int .Values.worker.replicas }}

{{- if and (not $postgres) (gt $replicas 1) }}
{{- fail "worker.replicas: the embedded store is one file and takes exactly one worker" }}
{{- end }}
{{- if and (not $postgres) $scaled }}
{{- fail "autoscaling.mode: the embedded store is one file and takes exactly one worker; use store.engine=postgres" }}
{{- end }}
{{- if and $postgres (include "anamnesis.single" .) (or $scaled (gt $replicas 1)) }}
{{- fail "spool.persistence.accessMode: several workers need a volume of ReadWriteMany, or spool.place=none" }}
{{- end }}
{{- if lt (int .Values.worker.terminationGracePeriodSeconds) 15 }}
{{- fail "worker.terminationGracePeriodSeconds: the worker drains for ten seconds; give it at least fifteen" }}
{{- end }}
{{- with .Values.worker.rollingUpdate }}
{{- if and (has (toString .maxSurge) (list "0" "0%")) (has (toString .maxUnavailable) (list "0" "0%")) }}
{{- fail "worker.rollingUpdate: with maxSurge and maxUnavailable both 0 nothing could be replaced" }}
{{- end }}
{{- end }}

{{- with .Values.store.keys.masterKey }}
{{- if and .inService .existingSecret }}
{{- fail "store.keys.masterKey: either inService or existingSecret" }}
{{- end }}
{{- if and .inService (not (regexMatch "(?m)^\\s*root\\s*=\\s*[\"'](vault|aws|google|azure)[\"']" (include "anamnesis.config" $))) }}
{{- fail "store.keys.masterKey.inService: config must name the service, [keys] root" }}
{{- end }}
{{- end }}
{{- if $postgres }}
{{- if not .Values.store.postgres.url.existingSecret }}
{{- fail "store.postgres.url.existingSecret: name the secret with the workers' URL of PostgreSQL" }}
{{- end }}
{{- if not .Values.store.keys.url.existingSecret }}
{{- fail "store.keys.url.existingSecret: with PostgreSQL the patients' keys are in a database of their own; name the secret with its URL" }}
{{- end }}
{{- if eq (include "anamnesis.masterKey" .) "volume" }}
{{- fail "store.keys.masterKey: with PostgreSQL name a secret (existingSecret) or a key service (inService); a volume would tie all pods to one node" }}
{{- end }}
{{- if and .Values.migration.enabled (not .Values.store.postgres.migrateUrl.existingSecret) }}
{{- fail "store.postgres.migrateUrl.existingSecret: the migration Job needs the URL of a member of anamnesis_owner; or migration.enabled=false" }}
{{- end }}
{{- if eq .Values.spool.place "store" }}
{{- fail "spool.place: with PostgreSQL there is no volume of the store; use volume or none" }}
{{- end }}
{{- else }}
{{- if or .Values.store.postgres.url.existingSecret .Values.store.postgres.migrateUrl.existingSecret .Values.store.postgres.jobsUrl.existingSecret }}
{{- fail "store.postgres: only with store.engine=postgres" }}
{{- end }}
{{- if .Values.store.keys.url.existingSecret }}
{{- fail "store.keys.url: only with store.engine=postgres" }}
{{- end }}
{{- end }}
{{- if and .Values.migration.backup.done .Values.migration.backup.existingClaim }}
{{- fail "migration.backup: either done or existingClaim" }}
{{- end }}

{{- if and $broker (not (or (contains "intake.producers" (include "anamnesis.config" .)) (contains "unbound_producers" (include "anamnesis.config" .)))) }}
{{- fail "broker.url: no producer is bound; give [[intake.producers]] in config (docs/producers/README.md), or unbound_producers for a trial" }}
{{- end }}
{{- if and $scaled (not $broker) }}
{{- fail "autoscaling.mode: without broker.url there is no queue whose length could be followed" }}
{{- end }}
{{- if gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas) }}
{{- fail "autoscaling: minReplicas is greater than maxReplicas" }}
{{- end }}
{{- if and (eq .Values.autoscaling.mode "hpa") (lt (int .Values.autoscaling.minReplicas) 1) }}
{{- fail "autoscaling.minReplicas: a HorizontalPodAutoscaler keeps at least one worker; KEDA can go to 0" }}
{{- end }}
{{- if and (eq .Values.autoscaling.mode "keda") (lt (int .Values.autoscaling.minReplicas) 1) (eq .Values.scheduler.mode "embedded") }}
{{- fail "autoscaling.minReplicas: without a worker no job is started; use scheduler.mode=cronjob or hourly" }}
{{- end }}
{{- if and (regexMatch "(?m)^\\s*prefix\\s*=" (include "anamnesis.config" .)) (not .Values.broker.prefix) (or .Values.broker.policies.apply (eq .Values.autoscaling.mode "keda")) }}
{{- fail "broker.prefix: policies and autoscaling name the queues by it; set it here, not in config" }}
{{- end }}
{{- with .Values.broker }}
{{- if and (or .topology.apply .policies.apply) (not $broker) }}
{{- fail "broker.topology.apply, broker.policies.apply: without broker.url there is no broker to prepare" }}
{{- end }}
{{- if and .policies.apply (not .managementUrl.existingSecret) }}
{{- fail "broker.policies.apply: policies are set by the management API; name its secret in broker.managementUrl.existingSecret" }}
{{- end }}
{{- if and .policies.apply (not .policies.image.repository) }}
{{- fail "broker.policies.image.repository: name an image that has sh, sed and curl" }}
{{- end }}
{{- if and .policies.apply (not (or .policies.image.tag .policies.image.digest)) }}
{{- fail "broker.policies.image: give a tag or a digest" }}
{{- end }}
{{- end }}

{{- $disruption := .Values.podDisruptionBudget }}
{{- if and $disruption.enabled (kindIs "float64" $disruption.minAvailable) (not $scaled) }}
{{- if ge (int $disruption.minAvailable) $replicas }}
{{- fail "podDisruptionBudget.minAvailable: as many as there are workers; no node could be drained" }}
{{- end }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled .Values.podMonitor.enabled }}
{{- fail "serviceMonitor, podMonitor: either of them; both would count every series twice" }}
{{- end }}
{{- if not (include "anamnesis.certificates" .) }}
{{- range $name, $file := .Values.certificates.files }}
{{- if $file }}
{{- fail (printf "certificates.files.%s: name a secret or ConfigMap that holds %s" $name $file) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.lexicons.existingConfigMap .Values.lexicons.files }}
{{- fail "lexicons: either existingConfigMap or files" }}
{{- end }}
{{- if and (include "anamnesis.lexicons" .) (not (contains "/etc/anamnesis-lexicons/" (include "anamnesis.config" .))) }}
{{- fail "lexicons: config names none of them; set [extraction] lexicons = [\"/etc/anamnesis-lexicons/NAME\"]" }}
{{- end }}
{{- if ne .Values.scheduler.mode "embedded" }}
{{- $enabled := false }}
{{- range .Values.jobs }}{{ if .enabled }}{{ $enabled = true }}{{ end }}{{ end }}
{{- if not $enabled }}
{{- fail "scheduler.mode: no job is enabled, so that nothing would ever run" }}
{{- end }}
{{- end }}
{{- if and .Values.tests.readiness.enabled (not .Values.tests.readiness.image.repository) }}
{{- fail "tests.readiness.image.repository: name an image that has curl" }}
{{- end }}
{{- with .Values.tests.readiness }}
{{- if and .enabled (not (or .image.tag .image.digest)) }}
{{- fail "tests.readiness.image: give a tag or a digest" }}
{{- end }}
{{- end }}
{{- end }}
