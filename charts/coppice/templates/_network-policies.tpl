{{/* Rules shared by policies of Coppice's own pods. Each is a list item, or empty. */}}

{{- define "coppice.policyToDns" -}}
{{- with .Values.egress.dns -}}
- to:
    {{- if .namespace }}
    - namespaceSelector:
        matchLabels: { kubernetes.io/metadata.name: {{ .namespace }} }
      {{- with .podLabels }}
      podSelector:
        matchLabels: {{- toYaml . | nindent 10 }}
      {{- end }}
    {{- end }}
    {{- range .cidrs }}
    - ipBlock: { cidr: {{ . | quote }} }
    {{- end }}
  ports:
    {{- range .ports }}
    - { protocol: UDP, port: {{ . }} }
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
{{- end }}
{{- end }}

{{/* Public addresses, the same as for environments in operator/shared/network-peers.ts. */}}
{{- define "coppice.publicNetworks" -}}
{{- $v4 := list "10.0.0.0/8" "100.64.0.0/10" "168.63.129.16/32" "169.254.0.0/16" "172.16.0.0/12" "192.168.0.0/16" }}
{{- $v6 := list "64:ff9b::a00:0/104" "64:ff9b::6440:0/106" "64:ff9b::a83f:8110/128" "64:ff9b::a9fe:0/112" "64:ff9b::ac10:0/108" "64:ff9b::c0a8:0/112" "64:ff9b:1::/48" "fc00::/7" "fe80::/10" }}
{{- range .Values.egress.exceptCidrs }}
{{- if contains ":" . }}
{{- $v6 = append $v6 . }}
{{- else }}
{{- $v4 = append $v4 . }}
{{- end }}
{{- end -}}
- ipBlock: { cidr: 0.0.0.0/0, except: {{ toJson $v4 }} }
{{- if .Values.egress.ipv6 }}
- ipBlock: { cidr: '::/0', except: {{ toJson $v6 }} }
{{- end }}
{{- end }}

{{/* The Ingress controller as a peer: its pods and additional networks. */}}
{{- define "coppice.ingressController" -}}
- namespaceSelector:
    matchLabels: { kubernetes.io/metadata.name: {{ .Values.ingress.controllerNamespace }} }
{{- range .Values.ingress.controllerCidrs }}
- ipBlock: { cidr: {{ . | quote }} }
{{- end }}
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

{{/* Any address except those of cloud metadata services, which return a machine's credentials; the same as for builds in
operator/shared/network-peers.ts. */}}
{{- define "coppice.policyAnywhere" -}}
- ipBlock: { cidr: 0.0.0.0/0, except: [168.63.129.16/32, 169.254.0.0/16] }
- ipBlock: { cidr: '::/0', except: ['64:ff9b::a83f:8110/128', '64:ff9b::a9fe:0/112', 'fd00:42::42/128', 'fd00:c1::a9fe:a9fe/128', 'fd00:ec2::/32', 'fd20:ce::254/128', 'fe80::/10'] }
{{- end }}

{{/* TCP ports outside the cluster that the operator connects to, as JSON: those of Git hosts, their APIs, registries and mirrors. */}}
{{- define "coppice.outwardPorts" -}}
{{- $ports := concat (list 80 443) .Values.sources.ports .Values.sources.sshPorts }}
{{- $addresses := concat (list (splitList "/" .Values.registry.address | first)) .Values.builder.insecureRegistries }}
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
