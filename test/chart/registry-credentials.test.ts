// Runs what examples/registry-credentials contains in a shell, with a program in place of the cloud's.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { z } from 'zod';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { objectOf, objectsIn } from './render.ts';

const objects = objectsIn(readFileSync(join(REPOSITORY_ROOT, 'examples/registry-credentials/ecr.yaml'), 'utf8'));

const containerSchema = z.looseObject({ name: z.string(), command: z.array(z.string()), args: z.array(z.string()) });
const cronJobSchema = z.looseObject({
  spec: z.looseObject({
    jobTemplate: z.looseObject({
      spec: z.looseObject({
        template: z.looseObject({
          spec: z.looseObject({
            initContainers: z.array(containerSchema).length(1),
            containers: z.array(containerSchema).length(1),
          }),
        }),
      }),
    }),
  }),
});
const pod = cronJobSchema.parse(objectOf(objects, 'CronJob', 'registry-credentials')).spec.jobTemplate.spec.template
  .spec;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'registry-credentials-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Runs the first container's command with this script as `aws`. */
function runWith(aws: string): number | null {
  writeFileSync(join(folder, 'aws'), `#!/bin/sh\n${aws}\n`, { mode: 0o755 });
  const [{ command: [program = '', ...flags], args } = { command: [], args: [] }] = pod.initContainers;
  const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}`, WORK: folder };
  return spawnSync(program, [...flags, ...args], { env }).status;
}

it('writes a patch with the password of the cloud', () => {
  expect(runWith('test "$*" = "ecr get-login-password" && echo eyJwYXlsb2FkIjoiYSJ9+/=')).toBe(0);
  expect(JSON.parse(readFileSync(join(folder, 'patch.json'), 'utf8'))).toEqual({
    stringData: { username: 'AWS', password: 'eyJwYXlsb2FkIjoiYSJ9+/=' },
  });
});

it.each([
  ['fails', 'exit 3'],
  ['returns no password', 'exit 0'],
])('leaves the Secret unchanged when the cloud %s', (_what, aws) => {
  expect(runWith(aws)).not.toBe(0);
  expect(() => readFileSync(join(folder, 'patch.json'))).toThrow('ENOENT');
});

it('patches the only Secret that it can read', () => {
  const [kubectl] = pod.containers;
  expect([...(kubectl?.command ?? []), ...(kubectl?.args ?? [])].join(' ')).toBe(
    'kubectl patch secret registry-credentials --namespace=coppice-system --type=merge --patch-file=/work/patch.json',
  );
  expect(objectOf(objects, 'Role', 'registry-credentials')).toMatchObject({
    rules: [{ resources: ['secrets'], resourceNames: ['registry-credentials'], verbs: ['get', 'patch'] }],
  });
});
