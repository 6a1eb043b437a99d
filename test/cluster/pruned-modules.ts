import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from './problem.ts';

/** One change to a file of a module: the lines that match go, and texts are replaced. Each must be there. */
export interface Pruning {
  file: string;
  /** Lines that match any of these are removed. */
  remove?: readonly RegExp[];
  /** The first place where each is found is replaced. */
  replace?: readonly (readonly [from: string | RegExp, to: string])[];
}

/** A Go module of which parts that the local cluster never uses are left out before it is compiled. */
export interface PrunedModule {
  /** The folder beside go.mod that its `replace` line names. */
  folder: string;
  module: string;
  files: readonly Pruning[];
  /** Files that are left out whole. */
  without: readonly string[];
  /** Files of ours that take the place of the module's: path in the module to path in the folder of go.mod. */
  overlay: Readonly<Record<string, string>>;
}

const traefikProviders = ['Docker', 'Swarm', 'ConsulCatalog', 'Nomad', 'Ecs', 'Consul', 'Etcd', 'ZooKeeper', 'Redis'];

/** What each of these leaves out costs more to compile than the rest of the module: the libraries of clouds and engines. */
export const prunedModules: readonly PrunedModule[] = [
  {
    folder: 'traefik',
    module: 'github.com/traefik/traefik/v3',
    files: [
      {
        file: 'pkg/config/static/static_config.go',
        remove: [
          /^\t"github\.com\/traefik\/traefik\/v3\/pkg\/provider\/(docker|ecs|consulcatalog|nomad|kv\/\w+)"$/,
          new RegExp(`^\\t(${traefikProviders.join('|')}) +\\*\\w+\\.\\w+ `),
        ],
        replace: [
          [/^\tif c\.Providers\.Docker != nil {$[^]*?^\t}\n/m, ''],
          [/^\tif c\.Providers\.Swarm != nil {$[^]*?^\t}\n/m, ''],
        ],
      },
      {
        file: 'pkg/provider/aggregator/aggregator.go',
        replace: traefikProviders.map((name) => [new RegExp(`^\\tif conf\\.${name} != nil {$[^]*?^\\t}\\n`, 'm'), '']),
      },
      {
        // Rules in the syntax of version 2 alone need Traefik's fork of gorilla/mux, which the registry cannot live with.
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
    ],
    without: [
      'pkg/plugins/middlewarewasm.go',
      'pkg/plugins/middlewareyaegi.go',
      'pkg/plugins/wasip.go',
      'pkg/plugins/wasip_mock.go',
      'pkg/plugins/providers.go',
    ],
    overlay: {
      'pkg/muxer/http/routing-path.go': 'overlay/http/routing-path.go',
      'pkg/observability/logs/otel.go': 'overlay/logs/otel.go',
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
          /^\tpolicy "github\.com\/moby\/policy-helpers"$/,
          /^\t"sync"$/,
        ],
        replace: [
          [/^\tvar verifierProvider [^]*?^\t}\n/m, ''],
          [/^func newVerifierProvider\([^]*?^}\n/m, ''],
        ],
      },
    ],
    without: [],
    overlay: {},
  },
  {
    // The library by its former name, which Go takes for a second module that differs in capitals alone.
    folder: 'local-path-provisioner',
    module: 'github.com/rancher/local-path-provisioner',
    files: ['main.go', 'provisioner.go'].map((file) => ({
      file,
      replace: [['"github.com/Sirupsen/logrus"', '"github.com/sirupsen/logrus"']],
    })),
    without: [],
    overlay: {},
  },
];

/** Returns the text after the change. Throws a Problem when a part of the change finds nothing: the module is another one. */
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

/** Copies a module from Go's module cache, without what is pruned. `own` is the folder of our files. */
export function layOutPruned(source: string, target: string, own: string, pruned: PrunedModule): void {
  const without = new Set(pruned.without.map((file) => join(source, file)));
  const isSource = (path: string) => !/(_test\.go|\/testdata|\/docs|\/integration|\/vendor)$/.test(path);
  cpSync(source, target, { recursive: true, filter: (path) => !without.has(path) && isSource(path) });
  const write = (file: string, text: string) => {
    const path = join(target, file);
    // The module cache is read-only, and a copy of it is so too.
    rmSync(path, { force: true });
    writeFileSync(path, text);
  };
  for (const change of pruned.files) {
    write(change.file, prune(readFileSync(join(target, change.file), 'utf8'), change));
  }
  for (const [file, ours] of Object.entries(pruned.overlay)) write(file, readFileSync(join(own, ours), 'utf8'));
}
