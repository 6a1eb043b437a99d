import { describe, expect, test } from '@jest/globals';
import { EXAMPLE_FACTS, OwnVariables } from '../../../service-file/own-variables.ts';
import { BUILD_DEFAULTS, SERVICE_DEFAULTS, type Service } from '../../../service-file/schema.ts';
import { SnapshotFiles } from '../../source/git/snapshot-files.ts';
import { parseTree } from '../../source/git/tree.ts';
import { planImages } from './image-plan.ts';
import { WatchBudget } from './watch.ts';

const options = { hashKey: Buffer.from('key'), own: new OwnVariables(EXAMPLE_FACTS) };
const listing = [
  '040000 tree aaa\tweb',
  '100644 blob bbb\tweb/Dockerfile',
  '100644 blob b01\tweb/index.html',
  '120000 blob ccc\tlink',
  '120000 blob ddd\tweb/LinkedDockerfile',
  '100644 blob fff\tweb/LargeDockerfile',
  '100755 blob eee\tDockerfile',
  '040000 tree a02\tapi',
  '100644 blob b02\tapi/main.ts',
  '160000 commit ab0\tmodules/lib',
];
const contents: Record<string, string> = { bbb: 'FROM node:24', eee: 'ARG V=1\nFROM busybox:$V' };

function snapshot(lines = listing) {
  const entries = parseTree(`${lines.join('\0')}\0`, 'root');
  const readBlob = (id: string) => {
    const text = contents[id];
    return text === undefined ? Promise.reject(new Error(`unexpected ${id}`)) : Promise.resolve(Buffer.from(text));
  };
  return { entries, files: new SnapshotFiles(entries, readBlob) };
}

function service(build: Partial<NonNullable<Service['build']>>, platform?: string): Service {
  return { ...SERVICE_DEFAULTS, name: 'web', platform, build: { ...BUILD_DEFAULTS, ...build } };
}

async function addressOf(build: Partial<NonNullable<Service['build']>>, lines = listing): Promise<string | undefined> {
  return (await planImages([service(build)], snapshot(lines), options)).images[0]?.address;
}

test('refuses a Dockerfile above 128 KiB for each service that uses it', async () => {
  const { entries } = snapshot();
  const files = new SnapshotFiles(entries, () => Promise.resolve(Buffer.alloc(128 * 1024 + 1)));
  const { images, problems } = await planImages([service({}), service({ target: 'x' })], { entries, files }, options);
  expect(images).toEqual([]);
  expect(problems).toEqual(
    Array(2).fill('service web: build.dockerfile: Dockerfile is larger than 128 KiB. Shorten it'),
  );
});

test('plans another image when a .gitattributes above the context or the Dockerfile changes', async () => {
  const withFile = (path: string, id: string) => [...listing, `100644 blob ${id}\t${path}`];
  const build = { context: 'web', watch: ['web/index.html'] };
  const addresses = await Promise.all([
    addressOf(build),
    ...['.gitattributes', 'web/.gitattributes'].flatMap((path) =>
      ['f01', 'f02'].map((id) => addressOf(build, withFile(path, id))),
    ),
  ]);
  expect(new Set(addresses).size).toBe(5);
  expect(await addressOf(build, withFile('api/.gitattributes', 'f01'))).toBe(addresses[0]);
});

test('plans an image for each service with a build, at its paths in the workspace', async () => {
  const secrets = [{ id: 'npm', bundle: 'files-1', key: 'token' }];
  const given = service({ context: 'web', dockerfile: '../Dockerfile', args: { V: '2' }, secrets }, 'linux/arm64');
  const { images, problems } = await planImages([given], snapshot(), options);
  expect(problems).toEqual([]);
  expect(images).toEqual([
    {
      service: 'web',
      address: expect.stringMatching(/^[0-9a-f]{40}$/),
      context: 'web',
      dockerfile: 'Dockerfile',
      platform: 'linux/arm64',
      args: { V: '2' },
      secrets,
      bases: ['docker.io/library/busybox:2'],
    },
  ]);
});

test.each([
  [{ context: 'nowhere' }, /build.context: nowhere is not in the repository/],
  [{ context: 'link' }, /link is a symbolic link, not a folder/],
  [{ context: 'link/deeper' }, /is not in the repository/],
  [{ context: 'Dockerfile' }, /is a file, not a folder/],
  [{ context: 'web', dockerfile: 'LinkedDockerfile' }, /build.dockerfile: web\/LinkedDockerfile is a symbolic link/],
  [{ dockerfile: 'web' }, /web is a folder, not a file/],
  [{ dockerfile: 'modules/lib' }, /is a folder, not a file/],
  [{ context: 'api' }, /no file api\/Dockerfile: add it, name another with build.dockerfile, or run .* `image`/],
  [{ watch: ['nothing/**'] }, /x-coppice.watch: no file in the repository matches nothing/],
])('refuses %j', async (build, problem) => {
  expect(await planImages([service(build)], snapshot(), options)).toEqual({
    images: [],
    problems: [expect.stringMatching(problem)],
  });
});

test('plans no image for a service without a build', async () => {
  const { build, ...rest } = service({});
  expect(build).toBeDefined();
  expect(await planImages([{ ...rest, image: 'redis:7' }], snapshot(), options)).toEqual({ images: [], problems: [] });
});

test("identifies a context in a submodule by the submodule's commit", async () => {
  const inModule = { context: 'modules/lib/app' };
  const moved = listing.map((line) => line.replace('ab0', 'ab1'));
  expect(await addressOf(inModule)).toMatch(/^[0-9a-f]{40}$/);
  expect(await addressOf(inModule)).not.toBe(await addressOf(inModule, moved));
  expect(await addressOf(inModule)).not.toBe(await addressOf({ context: 'modules/lib' }));
});

describe('watch', () => {
  const changed = (id: string, to: string) => listing.map((line) => line.replace(id, to));
  const build = { context: '.', watch: ['web', '!**/*.html'] };

  test('ignores changes of files that it does not select', async () => {
    const lines = changed('b02', 'b99').map((line) => line.replace('a02', 'a99').replace('b01', 'b98'));
    expect(await addressOf(build, lines)).toBe(await addressOf(build));
    expect(await addressOf({ context: 'web', watch: ['api'] }, changed('aaa', 'a98'))).toBe(
      await addressOf({ context: 'web', watch: ['api'] }),
    );
  });

  test.each([
    ['a file that it picks', changed('ddd', 'd99')],
    ['the Dockerfile, which it need not pick', changed('eee', 'bbb')],
    ['a .dockerignore', [...listing, '100644 blob 111\t.dockerignore']],
    ['a file that is new', [...listing, '100644 blob 222\tweb/new.ts']],
  ])('changes the address with %s', async (_what, lines) => {
    expect(await addressOf(build, lines)).not.toBe(await addressOf(build));
  });

  test('shares a time limit among all services, and reports when it is exceeded', async () => {
    const plan = (count: number) =>
      planImages(
        Array.from({ length: count }, () => service(build)),
        snapshot(),
        options,
        new WatchBudget(1000),
      );
    expect((await plan(1)).problems).toEqual([]);
    expect((await plan(9)).problems).toContainEqual(
      expect.stringMatching(/^service web: x-coppice.watch: the globs .* take too long .*. Use fewer/),
    );
  });
});

test("changes the address with the Dockerfile's own .dockerignore", async () => {
  const build = { context: 'web', dockerfile: '../Dockerfile' };
  expect(await addressOf(build, [...listing, '100644 blob 333\tDockerfile.dockerignore'])).not.toBe(
    await addressOf(build),
  );
});
