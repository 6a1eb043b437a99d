{{- define "coppice.isOperator" -}}
- name: operator
  expression: request.userInfo.username == 'system:serviceaccount:{{ .Release.Namespace }}:coppice-operator'
{{- end }}

{{- define "coppice.policyBinding" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ .name }}
  labels: {{- include "coppice.labels" .labels | nindent 4 }}
spec:
  policyName: {{ .name }}
  validationActions: [Deny]
{{- end }}
