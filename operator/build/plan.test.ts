import { expect, test } from '@jest/globals';
import type { Service } from '../service-file/schema.ts';
import { parseTree } from '../source/tree.ts';
import { planImages } from './plan.ts';

const listing = [
  '040000 tree aaa\tweb',
  '100644 blob bbb\tweb/Dockerfile',
  '120000 blob ccc\tlink',
  '120000 blob ddd\tweb/LinkedDockerfile',
  '100755 blob eee\tDockerfile',
].join('\0');
const entries = parseTree(`${listing}\0`, 'root');

function service(build: Partial<NonNullable<Service['build']>>): Service {
  return {
    name: 'web',
    build: { context: '.', dockerfile: 'Dockerfile', args: {}, ...build },
    environment: {},
    ports: [],
    dependsOn: [],
  };
}

test('an image for each service with a build, at its paths in the workspace', () => {
  const { images, problems } = planImages([service({ context: 'web', dockerfile: '../Dockerfile' })], entries);
  expect(problems).toEqual([]);
  expect(images).toEqual([
    {
      service: 'web',
      tag: expect.stringMatching(/^[0-9a-f]{40}$/),
      context: 'web',
      dockerfile: 'Dockerfile',
      args: {},
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
])('%j is refused', (build, problem) => {
  expect(planImages([service(build)], entries)).toEqual({ images: [], problems: [expect.stringMatching(problem)] });
});

test('a service without a build needs no image', () => {
  const { build, ...rest } = service({});
  expect(build).toBeDefined();
  expect(planImages([{ ...rest, image: 'redis:7' }], entries)).toEqual({ images: [], problems: [] });
});
