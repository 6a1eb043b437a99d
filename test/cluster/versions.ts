/** Versions of the local cluster's components. versions.test.ts compares the files that repeat one. */
export const VERSIONS = {
  kind: 'v0.33.0',
  /** The node image of that version of kind: https://github.com/kubernetes-sigs/kind/releases/tag/v0.33.0 */
  pulledNodeImage: 'kindest/node:v1.36.4@sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed',
  /** The version of Kubernetes that is built locally if that image cannot be pulled; the go.mod files have the same. */
  kubernetes: 'v1.36.3',
  /** Images that this version of kubeadm requires, with these tags. */
  etcdImageTag: '3.6.8-0',
  pauseImageTag: '3.10.2',
  corednsImageTag: 'v1.14.2',
  containerd: 'v2.3.7',
  localPathProvisioner: 'v0.0.30',
  registry: 'v3.1.2',
  rootlesskit: 'v2.3.6',
  helm: 'v4.3.1',
  traefik: 'v3.6.7',
  buildkit: 'v0.33.0',
  /** The go.mod file has the same version; 1.27 is not a Go module. */
  gitea: '1.26.4',
  /** The go.mod file of both has the same versions. */
  dockerCompose: 'v2.40.3',
  dockerBuildx: 'v0.29.1',
  /** The go.mod file has the same version. */
  metricsServer: 'v0.9.0',
  debian: 'bookworm',
  /** Version of the npm package node-linux-<arch>, the binary that the package `node` installs. */
  node: '24.21.0',
  npm: '11.21.2',
  /** The toolchain in the image golang. */
  go: '1.26.8',
} as const;

/**
 * The images that the cluster and its users name. They are pulled if a registry is reachable, otherwise built under
 * these names.
 */
export const IMAGES = {
  debian: 'debian:bookworm-slim',
  busybox: 'busybox:1',
  node: 'node:24-slim',
  valkey: 'valkey/valkey:9.1',
  buildkit: 'moby/buildkit:v0.33.0-rootless',
  traefik: 'traefik:v3.6.7',
  registry: 'registry:3',
  /** Images from which the fixtures in test/fixtures are built. */
  golang: 'golang:1.26',
  nginx: 'nginx:1.22',
  postgres: 'postgres:15',
  python: 'python:3.11-slim',
  /** Also what Coppice's last release needs. */
  redis: 'redis:7',
  /** An ordinary Git server, for the end-to-end tests. */
  gitea: 'gitea/gitea:1.26.4-rootless',
  /** Measures what pods use, with `npm run up -- --metrics`. */
  'metrics-server': 'registry.k8s.io/metrics-server/metrics-server:v0.9.0',
} as const;
