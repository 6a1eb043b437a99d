import { describe, expect, test } from '@jest/globals';
import { environmentFacts } from '../../../../crds/environment-facts.ts';
import { Stalled } from '../../../shared/errors.ts';
import { SourceRefusedError, SourceUnreachableError } from '../../../source/errors.ts';
import { SnapshotFiles } from '../../../source/git/snapshot-files.ts';
import type { RefLocation, Source, SourceSnapshot } from '../../../source/git/source.ts';
import { parseTree } from '../../../source/git/tree.ts';
import type { RepositoryConfiguration } from '../../repository/configuration.ts';
import type { IncludedSources } from './included-repositories.ts';
import { CommitRefused, type PlanRequest } from './plan-request.ts';
import { RevisionPlanner } from './revision-planner.ts';
import type { Revision } from './revision.ts';
import type { RevisionStore } from './revision-store.ts';

type Files = Record<string, string>;

const hashKey = Buffer.from('key');
const hex = (text: string) => Buffer.from(text).toString('hex');
const shop = (repositories: string, more = ''): Files => ({
  'compose.yaml': `services: { web: { build: ., ports: ['80'] ${more} } }\nx-coppice: { repositories: ${repositories} }\n`,
  Dockerfile: 'FROM x\n',
});
const backend = (more = '', dockerfile = 'FROM x\n'): Files => ({
  'compose.yaml': `services: { api: { build: api, ports: ['81'] ${more} } }\n`,
  'api/Dockerfile': dockerfile,
});
const variable = (value: string, secret = false) => ({ value, visibility: 'always' as const, secret });

/** Repositories at a Git host, by name: what each branch's newest commit contains. */
class GitWorld {
  readonly branches = new Map<string, Files>();
  readonly variables = new Map<string, string>();
  readonly serviceFiles = new Map<string, RepositoryConfiguration['serviceFile']>();
  /** Repositories that the group has; a fork can include those of `open`. */
  readonly group = new Set(['backend', 'search']);
  readonly open = new Set<string>();
  /** Repositories whose access setting is stricter than the environment's. */
  readonly stricter = new Set<string>();
  readonly reads: string[] = [];
  fault: ((origin: string) => Error | undefined) | undefined;
  confirm: (name: string) => Promise<void> = () => Promise.resolve();
  readonly saved: Revision[] = [];
  readonly planner: RevisionPlanner;

  constructor(branches: Record<string, Files>) {
    for (const [name, files] of Object.entries(branches)) this.branches.set(name, files);
    const revisions = {
      find: (_location: object, id: string) => Promise.resolve(this.saved.find((one) => one.id === id)),
      save: (_location: object, revision: Revision) => {
        this.saved.push(revision);
        return Promise.resolve(revision);
      },
    } as unknown as RevisionStore;
    const settings = {
      ...{ registry: 'registry:5000', sourceDeadlineSeconds: 60, onBuildAhead: () => undefined },
      hashKey: () => Promise.resolve(hashKey),
      budget: { requireWrites: () => undefined, of: () => ({ requireRoom: () => undefined, spend: () => undefined }) },
    };
    this.planner = new RevisionPlanner(this.#source(), revisions, settings, () => new Date(0));
  }

  plan(more: Partial<PlanRequest> = {}): Promise<Revision> {
    return this.planner.plan(this.request(more));
  }

  request(more: Partial<PlanRequest> = {}, sources: Partial<IncludedSources> = {}): PlanRequest {
    const ref = { name: 'feature', type: 'branch' as const };
    const facts = environmentFacts(new URL('http://env.localhost'), {
      id: { group: 'acme', name: 'shop-feature' },
      ...{ repository: 'shop', ref },
    });
    const location = { access: { origin: 'shop', credentials: undefined }, refName: 'refs/heads/feature' };
    return {
      ...{ group: 'acme', environment: 'group-acme/shop-feature', ref, facts, build: 1 },
      kept: this.saved.map(({ id }) => id),
      configuration: this.configuration('shop'),
      locate: () => Promise.resolve(location),
      isTrusted: () => true,
      requireApproval: () => undefined,
      included: this.sources(sources),
      location: { namespace: 'env-x', namespaceUid: 'u', labels: {} },
      ...more,
    };
  }

  sources(more: Partial<IncludedSources> = {}): IncludedSources {
    const mayBeFork = more.mayBeFork ?? (() => false);
    return {
      canInclude: (name) => this.group.has(name) && (!mayBeFork() || this.open.has(name)),
      opensFurther: (name) => this.stricter.has(name),
      configuration: (name) => Promise.resolve(this.configuration(name)),
      sourceBranch: () => 'feature',
      mayBeFork,
      ...more,
    };
  }

  configuration(name: string): RepositoryConfiguration {
    return {
      repositoryUid: `uid-of-${name}`,
      host: { access: { origin: name, credentials: undefined } } as RepositoryConfiguration['host'],
      confirmRepository: () => this.confirm(name),
      variables: new Map([...this.variables].map(([key, value]) => [key, variable(value, true)])),
      serviceFile: this.serviceFiles.get(name) ?? { mode: 'repo' },
      ...{ trustForks: false, registrySecrets: [] },
    };
  }

  commit(name: string, branch: string): string {
    return hex(`${name} ${branch} ${JSON.stringify(this.branches.get(`${name} ${branch}`))}`).slice(-40);
  }

  #source(): Source {
    const known = (origin: string, refName: string) => {
      const fault = this.fault?.(origin);
      if (fault) throw fault;
      const branch = refName.replace('refs/heads/', '');
      const files = this.branches.get(`${origin} ${branch}`);
      return files && { files, branch };
    };
    const wrapped = async <T>(work: () => T) => {
      await Promise.resolve();
      return work();
    };
    return {
      resolve: ({ access: { origin }, refName }: RefLocation) =>
        wrapped(() => this.commit(origin, known(origin, refName)?.branch ?? '')),
      commitsOf: ({ origin }: { origin: string }, names: readonly string[]) =>
        wrapped(() => {
          const found = names.flatMap((name) => {
            const one = known(origin, name);
            return one ? [[name, this.commit(origin, one.branch)] as const] : [];
          });
          return new Map(found);
        }),
      snapshot: async (
        { access: { origin }, refName }: RefLocation,
        read: (one: SourceSnapshot) => Promise<unknown>,
      ) => {
        const one = known(origin, refName);
        if (!one) throw new SourceRefusedError('RefNotFound', 'gone');
        this.reads.push(`${origin} ${one.branch}`);
        const folders = new Set(
          Object.keys(one.files).flatMap((path) => (path.includes('/') ? [path.split('/')[0]] : [])),
        );
        const listing = [
          ...[...folders].map((folder) => `040000 tree ${hex(`${folder}${JSON.stringify(one.files)}`)}\t${folder}\0`),
          ...Object.entries(one.files).map(([path, text]) => `100644 blob ${hex(text)}\t${path}\0`),
        ];
        const entries = parseTree(listing.join(''), hex(JSON.stringify(one.files)));
        const files = new SnapshotFiles(entries, (id) => Promise.resolve(Buffer.from(id, 'hex')));
        const commit = this.commit(origin, one.branch);
        return read({ ...{ commit, author: 'Ada', subject: 'Change' }, entries, files });
      },
    } as unknown as Source;
  }
}

const serviceNames = ({ serviceFile }: Revision) => serviceFile.services.map(({ name }) => name);
const isFork = { mayBeFork: () => true, sourceBranch: () => undefined };

describe('an environment of several repositories', () => {
  test('has the services of all, each built from its own repository', async () => {
    const world = new GitWorld({
      'shop feature': shop('[{ name: backend, alias: api }]'),
      'backend feature': backend(),
    });
    const revision = await world.plan();
    expect(serviceNames(revision)).toEqual(['api', 'web']);
    expect(revision.images.map(({ service, included, context }) => [service, included, context])).toEqual([
      ['web', undefined, '.'],
      ['api', 'backend', 'api'],
    ]);
    expect(revision.serviceFile.publicRoutes).toEqual([
      { service: 'web', port: 80, path: '/' },
      { service: 'api', port: 81, path: '/', alias: 'api' },
    ]);
    const commit = world.commit('backend', 'feature');
    expect(revision.repositories).toEqual([
      { name: 'backend', branches: ['feature'], branch: 'feature', commit, services: ['api'] },
    ]);
    expect(revision.commit).toBe(world.commit('shop', 'feature'));
  });

  test.each([
    ['the branch of the same name', ['main', 'feature'], 'feature'],
    ['the fallback without one', ['main'], 'main'],
  ])('takes %s', async (_what, branches, expected) => {
    const world = new GitWorld({ 'shop feature': shop('[{ name: backend, fallback: main }]') });
    for (const branch of branches) world.branches.set(`backend ${branch}`, backend());
    const { repositories } = await world.plan();
    expect(repositories).toMatchObject([{ branch: expected, branches: ['feature', 'main'] }]);
  });

  test('gives each file the variables of its own repository, and its own commit', async () => {
    const world = new GitWorld({
      'shop feature': shop('[{ name: backend }]', ', environment: [COPPICE_COMMIT, COPPICE_REPOSITORY]'),
      'backend feature': backend(', environment: [COPPICE_COMMIT, COPPICE_REPOSITORY, TOKEN]'),
    });
    world.variables.set('TOKEN', 'hunter2hunter2');
    const revision = await world.plan({ configuration: { ...world.configuration('shop'), variables: new Map() } });
    const [api, web] = revision.serviceFile.services.map(({ environment }) => environment);
    expect(web).toEqual({ COPPICE_COMMIT: world.commit('shop', 'feature'), COPPICE_REPOSITORY: 'acme.shop' });
    expect(api).toMatchObject({ COPPICE_COMMIT: world.commit('backend', 'feature'), COPPICE_REPOSITORY: 'acme.shop' });
    // Pods take it from a Secret, and logs mask it.
    expect(revision.hidden?.['api']?.variables).toEqual({ TOKEN: 'hunter2hunter2' });
    expect(revision.masked).toEqual(['hunter2hunter2']);
  });

  test('reads the service file of the settings of the included repository', async () => {
    const world = new GitWorld({ 'shop feature': shop('[{ name: backend }]'), 'backend feature': {} });
    world.serviceFiles.set('backend', { mode: 'panel', content: 'services: { db: { image: "postgres:18" } }' });
    expect(serviceNames(await world.plan())).toEqual(['db', 'web']);
  });

  test('does not follow what an included repository includes, and says so', async () => {
    const files = {
      'compose.yaml': `${backend()['compose.yaml'] ?? ''}x-coppice: { repositories: [{ name: shop }, { name: search }] }\n`,
    };
    const world = new GitWorld({
      'shop feature': shop('[{ name: backend }]'),
      'backend feature': { ...backend(), ...files },
    });
    const revision = await world.plan();
    expect(world.reads).toEqual(['shop feature', 'backend feature']);
    expect(revision.warnings).toEqual([
      'backend: its own x-coppice.repositories (search) are not followed: name those that you need in shop',
    ]);
  });
});

describe('the revision of several repositories', () => {
  const start = async () => {
    const world = new GitWorld({
      'shop feature': shop('[{ name: backend, fallback: main }]'),
      'backend main': backend(),
    });
    return { world, first: await world.plan() };
  };
  const addresses = ({ images }: Revision) =>
    Object.fromEntries(images.map(({ service, address }) => [service, address]));

  test('is planned once for the same commits', async () => {
    const { world, first } = await start();
    expect(await world.plan()).toBe(first);
    expect((await world.planner.newest(world.request())).planned?.revisions).toContain(first.id);
    expect(world.saved).toHaveLength(1);
  });

  test.each<[string, (world: GitWorld) => void, string[]]>([
    ['a commit of the included one', (world) => world.branches.set('backend main', backend('', 'FROM y\n')), ['api']],
    [
      'a commit of the own one',
      (world) => {
        const files = shop('[{ name: backend, fallback: main }]');
        world.branches.set('shop feature', { ...files, Dockerfile: 'FROM y\n' });
      },
      ['web'],
    ],
    ['a branch of the same name', (world) => world.branches.set('backend feature', backend()), []],
    ['a variable of the included one', (world) => world.variables.set('TOKEN', 'x'), []],
    ['its settings', (world) => world.serviceFiles.set('backend', { mode: 'both', content: 'services: {}' }), []],
  ])('is another one after %s, and builds only what changed', async (_what, change, built) => {
    const { world, first } = await start();
    change(world);
    const newest = await world.planner.newest(world.request());
    expect(newest.planned?.revisions).not.toContain(first.id);
    const second = await world.plan();
    expect(second.id).not.toBe(first.id);
    const [before, after] = [addresses(first), addresses(second)];
    expect(Object.keys(after).filter((service) => before[service] !== after[service])).toEqual(built);
  });

  test('reports which commits are newest', async () => {
    const { world } = await start();
    world.branches.set('backend main', backend('', 'FROM y\n'));
    const { planned } = await world.planner.newest(world.request());
    expect(planned?.repositories).toEqual([
      { name: 'backend', branch: 'main', commit: world.commit('backend', 'main') },
    ]);
  });

  test('keeps the ID of an older Coppice without included repositories', async () => {
    const world = new GitWorld({ 'shop feature': { Dockerfile: 'FROM x\n' } });
    const { base, repositories, masked } = await world.plan();
    expect([base, repositories, masked]).toEqual([undefined, undefined, undefined]);
  });
});

describe('what cannot be included', () => {
  const refusal = async (world: GitWorld, request: PlanRequest = world.request()): Promise<CommitRefused> => {
    const error: unknown = await world.planner.plan(request).catch((thrown: unknown) => thrown);
    if (error instanceof CommitRefused) return error;
    throw new Error('it was planned, or refused otherwise', { cause: error });
  };

  test.each<[string, string, Record<string, Files>, string, RegExp]>([
    [
      'a missing branch',
      '[{ name: backend }]',
      { 'backend main': backend() },
      'IncludedBranchNotFound',
      /backend has no branch feature\. Push it there, or name a fallback/,
    ],
    [
      'a missing fallback',
      '[{ name: backend, fallback: trunk }]',
      { 'backend main': backend() },
      'IncludedBranchNotFound',
      /none of the branches feature, trunk/,
    ],
    [
      'a missing repository',
      '[{ name: other }]',
      {},
      'IncludedRepositoryNotFound',
      /the group has no repository other\. Add it, or correct the name/,
    ],
    ['itself', '[{ name: shop }]', {}, 'ServiceFileInvalid', /shop is the repository of the file itself/],
    [
      'a broken service file',
      '[{ name: backend }]',
      { 'backend feature': { 'compose.yaml': 'services: { api: { imag: x } }' } },
      'ServiceFileInvalid',
      /^backend: compose\.yaml:1:20: services\.api/m,
    ],
    [
      'a missing Dockerfile',
      '[{ name: backend }]',
      { 'backend feature': { 'compose.yaml': 'services: { api: { build: . } }' } },
      'ServiceFileInvalid',
      /^backend: .*there is no file Dockerfile/,
    ],
    [
      'a service of the same name',
      '[{ name: backend }]',
      { 'backend feature': { 'compose.yaml': 'services: { web: { image: x } }' } },
      'ServiceFileInvalid',
      /the host name web is taken twice, by the service web of shop and by the service web of backend/,
    ],
    [
      "an image of Coppice's own registry",
      '[{ name: backend }]',
      { 'backend feature': { 'compose.yaml': 'services: { api: { image: "registry:5000/acme/shop/web" } }' } },
      'ServiceFileInvalid',
      /cannot be referenced/,
    ],
  ])('is reported: %s', async (_what, list, branches, reason, message) => {
    const world = new GitWorld({ 'shop feature': shop(list), ...branches });
    const error = await refusal(world);
    expect(error).toMatchObject({ reason, commit: world.commit('shop', 'feature') });
    expect(error.message).toMatch(message);
    expect(world.saved).toEqual([]);
  });

  test('keeps what is known of all, so that a push to any of them can fix it and none requests builds for nothing', async () => {
    const world = new GitWorld({
      'shop feature': shop('[{ name: backend }, { name: search, fallback: main }]'),
      'search main': backend(),
    });
    expect((await refusal(world)).repositories).toEqual([
      { name: 'backend', branches: ['feature'] },
      { name: 'search', branches: ['feature', 'main'], branch: 'main', commit: world.commit('search', 'main') },
    ]);
    expect(world.reads).toEqual(['shop feature']);
  });

  test.each([
    ['a trusted environment', {}],
    ['a fork', isFork],
  ])('is a repository whose setting lets in fewer people: %s', async (_what, sources) => {
    const world = new GitWorld({
      'shop feature': shop('[{ name: backend, fallback: main }]'),
      'backend feature': backend(),
      'backend main': backend(),
    });
    world.open.add('backend');
    const first = await world.planner.plan(world.request({}, sources));
    world.stricter.add('backend');
    expect((await world.planner.newest(world.request({}, sources))).planned?.revisions).not.toContain(first.id);
    const refused = await refusal(world, world.request({}, sources));
    expect(refused.reason).toBe('IncludedAccessStricter');
    expect(refused.message).toMatch(
      /backend cannot be included, because its access setting is stricter .*Set the same/,
    );
    expect(world.saved).toEqual([first]);
  });

  test('names the repository that the Git host refuses', async () => {
    const world = new GitWorld({ 'shop feature': shop('[{ name: backend }]') });
    world.fault = (origin) =>
      origin === 'backend' ? new SourceRefusedError('AuthenticationFailed', 'no access') : undefined;
    expect(await refusal(world)).toMatchObject({
      reason: 'AuthenticationFailed',
      message: 'the included repository backend could not be read: no access',
    });
  });

  test('waits for a Git host of an included repository that does not respond', async () => {
    const world = new GitWorld({ 'shop feature': shop('[{ name: backend }]') });
    world.fault = (origin) => (origin === 'backend' ? new SourceUnreachableError('no answer') : undefined);
    await expect(world.plan()).rejects.toThrow(SourceUnreachableError);
    expect(await world.planner.newest(world.request())).toMatchObject({ planned: { repositories: [] } });
  });

  test('does not plan the code of a repository that took over the address', async () => {
    const world = new GitWorld({ 'shop feature': shop('[{ name: backend }]'), 'backend feature': backend() });
    world.confirm = (name) =>
      name === 'backend' ? Promise.reject(new Stalled('RepositoryReplaced', 'another one')) : Promise.resolve();
    expect(await refusal(world)).toMatchObject({ reason: 'RepositoryReplaced' });
    expect(world.saved).toEqual([]);
  });
});

describe("a fork's pull request", () => {
  const worldOf = (list: string) => {
    const world = new GitWorld({
      'shop feature': shop(list),
      'backend feature': backend(', environment: { TOKEN: "x${TOKEN}" }'),
      'backend main': backend(', environment: { TOKEN: "x${TOKEN}" }'),
    });
    world.variables.set('TOKEN', 'hunter2');
    return world;
  };
  const ofFork = (world: GitWorld, isTrusted: boolean) => world.request({ isTrusted: () => isTrusted }, isFork);

  test.each([
    ['one that does not permit it', '[{ name: backend, fallback: main }]'],
    ['one that is missing', '[{ name: other, fallback: main }]'],
  ])('does not include %s, and does not find out which of both it is', async (_what, list) => {
    const world = worldOf(list);
    const error: unknown = await world.planner.plan(ofFork(world, false)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CommitRefused);
    const name = list.includes('backend') ? 'backend' : 'other';
    expect(error).toMatchObject({
      reason: 'IncludedRepositoryNotFound',
      message: `x-coppice.repositories: the group has no repository ${name} that environments of forks can include. Set forks.canInclude in that Repository, or remove it`,
      repositories: [{ name, branches: [] }],
    });
    expect(world.reads).toEqual(['shop feature']);
  });

  test.each([
    ['not trusted', false],
    ['trusted by trustForks', true],
  ])(
    'that is %s takes the fallback, never a branch that it names, and no variables of another repository',
    async (_what, trusted) => {
      const world = worldOf('[{ name: backend, fallback: main }]');
      world.open.add('backend');
      const own = { ...world.configuration('shop'), variables: new Map([['OWN', variable('mine', true)]]) };
      const revision = await world.planner.plan({ ...ofFork(world, trusted), configuration: own });
      expect(revision.repositories).toMatchObject([{ branch: 'main', branches: ['main'] }]);
      expect(JSON.stringify(revision)).not.toContain('hunter2');
      expect([revision.trusted, revision.masked]).toEqual([trusted, []]);
    },
  );

  test('needs a fallback', async () => {
    const world = worldOf('[{ name: backend }]');
    world.open.add('backend');
    await expect(world.planner.plan(ofFork(world, false))).rejects.toThrow('backend has no fallback');
  });
});

test.each([['-x'], ['a*'], ['a b'], ['x'.repeat(201)]])('ignores the branch %j of a pull request', async (branch) => {
  const world = new GitWorld({
    'shop feature': shop('[{ name: backend, fallback: main }]'),
    'backend main': backend(),
  });
  const { repositories } = await world.planner.plan(world.request({}, { sourceBranch: () => branch }));
  expect(repositories).toMatchObject([{ branches: ['main'] }]);
});
