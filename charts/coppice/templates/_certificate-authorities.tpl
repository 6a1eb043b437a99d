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
