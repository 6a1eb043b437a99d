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
