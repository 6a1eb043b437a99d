{{/* Environment of the operator and the API with the tester's address and token. */}}
{{- define "coppice.testerVariables" -}}
{{- if (.Values.tester).enabled -}}
- { name: TESTER_URL, value: http://coppice-tester }
- { name: TESTER_TOKEN_FILE, value: /etc/coppice-tester/token }
{{- end -}}
{{- end }}

{{- define "coppice.testerMount" -}}
{{- if (.Values.tester).enabled -}}
- { name: tester-token, mountPath: /etc/coppice-tester, readOnly: true }
{{- end -}}
{{- end }}

{{- define "coppice.testerVolume" -}}
{{- if (.Values.tester).enabled -}}
- name: tester-token
  secret: {{- include "coppice.testerSecret" . | nindent 4 }}
{{- end -}}
{{- end }}
