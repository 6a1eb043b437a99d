import { expect, test } from '@jest/globals';
import { serviceFileOfDockerfile } from './dockerfile.ts';
import { serviceFileSchema } from './schema.ts';

test.each([
  ['EXPOSE 8080', [8080], 8080],
  ['FROM a AS build\nEXPOSE 1\nFROM b\nexpose 443 80/tcp', [80, 443], 443],
  ['# EXPOSE 1\nEXPOSE 2 \\\n  # a comment\n  3', [2, 3], 2],
  ['EXPOSE 53/udp $PORT 8000-8010 99999 80', [80], 80],
  ['RUN echo EXPOSE 80', [], undefined],
])('%j', (text, ports, publicPort) => {
  const { serviceFile, errors } = serviceFileOfDockerfile(text);
  expect(errors).toEqual([]);
  expect(serviceFileSchema.parse(serviceFile)).toEqual(serviceFile);
  expect(serviceFile?.services).toMatchObject([
    { name: 'app', build: { context: '.', dockerfile: 'Dockerfile' }, ports },
  ]);
  expect(serviceFile?.publicRoutes[0]?.port).toBe(publicPort);
});

test('what is left out is told with its line', () => {
  const { warnings } = serviceFileOfDockerfile('FROM a\nEXPOSE $PORT\n');
  expect(warnings.map(({ line, message }) => `${line} ${message}`)).toEqual([
    expect.stringContaining('1 it EXPOSEs no port'),
    '2 ignored: "$PORT" is not one plain TCP port',
  ]);
});
