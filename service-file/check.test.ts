import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';

const folder = mkdtempSync(join(tmpdir(), 'coppice-check-'));
const repository = join(folder, 'repository');

beforeAll(() => {
  const files = {
    'secret.yaml': 'services: { s: { image: outside } }',
    'repository/good.yml': 'include: [parts/db.yaml]\nservices: { web: { image: "a:${TAG-1}", ports: ["80"] } }',
    'repository/parts/db.yaml': 'services: { db: { image: db } }',
    'repository/bad.yml': 'services: { web: { imagee: a } }',
    'repository/out.yml': 'include: [../secret.yaml]',
    'repository/link.yml': 'include: [link.yaml]',
    'repository/linked-folder.yml': 'include: [linked/secret.yaml]',
    'repository/needs.yml': 'services: { web: { image: "a:${TAG:?}", ports: ["80"] } }',
    'repository/mounts.yml': 'services: { web: { image: a, ports: ["80"], volumes: ["./conf:/conf"] } }',
    'repository/conf/a.conf': 'a',
    'repository/unset.env': 'A=1\nTAG=7$none\n',
    'repository/tag.env': 'TAG=7\n',
    'repository/broken.env': 'no value here\n',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  symlinkSync('../secret.yaml', join(repository, 'link.yaml'));
  symlinkSync('..', join(repository, 'linked'));
  symlinkSync('a.conf', join(repository, 'conf', 'b.conf'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const problem = z.strictObject({
  file: z.string(),
  path: z.string(),
  line: z.int(),
  column: z.int(),
  message: z.string(),
});
const answer = z.strictObject({
  services: z.array(z.looseObject({ name: z.string(), image: z.string().optional() })),
  warnings: z.array(problem),
  errors: z.array(problem),
});

/** The environment of the child processes. */
const env = { INIT_CWD: repository, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };

function check(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const script = join(import.meta.dirname, 'check.ts');
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}

test('accepts a file that Coppice would run, with included ones from its folder', async () => {
  const { code, stdout } = await check('good.yml');
  const { services, errors } = answer.parse(JSON.parse(stdout));
  expect([code, errors]).toEqual([0, []]);
  expect(services.map(({ name, image }) => `${name} ${image ?? ''}`)).toEqual(['db db', 'web a:1']);
});

test('reads variables from a file', async () => {
  const { code, stdout } = await check('needs.yml', '--variables', 'tag.env');
  expect([code, answer.parse(JSON.parse(stdout)).services[0]?.image]).toEqual([0, 'a:7']);
});

test('reports a link in a mounted folder as the operator does', async () => {
  const { code, stdout } = await check('mounts.yml');
  const { warnings } = answer.parse(JSON.parse(stdout));
  expect(code).toBe(0);
  expect(warnings).toContainEqual(
    expect.objectContaining({ message: '"conf/b.conf" is left out: links and submodules are not followed' }),
  );
});

test('reports variables of a file of variables that are set nowhere', async () => {
  const { code, stderr } = await check('needs.yml', '--variables', 'unset.env');
  expect(code).toBe(0);
  expect(stderr).toContain('unset.env:2: the variable none is not set');
});

describe('a file that Coppice would not run', () => {
  test.each([
    ['bad.yml', 'did you mean "image"?'],
    ['needs.yml', 'needs the variable TAG'],
    ['out.yml', 'leads out of the repository'],
    ['link.yml', 'it is a symlink'],
    ['linked-folder.yml', 'there is no such file'],
  ])('%s: %s', async (file, message) => {
    const { code, stdout } = await check(file);
    const { services, errors } = answer.parse(JSON.parse(stdout));
    expect([code, services]).toEqual([1, []]);
    expect(errors.map((error) => error.message).join('\n')).toContain(message);
    expect(errors[0]?.file).toBe(file);
    expect(stdout).not.toContain('outside');
  });
});

test.each([
  [[], 'usage:'],
  [['good.yml', 'bad.yml'], 'usage:'],
  [['none.yml'], 'there is no file none.yml'],
  [['parts'], 'there is no file parts'],
  [['--wrong', 'good.yml'], 'usage:'],
  [['good.yml', '--variables', 'none.env'], 'there is no file none.env'],
  [['good.yml', '--variables', 'broken.env'], 'broken.env:1: is not of the form NAME=value'],
])('explains its use after the arguments %j', async (args, message) => {
  const { code, stdout, stderr } = await check(...args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(message);
});
