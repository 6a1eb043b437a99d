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

{{/* Settings of buildkitd for all builders. */}}
{{- define "coppice.buildkitdToml" -}}
[worker.oci]
  noProcessSandbox = true
{{- if .Values.registry.insecure }}
[registry.{{ splitList "/" .Values.registry.address | first | quote }}]
  http = true
  insecure = true
{{- end }}
{{- range .Values.builder.insecureRegistries }}
[registry.{{ . | quote }}]
  http = true
  insecure = true
{{- end }}
{{- range $registry, $mirrors := .Values.builder.mirrors }}
[registry.{{ $registry | quote }}]
  mirrors = {{ toJson $mirrors }}
{{- end }}
{{- end }}

{{/* Canonical form of a registry's address with a trailing slash, as in operator/images/registry/own-registry.ts. */}}
{{- define "coppice.canonicalRegistry" -}}
{{- $parts := splitList "/" (lower .) | compact -}}
{{- $host := regexReplaceAll "\\.?(:80|:443)?$" (first $parts) "" -}}
{{- join "/" (prepend (rest $parts) $host) }}/
{{- end }}

{{/* For builders of trusted code: the frontends that a Dockerfile can name in addition to the built-in one. An empty list
would mean any to buildkitd. */}}
{{- define "coppice.frontendsToml" -}}
[frontend."gateway.v0"]
{{- if .Values.builder.frontends }}
  allowedRepositories = {{ toJson .Values.builder.frontends }}
{{- else }}
  enabled = false
{{- end }}
{{- end }}

{{/* For builders of forks' code: only the built-in frontend. */}}
{{- define "coppice.noFrontendsToml" -}}
[frontend."gateway.v0"]
  enabled = false
{{- end }}

{{/* Name with a hash of the settings: running builders are restarted with changed settings when they are idle. */}}
{{- define "coppice.buildkitdConfigMap" -}}
{{- $toml := printf "%s\n%s\n%s" (include "coppice.buildkitdToml" .) (include "coppice.frontendsToml" .) (include "coppice.noFrontendsToml" .) -}}
buildkitd-{{ printf "%s%s" $toml .Values.caCertificates | sha256sum | trunc 10 }}
{{- end }}

{{/* URL where clients request tokens for the registry. */}}
{{- define "coppice.tokenUrl" -}}
{{ .Values.registry.tokenAuth.url | default (printf "%s/registry/token" (trimSuffix "/" .Values.api.url)) }}
{{- end }}

{{/* Service name in the registry's configuration (auth.token.service). */}}
{{- define "coppice.tokenService" -}}
{{ .Values.registry.tokenAuth.service | default (splitList "/" .Values.registry.address | first) }}
{{- end }}

{{/* Prefixes of images in mirrors within the registry itself, separated by spaces. */}}
{{- define "coppice.sharedPrefixes" -}}
{{- $host := printf "%s/" (splitList "/" (include "coppice.canonicalRegistry" .Values.registry.address) | first) }}
{{- $prefixes := list }}
{{- range .Values.builder.mirrors }}
{{- range . }}
{{- $mirror := include "coppice.canonicalRegistry" . }}
{{- if hasPrefix $host $mirror }}
{{- $prefixes = append $prefixes (trimPrefix $host $mirror) }}
{{- end }}
{{- end }}
{{- end }}
{{- $prefixes | uniq | sortAlpha | join " " }}
{{- end }}

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

{{/* Host of a URL without its port, in lower case, as an Ingress requires and the admission policy compares it. */}}
{{- define "coppice.hostOf" -}}
{{ regexReplaceAll ":[0-9]+$" (urlParse .).host "" | lower }}
{{- end }}

{{/* Whether Traefik's middlewares restrict access, and its definitions are installed; empty if not. */}}
{{- define "coppice.traefikMiddlewares" -}}
{{- if and (eq .Values.environments.access.enforcedBy "traefik") (.Capabilities.APIVersions.Has "traefik.io/v1alpha1/Middleware") }}true{{ end -}}
{{- end }}

{{/* Whether the release has the middleware of Ingresses that restricts access; empty if not. */}}
{{- define "coppice.ownMiddleware" -}}
{{- if and (include "coppice.traefikMiddlewares" .) (not .Values.ingress.parentRefs) (not .Values.environments.access.middleware) }}true{{ end -}}
{{- end }}

{{/* Whether each environment at a Gateway has a middleware of its own; empty if not. */}}
{{- define "coppice.gatewayMiddlewares" -}}
{{- if and (include "coppice.traefikMiddlewares" .) .Values.ingress.parentRefs }}true{{ end -}}
{{- end }}

{{/* What asks the API about each request to restricted environments (operator/services/objects/access-enforcement.ts); empty if nothing does. */}}
{{- define "coppice.accessEnforcement" -}}
{{- with .Values.environments.access }}
{{- if include "coppice.gatewayMiddlewares" $ }}
by: traefik-gateway
forwardAuth: {{- include "coppice.forwardAuth" $ | nindent 2 }}
{{- else if $.Values.ingress.parentRefs }}
{{- else if eq .enforcedBy "ingress-nginx" }}
by: ingress-nginx
host: {{ include "coppice.accessFullHost" $ }}
{{- else if and (eq .enforcedBy "traefik") .middleware }}
by: traefik
middleware: {{ .middleware }}
{{- else if include "coppice.ownMiddleware" $ }}
by: traefik
middleware: {{ $.Release.Namespace }}-coppice-access@kubernetescrd
{{- end }}
{{- end }}
{{- end }}

{{/* Name within the cluster of the Service that decides about requests to restricted environments. */}}
{{- define "coppice.accessHost" -}}
coppice-access.{{ .Release.Namespace }}.svc
{{- end }}

{{- define "coppice.accessFullHost" -}}
{{ include "coppice.accessHost" . }}.{{ .Values.environments.access.clusterDomain }}
{{- end }}

{{/* Configuration of Traefik's middlewares. The headers of the response replace those of the request, so that the services of an
environment receive neither Coppice's cookies nor the header with a token. */}}
{{- define "coppice.forwardAuth" -}}
address: http://{{ include "coppice.accessHost" . }}/forward-auth
trustForwardHeader: false
authRequestHeaders: [Accept, Cookie, Origin, Referer, Sec-Fetch-Dest, Sec-Fetch-Mode, Sec-Fetch-Site, Sec-WebSocket-Key, X-Coppice-Environment-Access]
authResponseHeaders: [Cookie, X-Coppice-Environment-Access]
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

{{/* Additional certificate authorities for containers of Coppice's image: environment, volume mount, volume. */}}
{{- define "coppice.caEnvironment" -}}
{{- if .Values.caCertificates }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/coppice-ca/ca.crt }
{{- end }}
{{- end }}

{{/* Checksum annotation that restarts the pods when the authorities change, because Node reads them only at its start. */}}
{{- define "coppice.caAnnotations" -}}
{{- with .Values.caCertificates }}
checksum/ca: {{ sha256sum . }}
{{- end }}
{{- end }}

{{- define "coppice.caMount" -}}
{{- if .Values.caCertificates }}
- { name: ca, mountPath: /etc/coppice-ca, readOnly: true }
{{- end }}
{{- end }}

{{- define "coppice.caVolume" -}}
{{- if .Values.caCertificates }}
- name: ca
  configMap: { name: coppice-ca }
{{- end }}
{{- end }}

{{/* The HTTPRoute of a component; call with (dict "root" $ "component" "api" "host" … "type" "PathPrefix" "path" "/"). */}}
{{- define "coppice.httpRoute" -}}
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: coppice-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "coppice.labels" (dict "root" .root "component" .component) | nindent 4 }}
spec:
  parentRefs: {{- toYaml .root.Values.ingress.parentRefs | nindent 4 }}
  hostnames: [{{ .host | quote }}]
  rules:
    - matches:
        - path: { type: {{ .type }}, value: {{ .path | quote }} }
      backendRefs:
        - { name: coppice-{{ .component }}, port: 80 }
{{- end }}
