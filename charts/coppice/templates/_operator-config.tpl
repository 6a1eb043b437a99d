{{/* Scheduling of pods that the operator creates, without empty fields. */}}
{{- define "coppice.schedulingConfig" -}}
{{- $given := dict }}
{{- range $name, $value := . }}
{{- if $value }}{{ $_ := set $given $name $value }}{{ end }}
{{- end }}
{{- toYaml $given }}
{{- end }}

{{/* The operator's configuration file, as operator/config.ts reads it. */}}
{{- define "coppice.operatorConfig" -}}
systemNamespace: {{ .Release.Namespace }}
logLevel: {{ .Values.operator.logLevel }}
redisUrl: {{ include "coppice.redisUrl" . }}
apiUrl: {{ .Values.api.url }}
environmentsUrl: {{ .Values.environments.url }}
{{- with .Values.caCertificates }}
caCertificates: {{ . | quote }}
{{- end }}
ingress:
  {{- with .Values.ingress.className }}
  className: {{ . }}
  {{- end }}
  namespace: {{ .Values.ingress.controllerNamespace }}
  cidrs: {{- toYaml .Values.ingress.controllerCidrs | nindent 4 }}
  parentRefs: {{- toYaml .Values.ingress.parentRefs | nindent 4 }}
  annotations: {{- toYaml .Values.environments.ingressAnnotations | nindent 4 }}
  {{- with .Values.environments.tls.clusterIssuer }}
  clusterIssuer: {{ . }}
  {{- end }}
  {{- with include "coppice.accessEnforcement" . | trim }}
  enforcement: {{- . | nindent 4 }}
  {{- end }}
  drainSeconds: {{ .Values.environments.drainSeconds }}
{{- if .Values.waker.enabled }}
waker:
  podLabels: {{- include "coppice.selector" (dict "root" . "component" "waker") | nindent 4 }}
{{- end }}
egress: {{- toYaml .Values.egress | nindent 2 }}
registry:
  address: {{ .Values.registry.address }}
  layout: {{ .Values.registry.layout }}
  insecure: {{ .Values.registry.insecure }}
  {{- if .Values.registry.tokenAuth.enabled }}
  tokenAuth:
    url: {{ include "coppice.tokenUrl" . }}
    service: {{ include "coppice.tokenService" . }}
  {{- end }}
  mirrors: {{- toYaml .Values.builder.mirrors | nindent 4 }}
  insecureAddresses: {{- toYaml .Values.builder.insecureRegistries | nindent 4 }}
  allowedCidrs: {{- toYaml .Values.builder.privateEgress | nindent 4 }}
  keepUnusedHours: {{ .Values.registry.keepUnusedHours }}
builder:
  namespace: {{ .Values.builder.namespace }}
  image: {{ include "coppice.imageName" (dict "root" $ "name" .Values.builder.image "digest" .Values.builder.imageDigest) }}
  configMap: {{ include "coppice.buildkitdConfigMap" . }}
  cloneImage: {{ include "coppice.image" . }}
  deadlineSeconds: {{ .Values.builder.deadlineSeconds }}
  idleSeconds: {{ .Values.builder.idleSeconds }}
  startDeadlineSeconds: {{ .Values.builder.startDeadlineSeconds }}
  cache:
    size: {{ .Values.builder.cache.size }}
    {{- with .Values.builder.cache.storageClass }}
    storageClass: {{ . }}
    {{- end }}
  scheduling: {{- include "coppice.schedulingConfig" .Values.builder.scheduling | nindent 4 }}
  jobScheduling: {{- include "coppice.schedulingConfig" .Values.builder.jobScheduling | nindent 4 }}
  concurrency: {{- toYaml .Values.builder.concurrency | nindent 4 }}
  ephemeral: {{- toYaml .Values.builder.ephemeral | nindent 4 }}
  maxImageSize: {{ .Values.builder.maxImageSize }}
  resources: {{- toYaml .Values.builder.resources | nindent 4 }}
  {{- $proxy := dict }}
  {{- range $name, $value := dict "HTTP_PROXY" .Values.builder.proxy.http "HTTPS_PROXY" .Values.builder.proxy.https "NO_PROXY" .Values.builder.proxy.noProxy }}
  {{- if $value }}{{ $_ := set $proxy $name $value }}{{ end }}
  {{- end }}
  proxy: {{ toJson $proxy }}
sources: {{- toYaml .Values.sources | nindent 2 }}
environments:
  {{- with .Values.environments.platform }}
  platform: {{ . }}
  {{- end }}
  defaultAccess: {{ .Values.environments.access.default }}
  scheduling: {{- include "coppice.schedulingConfig" .Values.environments.scheduling | nindent 4 }}
  rolloutDeadlineSeconds: {{ .Values.environments.rolloutDeadlineSeconds }}
  jobDeadlineSeconds: {{ .Values.environments.jobDeadlineSeconds }}
  imageDeadlineSeconds: {{ .Values.environments.imageDeadlineSeconds }}
  maxPerGroup: {{ .Values.environments.maxPerGroup | int64 }}
  sleepAfterSeconds: {{ .Values.environments.sleepAfterSeconds | int64 }}
  quota: {{- toYaml .Values.environments.quota | nindent 4 }}
  reusableQuota: {{- toYaml .Values.environments.reusableQuota | nindent 4 }}
  defaultRequests: {{- toYaml .Values.environments.defaultRequests | nindent 4 }}
  defaultLimits: {{- toYaml .Values.environments.defaultLimits | nindent 4 }}
  volumes:
    size: {{ .Values.environments.volumes.size }}
    {{- with .Values.environments.volumes.storageClass }}
    storageClass: {{ . }}
    {{- end }}
groups:
  memberRole: coppice-group-member
  {{- if .Values.environments.membersReadPods }}
  environmentMemberRole: coppice-environment-member
  {{- end }}
  apiRole: coppice-group-api
  apiServiceAccount: coppice-api
  {{- if .Values.environments.shell.enabled }}
  environmentApiRole: coppice-environment-api
  environmentApiForks: {{ .Values.environments.shell.forks }}
  {{- end }}
buildLogs: {{- toYaml .Values.buildLogs | nindent 2 }}
housekeeping: {{- toYaml .Values.housekeeping | nindent 2 }}
workers: {{ .Values.operator.workers }}
limits: {{- toYaml .Values.operator.limits | nindent 2 }}
{{- end }}
