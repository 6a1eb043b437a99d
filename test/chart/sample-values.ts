/** Values with which the chart makes all it can make, with a Redis of its own. */
export const everything = {
  global: { imageRegistry: 'mirror.example.com/coppice' },
  imagePullSecrets: ['mirror'],
  caCertificates: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
  scheduling: {
    nodeSelector: { pool: 'system' },
    tolerations: [{ key: 'system', operator: 'Exists' }],
    priorityClassName: 'system-cluster-critical',
  },
  api: {
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
  operator: { replicas: 2 },
  environments: {
    url: 'https://env.example.com',
    tls: { clusterIssuer: 'dns', wildcard: { clusterIssuer: 'dns' } },
    volumes: { storageClass: 'fast' },
  },
  ingress: { className: 'nginx' },
  sources: { allowedCidrs: ['10.0.0.0/8'] },
  registry: { address: 'registry.example.com:5000', credentialsSecret: 'registry', credentialsRevision: 'first' },
  builder: {
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
  redis: { storageClass: 'fast' },
  tester: { enabled: true },
  metrics: {
    namespace: 'monitoring',
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
    dashboard: { enabled: true },
  },
};

/** What stands in the way of something in `everything`: Secrets and a Redis that are there already, a certificate too. */
export const existing = {
  ...everything,
  api: {
    ...everything.api,
    tls: { secretName: 'certificate', clusterIssuer: '' },
    administratorPassword: '',
    administratorSecret: { name: 'administrator', key: 'password' },
  },
  tester: { enabled: true, tokenSecret: { name: 'tester', key: 'token' } },
  redis: {
    externalUrl: 'rediss://coppice@redis.example.com:6380/1',
    passwordSecret: { name: 'redis', key: 'password' },
  },
};

/** The least that the chart asks for. */
export const least = { registry: { address: 'registry.example.com' } };
