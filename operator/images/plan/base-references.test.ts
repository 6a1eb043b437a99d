import { expect, test } from '@jest/globals';
import { readDockerfile } from '../../../service-file/read-dockerfile.ts';
import { baseInstructions, baseReferences } from './base-references.ts';

const find = (text: string, args: Record<string, string> = {}, platform?: string) =>
  baseReferences(baseInstructions(readDockerfile(text)), { args, platform });

test.each<[string, string[]]>([
  ['FROM node:24', ['docker.io/library/node:24']],
  ['from node:24 as build\nFROM Build\nCOPY --from=build /a /b', ['docker.io/library/node:24']],
  ['FROM scratch\nCOPY --from=ghcr.io/acme/tool:1 /tool /', ['ghcr.io/acme/tool:1']],
  ['FROM a AS x\nFROM b\nCOPY --from=0 / /', ['docker.io/library/a:latest', 'docker.io/library/b:latest']],
  [
    'FROM --platform=$BUILDPLATFORM golang:1 AS b\nRUN --mount=type=cache,target=/c --mount=type=bind,from=busybox,target=/b true',
    ['docker.io/library/busybox:latest', 'docker.io/library/golang:1'],
  ],
  ['ARG V=24\nARG I="node:$V"\nFROM ${I}-slim', ['docker.io/library/node:24-slim']],
  ['ARG V\nFROM node:${V:-22}', ['docker.io/library/node:22']],
  ['ARG V=1\nFROM node${V:+:$V}', []],
  ['FROM node:${V%.*}', []],
  ['# escape=`\nFROM `\n  node', ['docker.io/library/node:latest']],
  ['FROM \\\n# a comment within\n  node:1 \\\n  AS x', ['docker.io/library/node:1']],
  ['FROM a\nRUN <<EOF\nFROM evil\nEOF\nFROM b', ['docker.io/library/a:latest', 'docker.io/library/b:latest']],
  ['FROM a\nCOPY <<-"END" /x\n\tFROM evil\n\tEND\n', ['docker.io/library/a:latest']],
  ['# syntax=docker/dockerfile:1\nFROM a', ['docker.io/library/a:latest']],
  ['# syntax=acme.example.com/front:2\nFROM a', ['acme.example.com/front:2', 'docker.io/library/a:latest']],
  ['# a comment\n# syntax=acme.example.com/front:2\nFROM scratch', []],
  ['FROM not//valid', []],
  ['', []],
])('reads the base images of %j', (text, expected) => {
  expect(find(text)).toEqual(expected);
});

test('omits a name that arguments make too long, in bounded time and memory', () => {
  const multiplied = Array.from({ length: 15 }, (_, index) => `ARG A${index + 1}=${`$A${index}`.repeat(8)}`);
  const text = ['ARG A0=xxxxxxxx', ...multiplied, 'FROM $A15', 'FROM $A0', ''].join('\n');
  expect(find(text)).toEqual(['docker.io/library/xxxxxxxx:latest']);
});

test('replaces defaults by build arguments, and the architecture by that of the platform', () => {
  expect(find('ARG V=1\nFROM node:$V', { V: '2' })).toEqual(['docker.io/library/node:2']);
  expect(find('FROM base-$TARGETARCH', {}, 'linux/arm64')).toEqual(['docker.io/library/base-arm64:latest']);
});

test('ignores an argument that is not declared', () => {
  expect(find('FROM node:1$V', { V: '2' })).toEqual(['docker.io/library/node:1']);
});

test.each([
  ['docker/dockerfile:1', true],
  ['docker.io/docker/dockerfile:1.7.2', true],
  ['docker/dockerfile:1-labs', false],
  ['docker/dockerfile:2', false],
  ['evil.example.com/docker/dockerfile:1', false],
])('returns whether %s is built in: %s', (syntax, expected) => {
  expect(baseInstructions(readDockerfile(`# syntax=${syntax}\nFROM scratch`)).builtInSyntax).toBe(
    expected ? syntax : undefined,
  );
});
