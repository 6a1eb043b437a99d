{{/* The labels of one component; call with (dict "root" $ "component" "api"). */}}
{{- define "coppice.labels" -}}
{{ include "coppice.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: coppice
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "coppice.podLabels" -}}
{{ include "coppice.selector" . }}
app.kubernetes.io/part-of: coppice
{{- end }}

{{- define "coppice.selector" -}}
app.kubernetes.io/name: coppice-{{ .component }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{/* Full name of an image, with imageRegistry; call with (dict "root" $ "name" "redis:7" "digest" "sha256:…" or ""). */}}
{{- define "coppice.imageName" -}}
{{ with .root.Values.global.imageRegistry }}{{ trimSuffix "/" . }}/{{ end }}{{ .name }}{{ with .digest }}@{{ . }}{{ end }}
{{- end }}

{{- define "coppice.image" -}}
{{ include "coppice.imageName" (dict "root" . "name" (printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion)) "digest" .Values.image.digest) }}
{{- end }}

{{/* Scheduling and pull Secrets of pods in the release's namespace. */}}
{{- define "coppice.scheduling" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.scheduling.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.scheduling.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.scheduling.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* Affinity and spread of one component; call with (dict "root" $ "component" "api"), and with its "values" if they have another
name. */}}
{{- define "coppice.placement" -}}
{{- $values := .values | default (index .root.Values .component) }}
{{- with $values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if $values.topologySpreadConstraints }}
topologySpreadConstraints: {{- toYaml $values.topologySpreadConstraints | nindent 2 }}
{{- else if has .component (list "api" "operator" "waker" "registry-tokens") }}
{{- include "coppice.spread" . | nindent 0 }}
{{- end }}
{{- end }}

{{/* Labels and annotations of one component's pods; "annotations" of the call take precedence. The labels contain no version,
so that an upgrade restarts only what has changed. */}}
{{- define "coppice.podMetadata" -}}
{{- $values := .values | default (index .root.Values .component) -}}
labels: {{- mergeOverwrite (deepCopy $values.podLabels) (include "coppice.podLabels" . | fromYaml) | toYaml | nindent 2 }}
{{- with mergeOverwrite (deepCopy $values.podAnnotations) (.annotations | default dict) }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Items of one component's list value, such as extraEnv, to append to a list. */}}
{{- define "coppice.extra" -}}
{{- with index (.values | default (index .root.Values .component)) .name }}{{ toYaml . }}{{ end -}}
{{- end }}

{{/* A component's ServiceAccount; its annotations can bind it to a cloud identity. */}}
{{- define "coppice.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: coppice-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "coppice.labels" . | nindent 4 }}
  {{- with (index .root.Values .component).serviceAccount.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* Spreads replicas of one component over nodes, if there are several. */}}
{{- define "coppice.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "coppice.selector" . | nindent 8 }}
{{- end }}

{{/* Whether the API has more than one replica; empty if not. */}}
{{- define "coppice.severalApis" -}}
{{- if gt (int (ternary .Values.api.autoscaling.minReplicas .Values.api.replicas .Values.api.autoscaling.enabled)) 1 }}true{{ end -}}
{{- end }}

{{/* PodDisruptionBudget of a component with replicas; call with (dict "root" $ "component" "api"). */}}
{{- define "coppice.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: coppice-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "coppice.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  # A replica that does not become ready must not keep a node from being drained.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- include "coppice.selector" . | nindent 6 }}
{{- end }}

{{/* Whether a definition has several versions, so that objects may be stored in an earlier one; empty if not. */}}
{{- define "coppice.hasSeveralVersions" -}}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" }}
{{- if gt (len ($.Files.Get $path | fromYaml).spec.versions) 1 }}true{{ end }}
{{- end }}
{{- end }}

{{/* Annotations of what rewrites stored objects; call with its weight. A rollback may change the stored version, too. */}}
{{- define "coppice.migrationHook" -}}
helm.sh/hook: post-install,post-upgrade,post-rollback
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{/* Security context that the Pod Security level `restricted` requires; call with (dict "root" $ "id" 10001). */}}
{{- define "coppice.podSecurity" -}}
{{- $given := .root.Values.securityContext -}}
{{- $context := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- if $given.fixedIds }}
{{- $_ := merge $context (dict "runAsUser" .id "runAsGroup" .id "fsGroup" .id) }}
{{- end }}
{{- toYaml (mergeOverwrite $context (deepCopy $given.pod)) }}
{{- end }}

{{- define "coppice.containerSecurity" -}}
{{- $context := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) -}}
{{- toYaml (mergeOverwrite $context (deepCopy .Values.securityContext.container)) }}
{{- end }}

{{/*
Restarts a process that has not answered eight probes, which takes 80 s to two minutes. A process that only waits for a
processor, on a node that is busy with builds, needs no restart, which would also make it repeat its work.
*/}}
{{- define "coppice.livenessTimes" -}}
timeoutSeconds: 15
periodSeconds: 10
failureThreshold: 8
{{- end }}

{{- define "coppice.livenessProbe" -}}
httpGet: { path: /healthz, port: health }
{{ include "coppice.livenessTimes" . }}
{{- end }}
