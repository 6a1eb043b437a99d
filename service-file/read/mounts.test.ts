import { describe, expect, test } from '@jest/globals';
import { FileUnreadableError } from '../files.ts';
import { EXAMPLE_FACTS, OwnVariables } from '../own-variables.ts';
import { memoryFiles } from '../memory-files.ts';
import { readServiceFile } from '../parse.ts';
import type { Mount } from '../schema.ts';
import { oneService } from '../testing/one-service.ts';

const files = {
  'nginx.conf': 'listen 80;',
  'conf/a.conf': 'a',
  'conf/b/c.conf': 'c',
  'app/index.js': '1',
  'data/.gitkeep': '',
  'large.bin': 'x'.repeat(512 * 1024 + 1),
  'app/large.json': 'x'.repeat(512 * 1024 + 1),
};
const rest = 'volumes:\n  data:\n  db_data: { x-coppice: { size: 2g, class: fast } }\n  unused:\n';

const read = (lines: string) => oneService(`${lines}\nports: ["1"]`, { rest, files });

describe('volumes', () => {
  test.each<[string, Mount]>([
    ['data:/data', { type: 'volume', volume: 'data', target: '/data', readOnly: false }],
    ['data:/data/:ro', { type: 'volume', volume: 'data', target: '/data', readOnly: true }],
    ['db_data:/data:rw', { type: 'volume', volume: 'db-data', target: '/data', readOnly: false }],
    [
      '{ type: volume, source: data, target: /d, read_only: true, volume: { subpath: a/b } }',
      { type: 'volume', volume: 'data', target: '/d', readOnly: true, subPath: 'a/b' },
    ],
    ['/code/node_modules', { type: 'empty', target: '/code/node_modules', memory: false }],
    ['{ type: volume, target: /cache }', { type: 'empty', target: '/cache', memory: false }],
    [
      '{ type: tmpfs, target: /run, tmpfs: { size: 64m } }',
      { type: 'empty', target: '/run', memory: true, size: '64Mi' },
    ],
    [
      './nginx.conf:/etc/nginx/nginx.conf:ro',
      {
        type: 'files',
        bundle: expect.stringMatching(/^files-[0-9a-f]{12}$/) as unknown as string,
        target: '/etc/nginx/nginx.conf',
        key: 'nginx.conf',
      },
    ],
    [
      '{ type: bind, source: nginx.conf, target: /a.conf }',
      {
        type: 'files',
        bundle: expect.stringMatching(/^files-/) as unknown as string,
        target: '/a.conf',
        key: 'a.conf',
      },
    ],
    [
      './conf:/etc/conf',
      { type: 'files', bundle: expect.stringMatching(/^files-/) as unknown as string, target: '/etc/conf' },
    ],
  ])('%s', async (item, expected) => {
    const { service, errorLines, warningLines, serviceFile, contents } = await read(`volumes: [ ${quote(item)} ]`);
    expect(errorLines).toEqual([]);
    expect(warningLines).toEqual([]);
    expect(service?.mounts).toEqual([expected]);
    const files = serviceFile?.bundles.flatMap(({ files: all }) => all) ?? [];
    expect([...contents.keys()]).toEqual([...new Set(files.map(({ stored }) => stored?.object))]);
  });

  const quote = (item: string): string => (item.startsWith('{') ? item : JSON.stringify(item));

  test('declares only mounted volumes', async () => {
    const { serviceFile } = await read('volumes: [db_data:/d]');
    expect(serviceFile?.volumes).toEqual([{ name: 'db-data', size: '2Gi', storageClass: 'fast' }]);
  });

  test('mounts a folder as the files in it, by their paths', async () => {
    const { serviceFile, contents } = await read('volumes: ["./conf:/etc/conf:ro"]');
    const [object] = contents.keys();
    expect(serviceFile?.bundles).toEqual([
      {
        name: expect.stringMatching(/^files-/),
        secret: false,
        files: [
          { key: 'a.conf', path: 'a.conf', mode: 0o644, stored: { object, key: 'a.conf', bytes: 1 } },
          { key: 'b_c.conf', path: 'b/c.conf', mode: 0o644, stored: { object, key: 'b_c.conf', bytes: 1 } },
        ],
      },
    ]);
    const [bytes] = contents.values();
    expect(bytes?.get('b_c.conf')?.toString()).toBe('c');
  });

  test('uses one bundle for a file that is mounted twice', async () => {
    const { serviceFile } = await read('volumes: ["./nginx.conf:/a/x.conf", "./nginx.conf:/b/x.conf"]');
    expect(serviceFile?.bundles).toHaveLength(1);
  });

  test.each([
    ['build: app\nvolumes: ["./app:/code"]', 'the built image already contains "./app"'],
    ['build: app\nvolumes: [".:/code"]', 'the built image already contains "."'],
    ['build: .\nvolumes: ["./app:/code"]', 'the built image already contains "./app"'],
    ['build: app\nvolumes: ["./app/large.json:/code/large.json"]', 'too large to be mounted'],
    ['volumes: ["/etc/localtime:/etc/localtime:ro"]', 'set the variable TZ'],
  ])('%s: mounts nothing, with a warning', async (lines, message) => {
    const { service, errorLines, warningLines } = await read(lines);
    expect(errorLines).toEqual([]);
    expect(service?.mounts).toEqual([]);
    expect(warningLines).toContainEqual(expect.stringContaining(message));
  });

  test('mounts a folder beside the build context', async () => {
    const { service } = await read('build: app\nvolumes: ["./conf:/etc/conf:ro"]');
    expect(service?.mounts).toMatchObject([{ type: 'files', target: '/etc/conf' }]);
  });

  test.each(['./data:/var/lib/data', './pgdata:/var/lib/data', '../web/./pgdata/:/var/lib/data'])(
    '%s: turns an empty folder into a volume',
    async (item) => {
      const parsed = await oneService(`volumes: ["${item.replace('../web/', '')}"]\nports: ["1"]`, { rest, files });
      expect(parsed.errorLines).toEqual([]);
      expect(parsed.warningLines).toEqual([
        expect.stringContaining('it becomes a volume, which is empty at first and is kept'),
      ]);
      expect(parsed.serviceFile?.volumes).toEqual([{ name: expect.stringMatching(/^folder-[0-9a-f]{12}$/) }]);
      expect(parsed.service?.mounts).toMatchObject([{ type: 'volume', target: '/var/lib/data' }]);
    },
  );

  test.each([
    ['data:/d:z', 'the option "z" is ignored'],
    ['./nginx.conf:/a.conf:rw', 'mounted read-only'],
  ])('reports %s', async (item, message) => {
    const { errorLines, warningLines } = await read(`volumes: ["${item}"]`);
    expect(errorLines).toEqual([]);
    expect(warningLines).toEqual([expect.stringContaining(message)]);
  });

  test.each([
    ['/var/run/docker.sock:/var/run/docker.sock', 'refused: there is no Docker socket'],
    ['/srv:/srv', 'refused: "/srv" is a path of the machine'],
    ['~/data:/data', 'refused: "~/data" is a path of the machine'],
    ['C:\\\\data:/data', 'is a path of a Windows machine'],
    ['../up:/up', 'leads out of the repository'],
    ['./a/../../up:/up', 'leads out of the repository'],
    ['./nothing.conf:/etc/a.conf', 'there is no "nothing.conf" in the repository'],
    ['./.env.local:/app/.env', 'there is no ".env.local" in the repository'],
    ['./large.bin:/large.bin', 'larger than 512 KiB'],
    ['dat:/d', 'the volume "dat" is not declared: did you mean "data"?'],
    ['zzzzz:/d', "is not declared: add it to the top level's volumes"],
    ['data:d', 'is not absolute'],
    ['data:/', 'nothing can be mounted at "/"'],
    ['data:/proc/x', 'the container runtime manages it'],
    ['data:/a/../sys', 'the container runtime manages it'],
    ['data:/d:what', '"what" is not an option of a mount'],
    ['data:/d:ro:x', 'is not a mount'],
    [':/d', 'is not a mount'],
  ])('refuses %s', async (item, message) => {
    const { errorLines } = await read(`volumes: ["${item}"]`);
    expect(errorLines).toEqual([expect.stringMatching(/^1:11 volumes\[0\] /)]);
    expect(errorLines[0]).toContain(message);
  });

  test.each([
    ['{ target: /d }', '1:11 volumes[0] has no type'],
    ['{ type: bind, target: /d }', '1:11 volumes[0] has no source'],
    ['{ type: volume, source: data }', '1:11 volumes[0] has no target'],
    ['{ type: npipe, source: a, target: /d }', '1:19 volumes[0].type refused: "npipe" cannot be mounted'],
    ['{ type: volume, source: data, target: /d, volume: { subpath: ../a } }', 'is not a folder of a volume'],
    ['{ type: tmpfs, target: /d, tmpfs: { size: much } }', '"much" is not a size'],
    [
      '{ type: bind, source: ./no, target: /d, bind: { create_host_path: false } }',
      'there is no "no" in the repository',
    ],
    ['{ type: image, source: a, target: /d, image: { subpath: b } }', 'refused: images are not mounted'],
  ])('refuses %s', async (item, message) => {
    const { errorLines } = await read(`volumes: [${item}]`);
    expect(errorLines.join('\n')).toContain(message);
  });

  test('refuses two mounts at one path, wherever they come from', async () => {
    const { errorLines } = await read('volumes: [data:/run]\ntmpfs: /run/');
    expect(errorLines).toEqual(['2:8 tmpfs something else is mounted at "/run" already: choose another path']);
  });
});

test.each([
  ['volumes: { a: { driver: nfs } }', 'warning', "volumes.a.driver ignored: the cluster's storage class"],
  ['volumes: { a: { external: true } }', 'warning', 'volumes.a.external ignored: there is no volume outside'],
  ['volumes: { a: { driver_opts: { type: tmpfs, device: tmpfs } } }', 'warning', 'volumes.a.driver_opts ignored'],
  [
    'volumes: { a: { driver_opts: { type: none, o: bind, device: /srv } } }',
    'error',
    'device refused: a volume cannot be a folder',
  ],
  ['volumes: { a: { x-coppice: { size: 0 } } }', 'error', '"0" is not a size'],
  ['volumes: { a: { x-coppice: { class: A_b } } }', 'error', '"A_b" is not a name of a storage class'],
  ['volumes: { a: { x-coppice: { sise: 1g } } }', 'error', 'did you mean "size"?'],
])('report for %s: %s', async (top, kind, message) => {
  const { errors, warnings } = await oneService('ports: ["1"]', { rest: top });
  const lines = (kind === 'error' ? errors : warnings).map((problem) => `${problem.path} ${problem.message}`);
  expect(lines.join('\n')).toContain(message);
});

describe('tmpfs and shm_size', () => {
  test.each<[string, Mount[]]>([
    ['tmpfs: /run', [{ type: 'empty', target: '/run', memory: true }]],
    [
      'tmpfs: ["/run:size=64m", /tmp]',
      [
        { type: 'empty', target: '/run', memory: true, size: '64Mi' },
        { type: 'empty', target: '/tmp', memory: true },
      ],
    ],
    ['shm_size: 1gb', [{ type: 'empty', target: '/dev/shm', memory: true, size: '1Gi' }]],
  ])('%s', async (lines, expected) => {
    const { service, errorLines, warningLines } = await read(lines);
    expect([...errorLines, ...warningLines]).toEqual([]);
    expect(service?.mounts).toEqual(expected);
  });

  test('reports other options of a tmpfs', async () => {
    const { warningLines } = await read('tmpfs: "/run:mode=1777"');
    expect(warningLines).toEqual([expect.stringContaining('1:8 tmpfs the option "mode" is ignored')]);
  });
});

describe('a hostile mount', () => {
  const withKind = (kind: 'symlink' | 'submodule') => {
    const memory = memoryFiles({
      'compose.yaml': 'services: { web: { image: a, volumes: ["./conf:/etc/conf"] } }',
      'conf/link': 'x',
    });
    return readServiceFile({
      files: { ...memory, kindOf: (path) => (path === 'conf/link' ? kind : memory.kindOf(path)) },
      variables: new Map(),
      own: new OwnVariables(EXAMPLE_FACTS),
      settings: { mode: 'repo' },
    });
  };

  test.each(['symlink', 'submodule'] as const)('of a %s in a folder is not followed', async (kind) => {
    const { serviceFile, warnings } = await withKind(kind);
    expect(serviceFile?.bundles.flatMap(({ files: all }) => all)).toEqual([]);
    expect(warnings.map(({ message }) => message)).toContain(
      '"conf/link" is left out: links and submodules are not followed',
    );
  });

  test('of a symlink itself is not a file', async () => {
    const memory = memoryFiles({
      'compose.yaml': 'services: { web: { image: a, volumes: ["./link:/etc/conf"] } }',
      link: 'x',
    });
    const { errors } = await readServiceFile({
      files: { ...memory, kindOf: (path) => (path === 'link' ? 'symlink' : memory.kindOf(path)) },
      variables: new Map(),
      own: new OwnVariables(EXAMPLE_FACTS),
      settings: { mode: 'repo' },
    });
    expect(errors.map(({ message }) => message)).toEqual([
      '"link" cannot be read, because it is a symlink: add the file, or correct the path',
    ]);
  });

  test('of an unreadable file is reported with the message of the reader', async () => {
    const memory = memoryFiles({ 'compose.yaml': 'services: { web: { image: a, volumes: ["./a:/a"] } }', a: 'x' });
    const { errors } = await readServiceFile({
      files: {
        ...memory,
        read: (path) => (path === 'a' ? Promise.reject(new FileUnreadableError('a is too large')) : memory.read(path)),
      },
      variables: new Map(),
      own: new OwnVariables(EXAMPLE_FACTS),
      settings: { mode: 'repo' },
    });
    expect(errors.map(({ message }) => message)).toEqual(['a is too large']);
  });

  test('is limited over all bundles', async () => {
    const many = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, name.repeat(400 * 1024)]));
    const { errorLines } = await oneService('volumes: [./a:/a, ./b:/b, ./c:/c]', { files: many });
    expect(errorLines).toEqual([expect.stringMatching(/^1:27 volumes\[2\] with this, more than 500 files or 900 KiB/)]);
  });

  test('is limited in the files of a folder', async () => {
    const many = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`conf/${index}`, '']));
    const { errorLines } = await oneService('volumes: [./conf:/conf]', { files: many });
    expect(errorLines).toEqual([expect.stringContaining('has 501 files, too many')]);
  });
});
