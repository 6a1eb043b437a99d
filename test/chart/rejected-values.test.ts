import { expect, test } from '@jest/globals';
import { withValue } from './leaves.ts';
import { toolPath } from '../cluster/go/programs.ts';
import { CHART, render } from './render.ts';
import { ALL_VALUES, EXISTING_VALUES, MIN_VALUES } from './sample-values.ts';
import { stringify } from 'yaml';
import { run } from '../support/run.ts';

test.each<[what: string, path: string, value: unknown, words: RegExp]>([
  ['a misspelled name', 'api.replica', 3, /additional properties 'replica' not allowed/],
  ['an unknown part', 'postgres', {}, /additional properties 'postgres' not allowed/],
  ['a text for a number', 'api.replicas', 'two', /\/api\/replicas.*want integer/],
  ['less than no replica', 'operator.replicas', -1, /\/operator\/replicas.*minimum/],
  ['a URL without a scheme', 'api.url', 'coppice.example.org', /\/api\/url.*pattern/],
  ['an autoscaler without a replica', 'api.autoscaling.minReplicas', 0, /\/api\/autoscaling\/minReplicas.*minimum/],
  ['an object that is a text', 'extraObjects', ['kind: Pod'], /\/extraObjects\/0.*want object/],
  ['an unknown choice', 'api.registration.mode', 'invited', /\/api\/registration\/mode/],
  ['an issuer over plain HTTP', 'api.oidc.issuer', 'http://login.example.org', /\/api\/oidc\/issuer.*pattern/],
  ['a short password', 'api.administratorPassword', 'short', /\/api\/administratorPassword.*pattern/],
  ['an address that is not an e-mail', 'api.administrators', ['root'], /\/api\/administrators\/0.*pattern/],
  ['a network without its length', 'sources.allowedCidrs', ['10.0.0.0'], /\/sources\/allowedCidrs\/0.*pattern/],
  ['a network of no address', 'ingress.controllerCidrs', ['10.0.0.256/8'], /\/ingress\/controllerCidrs\/0.*pattern/],
  ['a network longer than an address', 'ingress.controllerCidrs', ['10.0.0.0/33'], /controllerCidrs\/0.*pattern/],
  ['an IPv6 network longer than an address', 'egress.dns.cidrs', ['fd00::/129'], /\/egress\/dns\/cidrs\/0.*pattern/],
  ['a port beyond all', 'sources.ports', [70_000], /\/sources\/ports\/0.*maximum/],
  ['polling without a pause', 'sources.pollSeconds', 1, /\/sources\/pollSeconds.*minimum/],
  ['an amount of no unit', 'builder.cache.size', '20 GB', /\/builder\/cache\/size.*pattern/],
  ['a registry with a path of another grammar', 'registry.address', 'ghcr.io/Acme/', /\/registry\/address/],
  ['a registry with a scheme', 'registry.address', 'https://registry.example.com', /\/registry\/address/],
  ['a password in the URL', 'redis.externalUrl', 'redis://:secret@redis', /\/redis\/externalUrl.*pattern/],
  ['a password in the proxy', 'builder.proxy.http', 'http://me:secret@proxy:3128', /\/builder\/proxy\/http.*pattern/],
  ['a text that is not a certificate', 'caCertificates', 'secret', /\/caCertificates.*pattern/],
  ['a schedule with seconds', 'housekeeping.schedules.logs', '0 * * * * *', /\/housekeeping\/schedules\/logs.*pattern/],
  ['an offset as a time zone', 'housekeeping.timeZone', '+01:00', /\/housekeeping\/timeZone.*pattern/],
  ['an invalid digest', 'image.digest', 'latest', /\/image\/digest.*pattern/],
  ['a platform of another system', 'environments.platform', 'windows/amd64', /\/environments\/platform.*pattern/],
  ['resources by another name', 'api.resources', { limit: {} }, /additional properties 'limit' not allowed/],
])('reports %s by its path', async (_what, path, value, words) => {
  await expect(render(withValue(MIN_VALUES, path, value))).rejects.toThrow(words);
});

test.each<[what: string, values: object, words: RegExp]>([
  ['no registry', {}, /registry\.address must name the registry/],
  [
    'the API below the domain of environments',
    { ...MIN_VALUES, api: { url: 'http://coppice.env.localhost:8080' } },
    /must be under different domains/,
  ],
  [
    'the API below the domain of environments in capital letters',
    {
      ...MIN_VALUES,
      api: { url: 'http://coppice.env.localhost:8080' },
      environments: { url: 'http://Env.Localhost:8080' },
    },
    /must be under different domains/,
  ],
  [
    'access by ingress-nginx at Gateways',
    withValue(withValue(MIN_VALUES, 'environments.access.enforcedBy', 'ingress-nginx'), 'ingress.parentRefs', [
      { name: 'web', namespace: 'gateway' },
    ]),
    /enforcedBy is ingress-nginx, which serves no Gateways/,
  ],
  ...['auth-url', 'auth-cache-key', 'satisfy', 'custom-http-errors', 'ssl-passthrough', 'server-snippet'].map(
    (name): [string, object, RegExp] => [
      `access by ingress-nginx, weakened by ${name}`,
      {
        ...MIN_VALUES,
        environments: {
          access: { enforcedBy: 'ingress-nginx' },
          ingressAnnotations: { [`nginx.ingress.kubernetes.io/${name}`]: 'any' },
        },
      },
      /could replace or weaken what environments\.access\.enforcedBy sets/,
    ],
  ),
  [
    'a frontend that groups can build',
    withValue(MIN_VALUES, 'builder.frontends', [`${MIN_VALUES.registry.address}/acme/frontend`]),
    /builder\.frontends lists .* which is in registry\.address/,
  ],
  [
    'a mirror that is the folder of built images',
    {
      ...MIN_VALUES,
      registry: { ...MIN_VALUES.registry, address: 'ghcr.io/acme/coppice' },
      builder: { mirrors: { 'docker.io': ['GHCR.io:443/acme'] } },
    },
    /builder\.mirrors names GHCR\.io:443\/acme as a mirror of docker\.io, but registry\.address/,
  ],
  ['a certificate for plain HTTP', withValue(MIN_VALUES, 'api.tls.clusterIssuer', 'letters'), /must start with https/],
  [
    'a wildcard certificate for plain HTTP',
    withValue(MIN_VALUES, 'environments.tls.wildcard.clusterIssuer', 'dns'),
    /must start with https/,
  ],
  [
    'metrics that nothing can read',
    withValue(withValue(ALL_VALUES, 'metrics.serviceMonitor.enabled', true), 'metrics.namespace', ''),
    /metrics\.namespace must name the namespace that Prometheus runs in/,
  ],
  [
    'two monitors of the same metrics',
    withValue(ALL_VALUES, 'metrics.podMonitor.enabled', true),
    /metrics\.serviceMonitor and metrics\.podMonitor are both enabled/,
  ],
  [
    'an autoscaler between crossed bounds',
    withValue(MIN_VALUES, 'api.autoscaling', { enabled: true, minReplicas: 5, maxReplicas: 4 }),
    /api\.autoscaling\.minReplicas \(5\) is above maxReplicas \(4\)/,
  ],
  [
    'policies without DNS',
    withValue(MIN_VALUES, 'egress.dns', { namespace: '', cidrs: [] }),
    /egress\.dns needs a namespace or cidrs/,
  ],
  [
    'an Ingress controller at every address',
    withValue(MIN_VALUES, 'ingress.controllerCidrs', ['10.2.0.0/16', '0.0.0.0/0']),
    /ingress\.controllerCidrs lists 0\.0\.0\.0\/0, .* past the Ingress controller/,
  ],
  [
    'a tester that reaches every address',
    withValue(MIN_VALUES, 'tester.ingressCidrs', ['::/0']),
    /tester\.ingressCidrs lists ::\/0/,
  ],
  [
    'DNS at every address',
    withValue(MIN_VALUES, 'egress.dns.cidrs', ['0.0.0.0/0']),
    /egress\.dns\.cidrs lists 0\.0\.0\.0\/0/,
  ],
  [
    'builds that reach every address',
    withValue(MIN_VALUES, 'builder.privateEgress', ['0.0.0.0/0']),
    /builder\.privateEgress lists 0\.0\.0\.0\/0, .* the whole cluster and its nodes to builds/,
  ],
  [
    'two architectures',
    {
      ...MIN_VALUES,
      environments: { platform: 'linux/arm64', scheduling: { nodeSelector: { 'kubernetes.io/arch': 'amd64' } } },
    },
    /name two architectures/,
  ],
])('reports %s with a message', async (_what, values, words) => {
  await expect(render(values)).rejects.toThrow(words);
});

test.each(['10.2.0.0/16', '130.211.0.0/22', '192.0.2.7/32', 'fd00:10::/64', '2001:db8::7/128', '::ffff:10.0.0.0/104'])(
  'accepts the network %s',
  async (network) => {
    await expect(render(withValue(MIN_VALUES, 'ingress.controllerCidrs', [network]))).resolves.toContain(network);
  },
);

test.each([
  ['the least', MIN_VALUES],
  ['everything', ALL_VALUES],
  ['what is there already', EXISTING_VALUES],
])('passes helm lint with %s', async (_what, values) => {
  const text = await run(toolPath('helm'), ['lint', CHART, '--strict', '--values', '-'], { input: stringify(values) });
  expect(text).toContain('0 chart(s) failed');
});
