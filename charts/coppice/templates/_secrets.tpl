{{- define "coppice.redisUrl" -}}
{{ .Values.redis.externalUrl | default (printf "redis://coppice-redis.%s.svc:6379" .Release.Namespace) }}
{{- end }}

{{/* REDIS_PASSWORD of a container; an external Redis may have none. */}}
{{- define "coppice.metricsTokenVariable" -}}
{{- with .Values.metrics.tokenSecret }}
{{- if .name }}
- name: METRICS_TOKEN
  valueFrom: { secretKeyRef: { name: {{ .name }}, key: {{ .key }} } }
{{- end }}
{{- end }}
{{- end }}

{{/* The components that export metrics. */}}
{{- define "coppice.exporters" -}}
operator api{{ if .Values.waker.enabled }} waker{{ end }}{{ if .Values.tester.enabled }} tester{{ end }}{{ if .Values.registry.tokenAuth.enabled }} registry-tokens{{ end }}
{{- end }}

{{/* Authorization of a monitor's endpoint, to append to its other keys. */}}
{{- define "coppice.metricsAuthorization" -}}
{{- with .Values.metrics.tokenSecret }}
{{- if .name }}, authorization: { credentials: { name: {{ .name }}, key: {{ .key }} } }{{ end }}
{{- end }}
{{- end }}

{{- define "coppice.redisPasswordVariable" -}}
{{- if or .Values.redis.passwordSecret.name (not .Values.redis.externalUrl) }}
- name: REDIS_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ .Values.redis.passwordSecret.name | default "coppice-redis" }}
      key: {{ ternary .Values.redis.passwordSecret.key "password" (ne .Values.redis.passwordSecret.name "") }}
{{- end }}
{{- end }}

{{/* Password of the first administrator: the given one, or one that is generated once and kept. */}}
{{- define "coppice.administratorPassword" -}}
{{- $existing := lookup "v1" "Secret" .Release.Namespace "coppice-administrator" -}}
{{- if .Values.api.administratorPassword }}{{ .Values.api.administratorPassword }}
{{- else if $existing }}{{ index $existing.data "password" | b64dec }}{{ else }}{{ randAlphaNum 24 }}{{ end -}}
{{- end }}

{{/* Source of a volume with the key of the waker as the file `key`. */}}
{{- define "coppice.wakerSecret" -}}
secretName: {{ .Values.waker.keySecret.name | default "coppice-waker" }}
items: [{ key: {{ ternary .Values.waker.keySecret.key "key" (ne .Values.waker.keySecret.name "") }}, path: key }]
{{- end }}

{{/* Key of the waker, which is generated once and kept. */}}
{{- define "coppice.wakerKey" -}}
{{- $existing := lookup "v1" "Secret" .Release.Namespace "coppice-waker" -}}
{{- if $existing }}{{ index $existing.data "key" | b64dec }}{{ else }}{{ randAlphaNum 40 }}{{ end -}}
{{- end }}

{{/* Redis password, which is generated once and kept. */}}
{{- define "coppice.redisPassword" -}}
{{- $existing := lookup "v1" "Secret" .Release.Namespace "coppice-redis" -}}
{{- if $existing }}{{ index $existing.data "password" | b64dec }}{{ else }}{{ randAlphaNum 40 }}{{ end -}}
{{- end }}
