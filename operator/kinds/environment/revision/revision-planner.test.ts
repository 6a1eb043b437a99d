import { describe, expect, test } from '@jest/globals';
import { environmentFacts } from '../../../../crds/environment-facts.ts';
import { Stalled, Waiting } from '../../../shared/errors.ts';
import { HostBusyError, SourceRefusedError, SourceUnreachableError } from '../../../source/errors.ts';
import type { Source, SourceSnapshot } from '../../../source/git/source.ts';
import { SnapshotFiles } from '../../../source/git/snapshot-files.ts';
import { parseTree } from '../../../source/git/tree.ts';
import { podTemplate } from '../../../services/objects/pod-template.ts';
import { sampleContext } from '../../../services/objects/testing/sample-context.ts';
import type { PlanRequest } from './plan-request.ts';
import { RevisionPlanner, type RevisionPlannerSettings } from './revision-planner.ts';
import type { Revision } from './revision.ts';
import type { RevisionStore } from './revision-store.ts';

const request = {
  group: 'acme',
  environment: 'group-acme/shop-main',
  kept: [],
  configuration: {
    host: undefined as never,
    confirmRepository: () => Promise.resolve(),
    variables: new Map(),
    serviceFile: { mode: 'repo' },
    repositoryUid: 'r1',
    trustForks: false,
    registrySecrets: [],
  },
  ref: { name: 'main', type: 'branch' },
  facts: environmentFacts(new URL('http://env.localhost:8080'), {
    id: { group: 'acme', name: 'shop-main' },
    repository: 'shop',
    ref: { name: 'main', type: 'branch' },
  }),
  build: 1,
  locate: () =>
    Promise.resolve({ access: { origin: 'http://git/x', credentials: undefined }, refName: 'refs/heads/main' }),
  isTrusted: () => true,
  requireApproval: () => undefined,
  included: {
    canInclude: () => false,
    opensFurther: () => false,
    configuration: () => Promise.reject(new Error('nothing is included')),
    sourceBranch: () => 'main',
    mayBeFork: () => false,
  },
  location: { namespace: 'env-x', namespaceUid: 'u', labels: {} },
} as const;

interface World {
  resolve?: () => Promise<string>;
  snapshot?: () => Promise<void>;
  files?: Record<string, string>;
  commit?: string;
  stored?: Revision;
}

const hashKey = Buffer.from('key');
const hex = (text: string) => Buffer.from(text).toString('hex');

function plannerIn(world: World, more: Partial<RevisionPlannerSettings> = {}) {
  let seconds = 0;
  const saved: Revision[] = [];
  const files = world.files ?? {};
  const listing = Object.keys(files).map((path) => `100644 blob ${hex(path)}\t${path}\0`);
  const entries = parseTree(listing.join(''), 'a1');
  const snapshot: SourceSnapshot = {
    ...{ commit: world.commit ?? 'c1', author: 'Ada', subject: 'Fix the cart' },
    entries,
    files: new SnapshotFiles(entries, (id) =>
      Promise.resolve(Buffer.from(files[Buffer.from(id, 'hex').toString()] ?? '')),
    ),
  };
  const source = {
    resolve: world.resolve ?? (() => Promise.resolve(world.commit ?? 'c1')),
    snapshot: async (_location: object, read: (given: SourceSnapshot) => Promise<Revision>) => {
      await world.snapshot?.();
      return read(snapshot);
    },
  } as unknown as Source;
  const revisions = {
    find: (_location: object, id: string) => Promise.resolve(world.stored ?? saved.find((one) => one.id === id)),
    save: (_location: object, revision: Revision) => {
      saved.push(revision);
      return Promise.resolve(revision);
    },
  } as unknown as RevisionStore;
  const warmed: string[] = [];
  const settings = {
    registry: 'registry:5000',
    sourceDeadlineSeconds: 60,
    hashKey: () => Promise.resolve(hashKey),
    budget: { requireWrites: () => undefined, of: () => ({ requireRoom: () => undefined, spend: () => undefined }) },
    onBuildAhead: (group: string) => void warmed.push(group),
    ...more,
  };
  const planner = new RevisionPlanner(source, revisions, settings, () => new Date(seconds * 1000));
  return { planner, saved, warmed, at: (time: number) => (seconds = time) };
}

const refusals: [string, World, string, RegExp][] = [
  [
    'a ref that is gone',
    { resolve: () => Promise.reject(new SourceRefusedError('RefNotFound', 'gone')) },
    'RefNotFound',
    /gone/,
  ],
  ['no service file', { files: { 'README.md': '' } }, 'ServiceFileInvalid', /no service file/],
  [
    'an unknown key',
    { files: { 'compose.yaml': 'services:\n  web:\n    imag: x\n' } },
    'ServiceFileInvalid',
    /compose\.yaml:3:5/,
  ],
  [
    'a context that is not there',
    { files: { 'compose.yaml': 'services:\n  web:\n    build: ./web\n' } },
    'ServiceFileInvalid',
    /web is not in the repository/,
  ],
  [
    "an image of Coppice's own registry",
    { files: { 'compose.yaml': 'services:\n  web:\n    image: Registry:5000/other/shop/web\n' } },
    'ServiceFileInvalid',
    /cannot be referenced/,
  ],
  [
    'an image by a bare digest',
    { files: { 'compose.yaml': 'services:\n  web:\n    image: "sha256:9dbfea"\n' } },
    'ServiceFileInvalid',
    /is a digest without the name of an image/,
  ],
];

test.each(refusals)('requires the author to act after %s', async (_what, world, reason, words) => {
  const planning = plannerIn(world).planner.plan(request);
  await expect(planning).rejects.toThrow(Stalled);
  await expect(planning).rejects.toMatchObject({ reason, message: expect.stringMatching(words) });
});

test('does not read a commit that was planned before', async () => {
  const stored: Revision = {
    id: 'v1',
    secrets: [],
    commit: 'c1',
    serviceFile: { services: [], publicRoutes: [], volumes: [], bundles: [] },
    images: [],
    warnings: [],
  };
  const { planner, saved, warmed } = plannerIn({ stored, snapshot: () => Promise.reject(new Error('read')) });
  expect(await planner.plan(request)).toBe(stored);
  expect(warmed).toEqual([]);
  expect(saved).toEqual([]);
});

test('reads the commit without asking for it first if nothing was planned yet', async () => {
  const resolve = () => Promise.reject(new Error('asked'));
  const { planner, saved } = plannerIn({ resolve, files: { Dockerfile: 'FROM x\n' } });
  const revision = await planner.plan({ ...request, isFirst: true });
  expect(revision.commit).toBe('c1');
  expect(saved).toEqual([revision]);
});

test('neither reads nor writes the first plan again while it waits to be set up', async () => {
  let reads = 0;
  const snapshot = () => {
    reads++;
    return Promise.resolve();
  };
  const { planner, saved } = plannerIn({ snapshot, files: { Dockerfile: 'FROM x\n' } });
  const revision = await planner.plan({ ...request, isFirst: true });
  expect(await planner.plan({ ...request, isFirst: false })).toBe(revision);
  expect([reads, saved]).toEqual([1, [revision]]);
});

test('reads and does not plan the code of a repository that took over the name', async () => {
  const { planner, saved } = plannerIn({ files: { Dockerfile: 'FROM x\n' } });
  const confirmRepository = () => Promise.reject(new Stalled('RepositoryReplaced', 'another one'));
  const configuration = { ...request.configuration, confirmRepository };
  await expect(planner.plan({ ...request, configuration })).rejects.toMatchObject({ reason: 'RepositoryReplaced' });
  expect(saved).toEqual([]);
});

test('reports a ref that disappears before it is read like one that does not exist', async () => {
  const snapshot = () => Promise.reject(new SourceRefusedError('RefNotFound', "git's words"));
  const planning = plannerIn({ snapshot }).planner.plan({ ...request, isFirst: true });
  await expect(planning).rejects.toMatchObject({
    reason: 'RefNotFound',
    message:
      'the branch main is not in the repository. Push it, then request a build; or delete the environment and correct the name',
  });
});

const toBuild = { Dockerfile: 'FROM x\n' };
const toPull = { 'compose.yaml': 'services:\n  web:\n    image: busybox:1\n' };
test.each([
  ['with an image to build', true, toBuild, ['acme']],
  ['of code that is not trusted', false, toBuild, []],
  ['that builds nothing', true, toPull, []],
] as const)(
  'starts the builder of the group early for a new commit only if a trusted build needs it: %s',
  async (_what, trusted, files, expected) => {
    const { planner, warmed } = plannerIn({ files });
    await planner.plan({ ...request, isTrusted: () => trusted });
    expect(warmed).toEqual(expected);
  },
);

test('reads a repository with only a Dockerfile as one service', async () => {
  const { planner, saved } = plannerIn({ files: { Dockerfile: 'FROM x\nEXPOSE 80\n' } });
  const revision = await planner.plan(request);
  expect(revision.serviceFile.services.map(({ name }) => name)).toEqual(['app']);
  expect(revision.images).toEqual([
    expect.objectContaining({ service: 'app', context: '.', dockerfile: 'Dockerfile' }),
  ]);
  expect(saved).toEqual([revision]);
});

test("plans a fork's commit as another revision than a branch's, and without variables", async () => {
  const variables = new Map([['TOKEN', { value: 'hunter2', visibility: 'always' as const }]]);
  const files = { 'compose.yaml': 'services:\n  web:\n    image: nginx\n    environment: { TOKEN: "x${TOKEN}" }\n' };
  const planned = [];
  for (const trusted of [true, false]) {
    const { planner, saved } = plannerIn({ files });
    const configuration = { ...request.configuration, variables };
    await planner.plan({ ...request, configuration, isTrusted: () => trusted });
    planned.push(saved[0]);
  }
  const [ofBranch, ofFork] = planned;
  expect([ofBranch?.trusted, ofFork?.trusted]).toEqual([true, false]);
  expect(ofBranch?.id).not.toBe(ofFork?.id);
  expect(JSON.stringify(ofBranch?.serviceFile)).toContain('xhunter2');
  expect(JSON.stringify(ofFork)).not.toContain('hunter2');
});

const overridden = (overrides: string, files: Record<string, string> = toPull) => {
  const { planner, saved } = plannerIn({ files });
  const configuration = { ...request.configuration, serviceFile: { mode: 'repo' as const, overrides } };
  return { plan: (isTrusted = true) => planner.plan({ ...request, configuration, isTrusted: () => isTrusted }), saved };
};

test('merges the service file of the environment over that of the repository', async () => {
  const { plan } = overridden('services:\n  web:\n    environment: { LEVEL: debug }\n');
  const [web] = (await plan()).serviceFile.services;
  expect(web).toMatchObject({ image: 'busybox:1', environment: { LEVEL: 'debug' } });
});

test('withholds the service file of the environment from code that is not trusted', async () => {
  const { plan, saved } = overridden('services:\n  web:\n    environment: { KEY: hunter2 }\n');
  await plan(false);
  expect(JSON.stringify(saved)).not.toContain('hunter2');
  const without = plannerIn({ files: toPull });
  expect((await without.planner.plan({ ...request, isTrusted: () => false })).id).toBe(saved[0]?.id);
});

test.each([
  ['services:\n  web:\n    imag: x\n', /overrides:3:5/],
  ['services:\n  web: [\n', /overrides:3:1/],
  ['services:\n  web:\n    image: ${COPPICE_REGISTRY}/other/shop/web\n', /cannot be referenced/],
])('requires the author of overrides to act: %j', async (overrides, message) => {
  await expect(overridden(overrides).plan()).rejects.toMatchObject({
    reason: 'ServiceFileInvalid',
    message: expect.stringMatching(message),
  });
});

test('plans hidden values with the commit, and omits labels that contain them', async () => {
  const files = {
    'compose.yaml': `
services:
  web:
    image: nginx
    environment: {DATABASE: "pg://u:\${PASSWORD}@db", MODE: test}
    labels: {auth: "\${PASSWORD}"}
    secrets: [token]
    command: serve swordfish
secrets: {token: {file: token.txt}}
`,
    'token.txt': 'swordfish\n',
  };
  const { planner } = plannerIn({ files });
  const variables = new Map([['PASSWORD', { value: 'x1', visibility: 'always' as const, secret: true }]]);
  const planned = await planner.plan({ ...request, configuration: { ...request.configuration, variables } });
  expect(planned.hidden?.['web']?.variables).toEqual({ DATABASE: 'pg://u:x1@db', COPPICE_SECRET_1: 'swordfish' });
  expect(planned.serviceFile.services[0]?.labels).toEqual({});
  expect(planned.warnings).toContainEqual('services.web.labels: those that contain a secret are left out');
});

test('decides the trust after the host has reported where the code comes from', async () => {
  const order: string[] = [];
  const { planner } = plannerIn({ files: { Dockerfile: 'FROM x\n' } });
  await planner.plan({
    ...request,
    locate: () => {
      order.push('locate');
      return request.locate();
    },
    isTrusted: () => {
      order.push('trust');
      return false;
    },
  });
  expect(order[0]).toBe('locate');
  expect(order).toContain('trust');
});

describe('a host that is silent', () => {
  const silent = () => Promise.reject(new SourceUnreachableError('no answer'));

  test.each([
    ['at once', { resolve: silent }],
    ['only when files are read', { snapshot: silent }],
  ])('retries %s until the deadline, counted from its first failure', async (_when, world) => {
    const { planner, at } = plannerIn(world);
    for (const time of [1000, 1030, 1059]) {
      at(time);
      await expect(planner.plan(request)).rejects.toThrow(SourceUnreachableError);
    }
    at(1060);
    await expect(planner.plan(request)).rejects.toMatchObject({ reason: 'SourceUnreachable' });
    at(1061);
    await expect(planner.plan(request)).rejects.toThrow(SourceUnreachableError);
  });

  test('forgets an unresponsive host that has not been requested for a long time', async () => {
    const { planner, at } = plannerIn({ resolve: silent });
    const other = { ...request, location: { ...request.location, namespaceUid: 'another' } };
    at(1000);
    await expect(planner.plan(request)).rejects.toThrow(SourceUnreachableError);
    at(1000 + 60 + 3600);
    await expect(planner.plan(other)).rejects.toThrow(SourceUnreachableError);
    await expect(planner.plan(request)).rejects.toThrow(SourceUnreachableError);
  });

  test('waits for a busy host as long as it asks, and never gives up', async () => {
    let answer = new HostBusyError('come back later', 900_000) as Error;
    const { planner, at } = plannerIn({});
    const locate = () => Promise.reject(answer);
    for (const time of [1000, 1900, 2800]) {
      at(time);
      const planning = planner.plan({ ...request, locate });
      await expect(planning).rejects.toThrow(Waiting);
      await expect(planning).rejects.toMatchObject({ reason: 'HostBusy', afterMs: 900_000 });
    }
    answer = new SourceUnreachableError('no answer');
    await expect(planner.plan({ ...request, locate })).rejects.toThrow(SourceUnreachableError);
  });
});

describe('the default platform of services', () => {
  const files = {
    'compose.yaml': 'services: {web: {build: .}, db: {image: "postgres:18", platform: linux/amd64}}',
    Dockerfile: 'FROM scratch\n',
  };
  const planned = (more: Partial<RevisionPlannerSettings>) => plannerIn({ files }, more).planner.plan(request);

  test('is used to build images and to run services', async () => {
    const { serviceFile, images } = await planned({ platform: 'linux/arm64' });
    expect(serviceFile.services.map(({ name, platform }) => [name, platform])).toEqual([
      ['db', 'linux/amd64'],
      ['web', 'linux/arm64'],
    ]);
    expect(images.map(({ platform }) => platform)).toEqual(['linux/arm64']);
  });

  test('is a part of the image address and of the revision', async () => {
    const [without, arm, amd] = await Promise.all(
      [{}, { platform: 'linux/arm64' }, { platform: 'linux/amd64' }].map(planned),
    );
    expect(new Set([without, arm, amd].map((one) => one?.images[0]?.address)).size).toBe(3);
    expect(new Set([without, arm, amd].map((one) => one?.id)).size).toBe(3);
  });

  test('is refused if no node of environments has it', async () => {
    const nodeSelector = { 'kubernetes.io/arch': 'arm64' };
    await expect(planned({ platform: 'linux/arm64', nodeSelector })).rejects.toThrow(
      'services.db.platform: linux/amd64 does not run here: environments run on nodes with kubernetes.io/arch=arm64 only',
    );
  });
});

describe('the variables that Coppice sets', () => {
  const files = {
    'compose.yaml': `
services:
  web: {build: {dockerfile: web.Dockerfile}, environment: [COPPICE_COMMIT], x-coppice: {jobs: [{name: migrate, command: ls}]}}
  api: {build: {dockerfile: api.Dockerfile}}
  db: {image: "postgres:18"}
`,
    'web.Dockerfile': 'FROM x\nARG COPPICE_BUILD\nARG OTHER\n',
    'api.Dockerfile': 'FROM x\nARG COPPICE_ENVIRONMENT=none\n',
  };
  const podsOf = (revision: Revision) => {
    const { serviceFile, own } = revision;
    const images = new Map(revision.images.map(({ service, address }) => [service, address]));
    const context = sampleContext(serviceFile, { own, images });
    const pods = serviceFile.services.map((one) => [one.name, podTemplate(context, one, { drainSeconds: 0 })] as const);
    return new Map(pods.map(([name, pod]) => [name, JSON.stringify(pod)]));
  };
  const imagesOf = ({ images }: Revision) => new Map(images.map(({ service, address }) => [service, address]));
  const differing = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>) =>
    [...one.keys()].filter((name) => one.get(name) !== other.get(name));
  const plan = (world: World, more: Partial<PlanRequest> = {}) =>
    plannerIn({ files, ...world }).planner.plan({ ...request, ...more });

  test('are the arguments of a build whose Dockerfile declares them, and of no other', async () => {
    const { images } = await plan({}, { build: 7 });
    expect(Object.fromEntries(images.map(({ service, args }) => [service, args]))).toEqual({
      web: { COPPICE_BUILD: '7' },
      api: { COPPICE_ENVIRONMENT: 'acme.shop-main' },
    });
  });

  test.each<[string, World, Partial<PlanRequest>, string[], string[]]>([
    ['another commit', { commit: 'c2' }, {}, ['web', 'web-migrate'], []],
    ['another build', {}, { build: 2 }, ['web', 'web-migrate'], ['web']],
    ['the same commit and build', {}, {}, [], []],
  ])('%s changes only what names the commit or build', async (_what, world, more, pods, images) => {
    const [before, after] = [await plan({}), await plan(world, more)];
    expect(differing(imagesOf(before), imagesOf(after))).toEqual(images);
    expect(differing(podsOf(before), podsOf(after)).sort()).toEqual(pods);
  });

  test('are the same for a fork, whose containers have them too', async () => {
    const variables = new Map([['COPPICE_GROUP', { value: 'other', visibility: 'always' as const }]]);
    const configuration = { ...request.configuration, variables };
    const revision = await plan({}, { configuration, isTrusted: () => false });
    expect(revision.own).toEqual({
      COPPICE_ENVIRONMENT: 'acme.shop-main',
      COPPICE_GROUP: 'acme',
      COPPICE_REPOSITORY: 'acme.shop',
      COPPICE_REF: 'main',
      COPPICE_REF_TYPE: 'branch',
      COPPICE_BRANCH: 'main',
      COPPICE_TAG: '',
      COPPICE_PULL_REQUEST: '',
      COPPICE_WEB_URL: 'http://shop-main--acme.env.localhost:8080',
      COPPICE_WEB_HOST: 'shop-main--acme.env.localhost',
    });
    expect(podsOf(revision).get('db')).toContain('{"name":"COPPICE_GROUP","value":"acme"}');
  });

  test.each([
    ['a commit that names no build is planned once', 'FROM x\n', 1],
    ['a commit that names the build is planned for each build', 'FROM x\nARG COPPICE_BUILD\n', 2],
  ])('%s', async (_what, dockerfile, expected) => {
    const { planner, saved } = plannerIn({ files: { ...files, 'web.Dockerfile': dockerfile } });
    for (const build of [1, 1, 2, 2]) {
      const revision = await planner.plan({ ...request, build });
      const newest = await planner.newest({ ...request, build });
      expect(newest.planned?.revisions).toContain(revision.id);
    }
    expect(saved).toHaveLength(expected);
  });

  test('a Dockerfile declares at most 60 of them', async () => {
    const declared = Array.from({ length: 61 }, (_, index) => `ARG COPPICE_WEB_URL_A${index}\n`).join('');
    const planning = plan({ files: { Dockerfile: `FROM x\n${declared}` } });
    await expect(planning).rejects.toThrow("Dockerfile declares more than 60 of Coppice's variables. Remove some");
  });
});
