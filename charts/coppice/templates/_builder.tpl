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
{{- $host = regexReplaceAll "^(index|registry-1)\\.docker\\.io$" $host "docker.io" -}}
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
