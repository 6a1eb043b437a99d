/** Which of our folders each folder may import: the layering of docs/explanation/architecture.md. */
const allowedImports: Record<string, string[]> = {
  process: [],
  'fair-queue': [],
  crds: [],
  kubernetes: ['fair-queue'],
  'pattern-search': [],
  'build-logs': ['fair-queue', 'pattern-search'],
  'service-file': ['pattern-search'],
  'tester-client': [],
  'environment-access': [],
  'shell-protocol': [],
  'registry-tokens': ['process'],
  'waker-protocol': [],
  waker: ['process', 'fair-queue', 'waker-protocol'],
  operator: [
    'process',
    'fair-queue',
    'pattern-search',
    'crds',
    'kubernetes',
    'build-logs',
    'service-file',
    'tester-client',
    'environment-access',
    'registry-tokens',
    'waker-protocol',
  ],
  api: [
    'process',
    'fair-queue',
    'crds',
    'kubernetes',
    'build-logs',
    'service-file',
    'tester-client',
    'environment-access',
    'shell-protocol',
  ],
  tester: ['process', 'fair-queue'],
  // What clientRule() permits of them.
  panel: ['api', 'build-logs', 'shell-protocol'],
  cli: ['api', 'build-logs', 'shell-protocol'],
};

/** What the folders inside operator/ may import of each other. */
const operatorAllowedImports: Record<string, string[]> = {
  shared: [],
  source: ['shared'],
  services: ['shared'],
  images: ['shared', 'source', 'services'],
  kinds: ['shared', 'source', 'services', 'images'],
  reports: ['shared', 'source', 'services', 'images', 'kinds'],
  'cluster-checks': ['shared', 'config.ts'],
  'storage-migration': ['shared'],
  controllers: ['shared', 'source', 'services', 'images', 'kinds', 'reports', 'config.ts'],
};
const operatorFolders = [...Object.keys(operatorAllowedImports), 'config.ts'];

/** What the folders inside api/ may import of each other. */
const apiAllowedImports: Record<string, string[]> = {
  shared: [],
  'user-records': ['shared'],
  cluster: ['shared', 'user-records'],
  auth: ['shared', 'user-records', 'cluster'],
  limits: ['shared', 'cluster', 'auth'],
  http: ['shared', 'user-records', 'cluster', 'auth', 'limits'],
  openapi: ['http'],
  panel: ['limits'],
  'command-line': ['http'],
  webhooks: ['shared', 'cluster', 'limits', 'http'],
  environments: ['shared', 'cluster', 'auth', 'limits', 'http'],
  'environment-access': ['shared', 'user-records', 'cluster', 'auth', 'limits', 'http', 'environments'],
  variables: ['shared', 'cluster', 'auth', 'limits', 'http'],
  'service-file-check': ['shared', 'auth', 'limits', 'http', 'variables'],
  repositories: [
    ...['shared', 'cluster', 'auth', 'limits', 'http'],
    ...['webhooks', 'environments', 'environment-access', 'variables', 'service-file-check'],
  ],
  groups: ['shared', 'user-records', 'cluster', 'auth', 'limits', 'http', 'variables', 'repositories'],
  users: ['shared', 'user-records', 'cluster', 'auth', 'limits', 'http', 'groups'],
  events: [
    ...['shared', 'user-records', 'cluster', 'auth', 'limits', 'http'],
    ...['environments', 'repositories', 'groups'],
  ],
  'environment-details': ['shared', 'cluster', 'auth', 'limits', 'http', 'environments', 'variables'],
  shell: ['shared', 'cluster', 'auth', 'limits', 'http', 'environments'],
  overview: [
    ...['shared', 'cluster', 'auth', 'limits', 'http'],
    ...['environments', 'repositories', 'groups', 'events'],
  ],
};
const apiFolders = [
  ...Object.keys(apiAllowedImports),
  'app-options.ts',
  'app.ts',
  'config.ts',
  'endpoints.ts',
  'services.ts',
];

/** What the folders of the kinds may import of each other. */
const kindsAllowedImports: Record<string, string[]> = {
  group: [],
  orphans: [],
  housekeeping: [],
  repository: ['group'],
  reusable: ['group'],
  environment: ['group', 'repository', 'reusable'],
};
const kindFolders = Object.keys(kindsAllowedImports);

type Forbidden = { message: string; allowTypeImports?: boolean } & ({ regex: string } | { group: string[] });

/** The imports that lead from a folder, at any depth in it, to those of its siblings that it may not import. */
function forbidden(folder: string, siblings: readonly string[], allowed: readonly string[]): Forbidden[] {
  const others = siblings.filter((other) => other !== folder && !allowed.includes(other));
  return others.map((other) => ({
    regex: `^(\\.\\./)+${other}${other.endsWith('.ts') ? '$' : '/'}`,
    message: `${folder}/ may not import ${other}: see docs/explanation/architecture.md`,
  }));
}

/** `ofTest`: which paths in test/ it may not import, as in a .gitignore. */
function importRule(folder: string, ofTest: string[], more: readonly Forbidden[] = []) {
  const patterns = [...forbidden(folder, Object.keys(allowedImports), allowedImports[folder] ?? []), ...more];
  const test = { group: ofTest, message: `${folder}/ may not import test/: see docs/explanation/architecture.md` };
  return { 'no-restricted-imports': ['error', { patterns: [...patterns, test] }] satisfies ['error', object] };
}

/** What clients of the API import of the server's code: types, and how logs read terminal sequences. */
const clients = ['panel', 'cli'];

/** A client has a folder api/ of its own, so the depth of a file decides which one a path names. */
function clientRule(client: string, depth: number, ofTest: string[]) {
  return importRule(client, ofTest, [
    {
      regex: `^(\\.\\./){${depth}}api/`,
      allowTypeImports: true,
      message: `${client}/ imports types only from api/: see docs/explanation/architecture.md`,
    },
    {
      group: ['**/build-logs/*', '!**/build-logs/controls.ts'],
      allowTypeImports: true,
      message: `${client}/ imports types and controls.ts only from build-logs/: see docs/explanation/architecture.md`,
    },
  ]);
}

/** What the kubectl plugin, which has no API to call, imports of it: how custom resources are shown and written. */
const pluginAllowedImports = [
  'environment-details/effective-variables',
  'environments/(build-view|environment-parameters|environment-service|environment-view|find-build|listed-environment)',
  'groups/group-view',
  'overview/environment-list',
  'repositories/listed-repository',
  'shell/service-pod',
  'shared/errors',
  'variables/variable-view',
];

const pluginRule = {
  files: ['cli/kubectl/*.ts'],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          ...Object.keys(allowedImports)
            .filter((folder) => !['cli', 'api', 'crds', 'kubernetes', 'build-logs', 'shell-protocol'].includes(folder))
            .map((folder) => ({
              regex: `^(\\.\\./)+${folder}/`,
              message: `cli/kubectl/ may not import ${folder}: see docs/explanation/architecture.md`,
            })),
          {
            regex: `^\\.\\./\\.\\./api/(?!(${pluginAllowedImports.join('|')})\\.ts$)`,
            allowTypeImports: true,
            message: 'cli/kubectl/ imports only how the API shows and writes custom resources: see oxlint.imports.ts',
          },
          {
            regex: '^\\.\\./\\.\\./kubernetes/(?!(api-error|resource-type)\\.ts$)',
            allowTypeImports: true,
            message: 'cli/kubectl/ brings no client of Kubernetes: kubectl is one',
          },
          {
            group: ['**/build-logs/*'],
            allowTypeImports: true,
            message: 'cli/ imports types only from build-logs/: see docs/explanation/architecture.md',
          },
          { group: ['**/test/**'], message: 'cli/ may not import test/: see docs/explanation/architecture.md' },
        ],
      },
    ] satisfies ['error', object],
  },
};

const clientFiles = clients.flatMap((client) =>
  [1, 2, 3].map((depth) => ({ client, depth, files: `${client}/${'*/'.repeat(depth - 1)}*` })),
);

/** Overrides for the linter. If two rules apply to a file, the later one counts. Tests and the code that they share may import everything. */
export const importRules = [
  ...Object.keys(allowedImports).map((folder) => ({
    files: [`${folder}/**/*.{ts,tsx}`],
    rules: importRule(folder, ['**/test/**']),
  })),
  ...Object.entries(operatorAllowedImports).map(([folder, allowed]) => ({
    files: [`operator/${folder}/**/*.ts`],
    rules: importRule('operator', ['**/test/**'], forbidden(folder, operatorFolders, allowed)),
  })),
  ...Object.entries(kindsAllowedImports).map(([kind, allowed]) => ({
    files: [`operator/kinds/${kind}/**/*.ts`],
    rules: importRule(
      'operator',
      ['**/test/**'],
      [
        ...forbidden('kinds', operatorFolders, operatorAllowedImports['kinds'] ?? []),
        ...forbidden(kind, kindFolders, allowed),
      ],
    ),
  })),
  ...Object.entries(apiAllowedImports).map(([folder, allowed]) => ({
    files: [`api/${folder}/**/*.ts`],
    rules: importRule('api', ['**/test/**'], forbidden(folder, apiFolders, allowed)),
  })),
  ...clientFiles.map(({ client, depth, files }) => ({
    files: [`${files}.{ts,tsx}`],
    rules: clientRule(client, depth, ['**/test/**']),
  })),
  pluginRule,
  { files: ['operator/**/testing/**'], rules: importRule('operator', ['**/test/**']) },
  ...Object.keys(allowedImports).map((folder) => ({
    files: [`${folder}/**/*.test.ts`],
    rules: importRule(folder, ['**/test/**', '!**/test/properties.ts']),
  })),
  ...clientFiles
    .filter(({ client }) => client === 'panel')
    .map(({ client, depth, files }) => ({
      files: [`${files}.test.ts`],
      rules: clientRule(client, depth, ['**/test/**', '!**/test/properties.ts']),
    })),
];
