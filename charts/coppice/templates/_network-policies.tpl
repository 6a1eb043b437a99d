{{/* Rules that several policies of Coppice's own pods share. Each is an item of a list, or nothing. */}}

{{- define "coppice.policyToDns" -}}
- to:
    - namespaceSelector:
        matchLabels: { kubernetes.io/metadata.name: kube-system }
  ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
{{- end }}

{{- define "coppice.policyToKubernetes" -}}
- to:
    {{- range .Values.networkPolicies.kubernetesApi.cidrs }}
    - ipBlock: { cidr: {{ . | quote }} }
    {{- end }}
  ports:
    {{- range .Values.networkPolicies.kubernetesApi.ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
{{- end }}

{{- define "coppice.policyToRedis" -}}
{{- if .Values.redis.externalUrl }}
- to: {{- include "coppice.policyAnywhere" . | nindent 4 }}
  ports:
    - { protocol: TCP, port: {{ regexFind "[0-9]+$" (regexFind ":[0-9]+$" (urlParse .Values.redis.externalUrl).host) | default "6379" }} }
{{- else }}
- to:
    - podSelector:
        matchLabels: {{- include "coppice.selector" (dict "root" . "component" "redis") | nindent 10 }}
  ports:
    - { protocol: TCP, port: 6379 }
{{- end }}
{{- end }}

{{- define "coppice.policyToTester" -}}
- to:
    - podSelector:
        matchLabels: {{- include "coppice.selector" (dict "root" . "component" "tester") | nindent 10 }}
{{- end }}

{{- define "coppice.policyFromPrometheus" -}}
{{- with .Values.metrics.namespace }}
- from:
    - namespaceSelector:
        matchLabels: { kubernetes.io/metadata.name: {{ . }} }
  ports:
    - { protocol: TCP, port: 3001 }
{{- end }}
{{- end }}

{{/* Any address but those at which clouds tell a machine's credentials. */}}
{{- define "coppice.policyAnywhere" -}}
- ipBlock: { cidr: 0.0.0.0/0, except: [168.63.129.16/32, 169.254.0.0/16] }
- ipBlock: { cidr: '::/0', except: ['fd00:ec2::/32', 'fe80::/10'] }
{{- end }}

{{/* The TCP ports that the operator connects to outside of the cluster, as JSON: of Git hosts, their APIs, registries and mirrors. */}}
{{- define "coppice.outwardPorts" -}}
{{- $ports := concat (list 80 443) .Values.sources.ports .Values.sources.sshPorts }}
{{- $addresses := concat (list .Values.registry.address) .Values.builder.insecureRegistries }}
{{- range .Values.builder.mirrors }}
{{- range . }}
{{- $addresses = append $addresses (splitList "/" . | first) }}
{{- end }}
{{- end }}
{{- range .Values.sources.hosts }}
{{- range . }}
{{- $addresses = append $addresses (urlParse .).host }}
{{- end }}
{{- end }}
{{- range $addresses }}
{{- with regexFind ":[0-9]+$" . }}
{{- $ports = append $ports (trimPrefix ":" . | int) }}
{{- end }}
{{- end }}
{{- $numbers := list }}
{{- range $ports }}
{{- $numbers = append $numbers (int .) }}
{{- end }}
{{- uniq $numbers | toJson }}
{{- end }}
