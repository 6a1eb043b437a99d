import { expect, test } from '@jest/globals';
import { EXAMPLE_FACTS, OwnVariables } from './own-variables.ts';
import { memoryFiles } from './memory-files.ts';
import { readServiceFile } from './parse.ts';
import { serviceFileSchema } from './schema.ts';

const read = (text: string, variables: Record<string, string> = {}, overrides?: string) =>
  readServiceFile({
    files: memoryFiles({ Dockerfile: text }),
    variables: new Map(Object.entries(variables).map(([name, value]) => [name, { value, visibility: 'buildtime' }])),
    own: new OwnVariables(EXAMPLE_FACTS),
    settings: { mode: 'repo', ...(overrides !== undefined && { overrides }) },
  });

test.each([
  ['EXPOSE 8080', [8080], 8080],
  ['FROM a AS build\nEXPOSE 1\nFROM b\nexpose 443 80/tcp', [80, 443], 443],
  ['# EXPOSE 1\nEXPOSE 2 \\\n  # a comment\n  3', [2, 3], 2],
  ['EXPOSE 53/udp $PORT 8000-8010 99999 80', [80], 80],
  ['RUN echo EXPOSE 80', [], undefined],
  ['RUN <<EOF\nEXPOSE 80\nEOF\nEXPOSE 81', [81], 81],
  ['ONBUILD RUN <<EOF\nEXPOSE 80\nEOF\nEXPOSE 81', [81], 81],
  ['COPY <<-a <<b /x/\nEXPOSE 80\n\ta\nEXPOSE 81\n\tb\nb\nEXPOSE 82', [82], 82],
  ['# escape=`\nEXPOSE 80 `\n 81\nENV A=C:\\\nEXPOSE 82', [80, 81, 82], 80],
  ['EXPOSE 80\\\n80', [8080], 8080],
  ['RUN echo \\\\\nEXPOSE 80', [80], 80],
])('reads the ports of %j', async (text, ports, publicPort) => {
  const { serviceFile, errors } = await read(text);
  expect(errors).toEqual([]);
  expect(serviceFileSchema.parse(serviceFile)).toEqual(serviceFile);
  expect(serviceFile?.services).toMatchObject([
    { name: 'app', build: { context: '.', dockerfile: 'Dockerfile' }, ports },
  ]);
  expect(serviceFile?.publicRoutes[0]?.port).toBe(publicPort);
});

test('reports ignored ports with their lines', async () => {
  const { warnings } = await read('FROM a\nEXPOSE $PORT\n');
  expect(warnings.map(({ line, message }) => `${line} ${message}`)).toEqual([
    expect.stringContaining('1 it EXPOSEs no port'),
    '2 ignored: "$PORT" is not one plain TCP port',
  ]);
});

test('passes only declared arguments that a variable names to the build', async () => {
  const { serviceFile } = await read('ARG BASE=a\nFROM $BASE\nARG TOKEN __proto__ OTHER=1\nEXPOSE 80', {
    TOKEN: 't',
    BASE: 'b',
    UNDECLARED: 'u',
  });
  expect(serviceFile?.services[0]?.build?.args).toEqual({ BASE: 'b', TOKEN: 't' });
});

test('is the same with overrides that change nothing, also with a $ in an argument', async () => {
  const text = 'ARG TOKEN\nFROM a\nARG COPPICE_COMMIT\nEXPOSE 9000 80\n';
  const variables = { TOKEN: 'a$b${c}' };
  const { serviceFile, errors } = await read(text, variables, 'services: {}');
  expect(errors).toEqual([]);
  expect(serviceFile).toEqual((await read(text, variables)).serviceFile);
});

test('is changed by overrides', async () => {
  const overrides = 'services: { app: { environment: { A: b } }, db: { image: "redis:7" } }';
  const { serviceFile } = await read('FROM a\nEXPOSE 80\n', {}, overrides);
  expect(serviceFile?.services).toMatchObject([{ name: 'app', environment: { A: 'b' } }, { name: 'db' }]);
});
