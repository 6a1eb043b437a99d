const digest = `sha256:${'5e'.repeat(32)}`;
const scheduling = {
  nodeSelector: { pool: 'strangers' },
  tolerations: [{ key: 'strangers', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  priorityClassName: 'low',
  runtimeClassName: 'gvisor',
};

/** Values that all of Coppice's components have. */
const component = {
  extraEnv: [{ name: 'NODE_OPTIONS', value: '--no-deprecation' }],
  extraVolumes: [{ name: 'extra', emptyDir: {} }],
  extraVolumeMounts: [{ name: 'extra', mountPath: '/extra' }],
  podAnnotations: { 'example.org/a': 'b' },
  podLabels: { team: 'platform' },
  affinity: { nodeAffinity: {} },
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { team: 'platform' } },
    },
  ],
};
const serviceAccount = { annotations: { 'example.org/role': 'coppice' } };

/** Values with which the chart renders everything, with the bundled Redis. */
export const ALL_VALUES = {
  global: { imageRegistry: 'mirror.example.com/coppice' },
  image: { digest },
  imagePullSecrets: ['mirror'],
  securityContext: {
    fixedIds: true,
    pod: { fsGroupChangePolicy: 'OnRootMismatch' },
    container: { seccompProfile: { type: 'RuntimeDefault' } },
  },
  extraObjects: [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'extra', namespace: '{{ .Release.Namespace }}' },
      data: { api: '{{ .Values.api.url }}' },
    },
  ],
  caCertificates: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
  scheduling: {
    nodeSelector: { pool: 'system' },
    tolerations: [{ key: 'system', operator: 'Exists' }],
    priorityClassName: 'system-cluster-critical',
  },
  api: {
    ...component,
    serviceAccount,
    autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 9, cpu: '750m' },
    url: 'https://coppice.example.org',
    tls: { secretName: '', clusterIssuer: 'letters' },
    administrators: ['root@example.org'],
    administratorPassword: 'ten characters',
    registration: { mode: 'domains', domains: ['example.org'] },
    oidc: {
      issuer: 'https://login.example.org:8443/realm',
      clientId: 'coppice',
      clientSecretRef: { name: 'oidc', key: 'secret' },
    },
  },
  operator: { ...component, serviceAccount, replicas: 2 },
  environments: {
    url: 'https://env.example.com',
    tls: { clusterIssuer: 'dns', wildcard: { clusterIssuer: 'dns' } },
    volumes: { storageClass: 'fast' },
    shell: { enabled: true },
    platform: 'linux/amd64',
    scheduling,
  },
  ingress: { className: 'nginx', controllerCidrs: ['10.2.0.0/16'] },
  egress: {
    dns: { podLabels: { 'k8s-app': 'kube-dns' }, cidrs: ['169.254.20.10/32'] },
    ipv6: true,
    exceptCidrs: ['192.0.2.0/24', '2001:db8::/48'],
  },
  sources: { allowedCidrs: ['10.0.0.0/8'] },
  registry: {
    address: 'registry.example.com:5000',
    credentialsSecret: 'registry',
    credentialsRevision: 'first',
    tokenAuth: {
      ...component,
      enabled: true,
      url: 'https://tokens.example.org/registry/token',
      tlsSecretName: 'tokens',
    },
  },
  builder: {
    imageDigest: digest,
    scheduling,
    jobScheduling: scheduling,
    cache: { storageClass: 'fast' },
    proxy: {
      http: 'http://proxy.example.com:3128',
      https: 'http://proxy.example.com:3128',
      noProxy: 'registry.example.com',
    },
    privateEgress: ['10.1.0.0/16'],
    mirrors: { 'docker.io': ['mirror.example.com/docker.io'] },
    insecureRegistries: ['plain.example.com:5001'],
  },
  redis: { ...component, imageDigest: digest, storageClass: 'fast' },
  tester: { ...component, enabled: true, image: { digest } },
  waker: component,
  metrics: {
    namespace: 'monitoring',
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
    dashboard: { enabled: true },
  },
};

/** Values that replace some of `everything`: existing Secrets, an existing Redis and a certificate. */
export const EXISTING_VALUES = {
  ...ALL_VALUES,
  api: {
    ...ALL_VALUES.api,
    replicas: 3,
    autoscaling: { enabled: false },
    tls: { secretName: 'certificate', clusterIssuer: '' },
    administratorPassword: '',
    administratorSecret: { name: 'administrator', key: 'password' },
  },
  tester: { ...component, enabled: true, tokenSecret: { name: 'tester', key: 'token' } },
  metrics: {
    ...ALL_VALUES.metrics,
    serviceMonitor: { enabled: false },
    podMonitor: { enabled: true, labels: { release: 'prometheus' } },
  },
  waker: { keySecret: { name: 'waker', key: 'key' } },
  redis: {
    externalUrl: 'rediss://coppice@redis.example.com:6380/1',
    passwordSecret: { name: 'redis', key: 'password' },
  },
};

/** Values that attach routes to a Gateway, whose listeners have classes and certificates. */
export const GATEWAY_VALUES = {
  ...ALL_VALUES,
  api: { ...ALL_VALUES.api, tls: { secretName: '', clusterIssuer: '' } },
  environments: { ...ALL_VALUES.environments, tls: { wildcard: { clusterIssuer: 'dns' } } },
  registry: { ...ALL_VALUES.registry, tokenAuth: { enabled: true, url: ALL_VALUES.registry.tokenAuth.url } },
  ingress: {
    controllerNamespace: 'gateway',
    parentRefs: [
      { name: 'web', namespace: 'gateway', sectionName: 'https' },
      { name: 'inner', namespace: 'gateway', port: 8443 },
    ],
  },
};

/** The required values of the chart. */
export const MIN_VALUES = { registry: { address: 'registry.example.com' } };
