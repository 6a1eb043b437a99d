// What examples/registry-credentials does, run by a shell with a program in the place of the cloud's.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { z } from 'zod';
import { repositoryRoot } from '../cluster/paths.ts';
import { objectOf, objectsIn } from './render.ts';

const objects = objectsIn(readFileSync(join(repositoryRoot, 'examples/registry-credentials/ecr.yaml'), 'utf8'));

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

/** Runs the first container's command, with an `aws` that is this script. */
function runWith(aws: string): number | null {
  writeFileSync(join(folder, 'aws'), `#!/bin/sh\n${aws}\n`, { mode: 0o755 });
  const [{ command: [program = '', ...flags], args } = { command: [], args: [] }] = pod.initContainers;
  const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}`, WORK: folder };
  return spawnSync(program, [...flags, ...args], { env }).status;
}

it('writes a patch with the password that the cloud gives', () => {
  expect(runWith('test "$*" = "ecr get-login-password" && echo eyJwYXlsb2FkIjoiYSJ9+/=')).toBe(0);
  expect(JSON.parse(readFileSync(join(folder, 'patch.json'), 'utf8'))).toEqual({
    stringData: { username: 'AWS', password: 'eyJwYXlsb2FkIjoiYSJ9+/=' },
  });
});

it.each([
  ['fails', 'exit 3'],
  ['gives none', 'exit 0'],
])('leaves the Secret as it is when the cloud %s', (_what, aws) => {
  expect(runWith(aws)).not.toBe(0);
  expect(() => readFileSync(join(folder, 'patch.json'))).toThrow('ENOENT');
});

it('patches that one Secret, which is all that it can read', () => {
  const [kubectl] = pod.containers;
  expect([...(kubectl?.command ?? []), ...(kubectl?.args ?? [])].join(' ')).toBe(
    'kubectl patch secret registry-credentials --namespace=coppice-system --type=merge --patch-file=/work/patch.json',
  );
  expect(objectOf(objects, 'Role', 'registry-credentials')).toMatchObject({
    rules: [{ resources: ['secrets'], resourceNames: ['registry-credentials'], verbs: ['get', 'patch'] }],
  });
});
