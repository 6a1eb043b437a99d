import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { run } from '../support/run.ts';
import { buildKitSettings } from './build-images.ts';
import { readOptions } from './options.ts';
import { takeSecrets } from './secrets.ts';
import { requireTree } from './sources.ts';

/** What somebody could put into a tag, a commit or a registry, to change a release or to learn its secrets. */
let scratch: string;
let root: string;

const git = (...args: string[]) =>
  run('git', ['-c', 'user.name=Eve', '-c', 'user.email=eve@example.com', ...args], { cwd: root });

beforeEach(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'hostile-'));
  root = join(scratch, 'repository');
  mkdirSync(join(root, 'folder'), { recursive: true });
  await git('init', '--quiet');
  writeFileSync(join(root, 'LICENSE'), 'A license\n');
  writeFileSync(join(root, 'folder/with space.ts'), 'export {};\n');
});
afterEach(() => rmSync(scratch, { recursive: true }));

/** Commits the work tree, and extracts its archive as a release does. */
async function extract(): Promise<{ commit: string; folder: string }> {
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'Some');
  const commit = (await git('rev-parse', 'HEAD')).trim();
  const folder = join(scratch, 'source');
  mkdirSync(folder);
  await git('archive', '--format=tar', `--output=${join(scratch, 'source.tar')}`, commit);
  await run('tar', ['--extract', '--file', join(scratch, 'source.tar'), '--directory', folder]);
  return { commit, folder };
}

describe('the sources of a release', () => {
  test('are the files of the commit', async () => {
    const { commit, folder } = await extract();
    await expect(requireTree(root, commit, folder)).resolves.toBeUndefined();
    writeFileSync(join(folder, 'other.ts'), '');
    await expect(requireTree(root, commit, folder)).rejects.toThrow('other.ts');
  });

  test('contain no links, which would lead to files of the machine, such as its environment with the key', async () => {
    rmSync(join(root, 'LICENSE'));
    symlinkSync('/proc/self/environ', join(root, 'LICENSE'));
    const { commit, folder } = await extract();
    await expect(requireTree(root, commit, folder)).rejects.toThrow('no links or submodules: LICENSE');
  });

  test.each([
    ['leaves files out', 'LICENSE export-ignore'],
    ['writes into files', '*.ts export-subst'],
  ])('have no attribute of Git that %s', async (_what, attribute) => {
    writeFileSync(join(root, 'folder/with space.ts'), 'export const id = "$Format:%H$";\n');
    writeFileSync(join(root, '.gitattributes'), `${attribute}\n`);
    const { commit, folder } = await extract();
    await expect(requireTree(root, commit, folder)).rejects.toThrow(/Attributes of Git change .*(LICENSE|with space)/);
  });
});

test('takes the secrets from the environment, so that programs do not inherit them', async () => {
  const environment = { PATH: process.env['PATH'], COSIGN_PRIVATE_KEY: 'key', REGISTRY_PASSWORD: 'password' };
  expect(takeSecrets(environment)).toEqual({ COSIGN_PRIVATE_KEY: 'key', REGISTRY_PASSWORD: 'password' });
  expect(environment).toEqual({ PATH: process.env['PATH'] });
});

describe('BuildKit', () => {
  const registry = {
    ...{ host: 'registry.example.com', path: 'coppice', insecure: true },
    credentials: { username: 'me', password: 'secret' },
  };
  const digest = `sha256:${'a'.repeat(64)}`;

  test.each([undefined, `docker.io/node@${digest}`, `registry.example.com.evil.example/node@${digest}`])(
    'does not get the login of the registry for the base image %s',
    (nodeImage) => {
      expect(buildKitSettings({ nodeImage, registry }).login).toEqual({ auths: {} });
    },
  );

  test('gets it for a base image from there', () => {
    const { login, toml } = buildKitSettings({ nodeImage: `registry.example.com/node@${digest}`, registry });
    expect(login.auths).toEqual({ 'registry.example.com': { auth: Buffer.from('me:secret').toString('base64') } });
    expect(toml).toContain('[registry."registry.example.com"]');
  });

  test('runs no frontend that a Dockerfile names', () => {
    expect(buildKitSettings({ nodeImage: undefined, registry: undefined }).toml).toBe(
      '[frontend."gateway.v0"]\n  enabled = false\n',
    );
  });
});

test.each(['1.2.3\n', 'v1.2.3', '1.2.3;id', '1.2.3-$(id)', '01.2.3', '1.2.3 --registry=x', '../1.2.3', '１.2.3'])(
  'refuses the version %j',
  (version) => expect(() => readOptions([version, '--dry-run'], {})).toThrow('Name one version'),
);

test.each([
  'x.example/$(id)',
  'x.example/a b',
  "x.example/'",
  'x.example/../y',
  '-x',
  'x.example/-y',
  'x.example]\nhttp = true',
])('refuses the registry %j', (name) =>
  expect(() => readOptions(['1.2.3', `--registry=${name}`], {})).toThrow('--registry'),
);
