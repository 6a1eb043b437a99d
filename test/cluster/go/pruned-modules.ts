import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '../../support/problem.ts';
import { VERSIONS } from '../versions.ts';

/** A change to a file of a module: removes matching lines, and replaces texts. Each pattern must match. */
export interface Pruning {
  file: string;
  /** Removes lines that match any of these. */
  remove?: readonly RegExp[];
  /** Replaces the first match of each. */
  replace?: readonly (readonly [from: string | RegExp, to: string])[];
}

/** A Go module from which unused parts are removed before it is compiled. */
export interface PrunedModule {
  /** Folder next to go.mod in its `replace` line. */
  folder: string;
  module: string;
  /** By default the version that go.mod requires. */
  version?: string;
  files: readonly Pruning[];
  /** Files to remove. */
  without: readonly string[];
  /** Our replacements for files of the module: path in the module, to path in the folder of go.mod. */
  overlay: Readonly<Record<string, string>>;
}

const asPackage = ['package main\n', 'package provisioner\n'] as const;
const jaeger = /^\t_ "github\.com\/moby\/buildkit\/util\/tracing\/detect\/jaeger"$/;
const formerLogrus = ['"github.com/Sirupsen/logrus"', '"github.com/sirupsen/logrus"'] as const;
const traefikProviders = 'Docker Swarm ConsulCatalog Nomad Ecs Consul Etcd ZooKeeper Redis Knative'.split(' ');

/** What is removed takes longer to compile than the rest of each module, such as libraries of clouds and engines. */
export const PRUNED_MODULES: readonly PrunedModule[] = [
  {
    folder: 'traefik',
    module: 'github.com/traefik/traefik/v3',
    files: [
      {
        file: 'pkg/config/static/static_config.go',
        remove: [
          /^\t"github\.com\/traefik\/traefik\/v3\/pkg\/provider\/(docker|ecs|consulcatalog|nomad|kv\/\w+|kubernetes\/knative)"$/,
          new RegExp(`^\\t(${traefikProviders.join('|')}) +\\*\\w+\\.\\w+ `),
        ],
        replace: [
          [/^\tif c\.Providers\.Docker != nil {$[^]*?^\t}\n/m, ''],
          [/^\tif c\.Providers\.Swarm != nil {$[^]*?^\t}\n/m, ''],
          [/^\tif c\.Providers != nil && c\.Providers\.Knative != nil {$[^]*?^\t}\n/m, ''],
        ],
      },
      {
        file: 'pkg/provider/aggregator/aggregator.go',
        replace: traefikProviders.map((name) => [new RegExp(`^\\tif conf\\.${name} != nil {$[^]*?^\\t}\\n`, 'm'), '']),
      },
      {
        // Only rules in the version 2 syntax need Traefik's fork of gorilla/mux, which conflicts with the registry.
        file: 'pkg/muxer/http/matcher_v2.go',
        replace: [
          ['.UseRoutingPath()', ''],
          ['.UseRoutingPath()', ''],
        ],
      },
      {
        file: 'pkg/muxer/http/mux.go',
        remove: [/^\t"github\.com\/gorilla\/mux"$/],
        replace: [
          ['mux.RoutingPathKey', 'routingPathKey{}'],
          ['mux.RoutingPathKey', 'routingPathKey{}'],
        ],
      },
      {
        file: 'pkg/provider/acme/provider.go',
        remove: [/^\t"github\.com\/go-acme\/lego\/v4\/providers\/dns"$/],
        replace: [
          [
            'dns.NewDNSChallengeProviderByName(p.DNSChallenge.Provider)',
            'nil, fmt.Errorf("this build has no DNS challenge provider %s", p.DNSChallenge.Provider)',
          ],
        ],
      },
      {
        // The local cluster does not check for newer versions of Traefik.
        file: 'pkg/version/version.go',
        remove: [/^\t"(context|net\/url|github\.com\/google\/go-github\/v28\/github)"$/, /^\tgoversion "/],
        replace: [[/^func CheckNewVersion\(\) {\n[^]*?^}\n/m, 'func CheckNewVersion() {}\n']],
      },
    ],
    without: [
      'pkg/middlewares/ratelimiter/lua.go',
      'pkg/plugins/middlewarewasm.go',
      'pkg/plugins/middlewareyaegi.go',
      'pkg/plugins/wasip.go',
      'pkg/plugins/wasip_mock.go',
      'pkg/plugins/providers.go',
    ],
    overlay: {
      'pkg/middlewares/ratelimiter/redis_limiter.go': 'overlay/ratelimiter/redis_limiter.go',
      'pkg/muxer/http/routing-path.go': 'overlay/http/routing-path.go',
      'pkg/observability/logs/otel.go': 'overlay/logs/otel.go',
      'pkg/observability/metrics/influxdb2.go': 'overlay/metrics/influxdb2.go',
      'pkg/plugins/builder.go': 'overlay/plugins/builder.go',
    },
  },
  {
    folder: 'buildkit',
    module: 'github.com/moby/buildkit',
    files: [
      {
        file: 'cmd/buildkitd/main.go',
        remove: [
          /^\t(s3remotecache )?"github\.com\/moby\/buildkit\/cache\/remotecache\/(azblob|gha|s3)"$/,
          /^\t\t"(gha|s3|azblob)": +\w+\.ResolveCache(Ex|Im)porterFunc\(/,
          jaeger,
          /^\tpolicy "github\.com\/moby\/policy-helpers"$/,
          /^\t"sync"$/,
        ],
        replace: [
          [/^\tvar verifierProvider [^]*?^\t}\n/m, ''],
          [/^func newVerifierProvider\([^]*?^}\n/m, ''],
        ],
      },
      { file: 'cmd/buildctl/main.go', remove: [jaeger] },
    ],
    without: [],
    overlay: {},
  },
  {
    folder: 'client-go',
    module: 'k8s.io/client-go',
    version: VERSIONS.kubernetes.replace(/^v1\./, 'v0.'),
    files: [],
    without: ['clientset_generated.go', 'doc.go', 'register.go'].map((name) => `kubernetes/fake/${name}`),
    overlay: { 'kubernetes/fake/clientset.go': 'overlay/fake-clients/clientset.go' },
  },
  {
    folder: 'distribution',
    module: 'github.com/distribution/distribution/v3',
    files: [
      {
        // The local registries cache in memory.
        file: 'registry/handlers/app.go',
        remove: [
          /^\t"crypto\/(tls|x509)"$/,
          /^\t"expvar"$/,
          /^\trediscache "/,
          /^\t"github\.com\/redis\/go-redis\//,
          /^\tredis redis\.UniversalClient$/,
          /^\tapp\.configureRedis\(config\)$/,
        ],
        replace: [
          [/^\t\tcase "redis":\n[^]*?(?=^\t\tcase )/m, ''],
          [/^func \(app \*App\) configureRedis\([^]*?^}\n/m, ''],
          [/^func \(app \*App\) createPool\([^]*?^}\n/m, ''],
        ],
      },
    ],
    without: [],
    overlay: {},
  },
  {
    // A package that the node's program imports. The library's former name differs only in upper case, which Go treats as
    // another module.
    folder: 'local-path-provisioner',
    module: 'github.com/rancher/local-path-provisioner',
    files: [
      { file: 'main.go', replace: [asPackage, formerLogrus, ['func main() {', 'func Main() {']] },
      { file: 'util.go', replace: [asPackage] },
      {
        file: 'provisioner.go',
        replace: [
          asPackage,
          formerLogrus,
          [
            /^\to\.Path = filepath\.Clean\(o\.Path\)\n/m,
            '\tif done, err := onOwnNode(action, o); done {\n\t\treturn err\n\t}\n\to.Path = filepath.Clean(o.Path)\n',
          ],
        ],
      },
    ],
    without: [],
    overlay: { 'own_node.go': 'overlay/local-path/own_node.go' },
  },
];

/** Returns the changed text. Throws a Problem if a pattern does not match, because the module has changed. */
export function prune(text: string, { file, remove = [], replace = [] }: Pruning): string {
  const missing = (what: string) =>
    new Problem(`${file} has no ${what}, which is pruned before the module is compiled: the module changed.`);
  for (const pattern of remove) {
    const lines = text.split('\n');
    const kept = lines.filter((line) => !pattern.test(line));
    if (kept.length === lines.length) throw missing(`line ${pattern.source}`);
    text = kept.join('\n');
  }
  for (const [from, to] of replace) {
    const isThere = typeof from === 'string' ? text.includes(from) : from.test(text);
    if (!isThere) throw missing(`text ${String(from)}`);
    text = text.replace(from, () => to);
  }
  return text;
}

/** Copies a module from Go's module cache without the removed parts. `own` is the folder of our files. */
export function layOutPruned(source: string, target: string, own: string, pruned: PrunedModule): void {
  const without = new Set(pruned.without.map((file) => join(source, file)));
  const isSource = (path: string) => !/(_test\.go|\/testdata|\/docs|\/integration|\/vendor)$/.test(path);
  cpSync(source, target, { recursive: true, filter: (path) => !without.has(path) && isSource(path) });
  // Folders of the module cache are read-only, so only root could change or remove their copies.
  const folders = readdirSync(target, { recursive: true, withFileTypes: true }).filter((one) => one.isDirectory());
  for (const path of [target, ...folders.map((one) => join(one.parentPath, one.name))]) chmodSync(path, 0o755);
  const write = (file: string, text: string) => {
    const path = join(target, file);
    // Copies of files in the read-only module cache are read-only.
    rmSync(path, { force: true });
    writeFileSync(path, text);
  };
  for (const change of pruned.files) {
    write(change.file, prune(readFileSync(join(target, change.file), 'utf8'), change));
  }
  for (const [file, ours] of Object.entries(pruned.overlay)) write(file, readFileSync(join(own, ours), 'utf8'));
}
