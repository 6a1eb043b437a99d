{{/* Volume with the Secret that contains the token, in the file `token`. */}}
{{- define "coppice.testerSecret" -}}
{{- with .Values.tester.tokenSecret -}}
secretName: {{ .name | default "coppice-tester" }}
items: [{ key: {{ ternary .key "token" (ne .name "") }}, path: token }]
{{- end }}
{{- end }}

{{/* Token with which the operator and the API authenticate to the tester; generated once and kept. */}}
{{- define "coppice.testerToken" -}}
{{- $existing := lookup "v1" "Secret" .Release.Namespace "coppice-tester" -}}
{{- if $existing }}{{ index $existing.data "token" | b64dec }}{{ else }}{{ randAlphaNum 40 }}{{ end -}}
{{- end }}
