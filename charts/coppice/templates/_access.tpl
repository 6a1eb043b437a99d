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
