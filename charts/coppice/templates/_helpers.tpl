{{/* The labels of one component; call with (dict "root" $ "component" "api"). */}}
{{- define "coppice.labels" -}}
{{ include "coppice.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: coppice
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "coppice.selector" -}}
app.kubernetes.io/name: coppice-{{ .component }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{- define "coppice.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* What the Pod Security level `restricted` asks of a pod. */}}
{{- define "coppice.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "coppice.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "coppice.redisUrl" -}}
redis://coppice-redis.{{ .Release.Namespace }}.svc:6379
{{- end }}

{{/* The Redis password: kept once it was made. */}}
{{- define "coppice.redisPassword" -}}
{{- $existing := lookup "v1" "Secret" .Release.Namespace "coppice-redis" -}}
{{- if $existing }}{{ index $existing.data "password" | b64dec }}{{ else }}{{ randAlphaNum 40 }}{{ end -}}
{{- end }}
