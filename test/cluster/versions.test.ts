import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { IMAGES, VERSIONS } from './versions.ts';

const read = (path: string) => readFileSync(join(REPOSITORY_ROOT, path), 'utf8');

/** Returns the versions of the modules that a go.mod file requires. */
function required(folder: string): ReadonlyMap<string, string> {
  const lines = read(join('test/cluster/go', folder, 'go.mod')).matchAll(/^(?:require |\t)(\S+) (v\S+)$/gm);
  return new Map([...lines].map(([, module = '', version = '']) => [module, version]));
}

test.each([
  ['go-module', 'sigs.k8s.io/kind', VERSIONS.kind],
  ['go-module', 'k8s.io/kubernetes', VERSIONS.kubernetes],
  ['go-modules/network-policy-conformance', 'k8s.io/kubernetes', VERSIONS.kubernetes],
  ['go-module', 'go.etcd.io/etcd/server/v3', `v${VERSIONS.etcdImageTag.replace(/-\d+$/, '')}`],
  ['go-module', 'github.com/containerd/containerd/v2', VERSIONS.containerd],
  ['go-module', 'github.com/rancher/local-path-provisioner', VERSIONS.localPathProvisioner],
  ['go-module', 'github.com/distribution/distribution/v3', VERSIONS.registry],
  ['go-module', 'github.com/rootless-containers/rootlesskit/v2', VERSIONS.rootlesskit],
  ['go-module', 'helm.sh/helm/v4', VERSIONS.helm],
  ['go-module', 'github.com/traefik/traefik/v3', VERSIONS.traefik],
  ['go-module', 'github.com/moby/buildkit', VERSIONS.buildkit],
  ['go-modules/gitea', 'code.gitea.io/gitea', `v${VERSIONS.gitea}`],
  ['go-modules/compose', 'github.com/docker/compose/v2', VERSIONS.dockerCompose],
  ['go-modules/compose', 'github.com/docker/buildx', VERSIONS.dockerBuildx],
  ['go-modules/metrics-server', 'sigs.k8s.io/metrics-server', VERSIONS.metricsServer],
])('%s requires %s in the version of versions.ts', (folder, module, version) => {
  expect(required(folder).get(module)).toBe(version);
});

test('the toolchain of Go and the package node have the versions of versions.ts', () => {
  expect(/^go (\S+)$/m.exec(read('test/cluster/go/go-module/go.mod'))?.[1]).toBe(VERSIONS.go);
  const { devDependencies } = z
    .looseObject({ devDependencies: z.looseObject({ node: z.string() }) })
    .parse(JSON.parse(read('package.json')));
  expect(devDependencies.node).toBe(VERSIONS.node);
});

test('images of the local cluster have the versions of its programs, and are those of the chart', () => {
  expect(IMAGES.traefik).toBe(`traefik:${VERSIONS.traefik}`);
  expect(/^ +image: (\S+)$/m.exec(read('test/cluster/network/traefik.yaml'))?.[1]).toBe(IMAGES.traefik);
  expect(IMAGES.buildkit).toBe(`moby/buildkit:${VERSIONS.buildkit}-rootless`);
  expect(IMAGES.gitea).toBe(`gitea/gitea:${VERSIONS.gitea}-rootless`);
  expect(IMAGES['metrics-server']).toMatch(new RegExp(`:${VERSIONS.metricsServer}$`));
  const { builder, redis } = z
    .looseObject({ builder: z.looseObject({ image: z.string() }), redis: z.looseObject({ image: z.string() }) })
    .parse(parse(read('charts/coppice/values.yaml')));
  expect([builder.image, redis.image]).toEqual([IMAGES.buildkit, IMAGES.valkey]);
});
