{{/* The Secret with the token, as a volume has it: its file is `token`. */}}
{{- define "coppice.testerSecret" -}}
{{- with .Values.tester.tokenSecret -}}
secretName: {{ .name | default "coppice-tester" }}
items: [{ key: {{ ternary .key "token" (ne .name "") }}, path: token }]
{{- end }}
{{- end }}

{{/* The token that operator and API show the tester: kept once it was made. */}}
{{- define "coppice.testerToken" -}}
{{- $existing := lookup "v1" "Secret" .Release.Namespace "coppice-tester" -}}
{{- if $existing }}{{ index $existing.data "token" | b64dec }}{{ else }}{{ randAlphaNum 40 }}{{ end -}}
{{- end }}
