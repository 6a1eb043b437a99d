import { describe, expect, test } from '@jest/globals';
import { memoryFiles } from '../memory-files.ts';
import { formatProblem, Problems } from '../problems.ts';
import type { Variable } from '../variables.ts';
import { plainData } from '../yaml/plain-data.ts';
import { valueAt, type YamlNode } from '../yaml/yaml-node.ts';
import { loadServiceFile } from './load.ts';

interface Files {
  [path: string]: string;
}

/** Returns the loaded `compose.yaml` of a repository, with `settings` merged over it. */
async function load(files: Files, variables: Record<string, string | Variable> = {}, settings?: string) {
  const given = new Map(
    Object.entries(variables).map(([name, value]) => [
      name,
      typeof value === 'string' ? ({ value, visibility: 'always' } as const) : value,
    ]),
  );
  const problems = new Problems(given);
  const loaded = await loadServiceFile(
    {
      files: memoryFiles(files),
      variables: given,
      ...('compose.yaml' in files && { path: 'compose.yaml' }),
      ...(settings !== undefined && { settings }),
    },
    problems,
  );
  const errors = problems.errors.map(formatProblem);
  expect(loaded === undefined).toBe(errors.length > 0);
  return { loaded, errors, warnings: problems.warnings.map(formatProblem) };
}

/** Returns the loaded file as plain data, and checks that it has no errors. */
async function data(...given: Parameters<typeof load>): Promise<unknown> {
  const { loaded, errors } = await load(...given);
  expect(errors).toEqual([]);
  return plainData(loaded!.tree);
}

const at = (node: YamlNode | undefined, ...keys: string[]) => keys.reduce(valueAt, node);

describe('variables', () => {
  const file = (yaml: string) => ({ 'compose.yaml': `services: { web: { ${yaml} } }` });

  test('are filled into values, not into keys', async () => {
    expect(
      await data(file('image: "app:${TAG:-1}", environment: { $A: $A, B: "$$A" }, command: [a, "${A}b"]'), { A: 'x' }),
    ).toEqual({
      services: { web: { image: 'app:1', environment: { $A: 'x', B: '$A' }, command: ['a', 'xb'] } },
    });
  });

  test('that are not set are empty, and reported once', async () => {
    const { loaded, warnings } = await load(file('image: "a$A", environment: { B: $A, C: "${D}" }'));
    expect(plainData(loaded!.tree)).toEqual({ services: { web: { image: 'a', environment: { B: '', C: '' } } } });
    expect(warnings).toEqual([
      'compose.yaml:1:27: services.web.image: the variable A is not set, so it is empty: set it, or write ${A:-DEFAULT}',
      'compose.yaml:1:59: services.web.environment.C: the variable D is not set, so it is empty: set it, or write ${D:-DEFAULT}',
    ]);
  });

  test('come from .env, over which the variables of Coppice have precedence', async () => {
    const files = { ...file('image: "$A-$B-$C"'), '.env': 'A=file\nB=file\nC=${A}\n' };
    expect(await data(files, { A: 'ours' })).toEqual({ services: { web: { image: 'ours-file-ours' } } });
    const { loaded } = await load(files, { A: 'ours' });
    expect(['A', 'B', 'C'].map((name) => loaded?.variables.get(name)?.value)).toEqual(['ours', 'file', 'ours']);
  });

  test('that are required and missing are reported with the message of the file', async () => {
    expect((await load(file('image: "${TAG:?set the tag}"'))).errors).toEqual([
      'compose.yaml:1:27: services.web.image: needs the variable TAG, which is not set ("set the tag"): set it',
    ]);
  });

  test('are not read in extensions that nobody reads, but in their anchors', async () => {
    const { loaded, errors, warnings } = await load({
      'compose.yaml': 'x-a: &a { image: "${B:-i}", x-b: "${C:?needed}" }\nservices: { web: *a }',
    });
    expect([errors, warnings]).toEqual([[], []]);
    expect(at(loaded!.tree, 'services', 'web', 'image')).toMatchObject({ value: 'i' });
  });

  const secret: Variable = { value: 'hunter2', visibility: 'buildtime' };

  test.each([
    ['build: { args: { T: $T } }'],
    ['build: { args: ["T=${T}"] }'],
    ['build: { context: ., secrets: ["${T}"] }'],
  ])('of build time reach %s', async (yaml) => {
    expect((await load(file(yaml), { T: secret })).errors).toEqual([]);
  });

  test.each([
    ['image: "a:$T"'],
    ['environment: { T: "${NONE:-$T}" }'],
    ['command: [a, $T]'],
    ['build: { context: $T }'],
    ['labels: { "build.args": $T }'],
    ['environment: { A: $FROM_DOTENV }'],
  ])('of build time do not reach %s', async (yaml) => {
    const { errors } = await load({ ...file(yaml), '.env': 'FROM_DOTENV=a-$T' }, { T: secret });
    expect(errors).toEqual([expect.stringMatching(/the variable (T|FROM_DOTENV) is for builds only/)]);
    expect(errors.join()).not.toContain('hunter2');
  });

  test('are reported in a .env that is not valid', async () => {
    expect((await load({ ...file('image: a'), '.env': 'A=1\nB C' })).errors).toEqual([
      '.env:2:1: is not of the form NAME=value: correct it, or start a comment with #',
    ]);
  });
});

describe('extends', () => {
  test('merges a service of the same file, over several steps', async () => {
    const yaml = `
services:
  web: { extends: { service: base }, environment: [B=2], command: [b] }
  base: { extends: root, environment: { A: 1 }, command: [a] }
  root: { image: app, ports: ["80"] }
`;
    expect(await data({ 'compose.yaml': yaml })).toMatchObject({
      services: { web: { image: 'app', ports: ['80'], environment: { A: 1, B: '2' }, command: ['b'] } },
    });
  });

  const common = {
    'common/base.yaml': `
services:
  app: { extends: { service: worker, file: deep/worker.yaml }, build: ., volumes: ["./conf:/conf"] }
  broken: { image: "\${NEEDED-}" }
`,
    'common/deep/worker.yaml': 'services: { worker: { env_file: w.env, environment: { A: "$A" } } }',
  };

  test('merges a service of another file, whose paths are relative to its own folder', async () => {
    const { loaded, errors } = await load(
      {
        ...common,
        'compose.yaml': 'services: { web: { extends: { file: common/base.yaml, service: app }, volumes: ["./x:/x"] } }',
      },
      { A: 'x' },
    );
    expect(errors).toEqual([]);
    const web = at(loaded!.tree, 'services', 'web');
    expect(plainData(web!)).toEqual({
      build: '.',
      env_file: 'w.env',
      environment: { A: 'x' },
      volumes: ['./conf:/conf', './x:/x'],
    });
    const volumes = at(web, 'volumes');
    const folders = volumes?.kind === 'list' ? volumes.items.map(({ file, folder }) => `${file} ${folder}`) : [];
    expect(folders).toEqual(['common/base.yaml common', 'compose.yaml ']);
    expect(at(web, 'build')).toMatchObject({ folder: 'common', line: 3 });
    expect(at(web, 'env_file')).toMatchObject({ folder: 'common/deep', file: 'common/deep/worker.yaml' });
  });

  test('applies !reset and !override to the extended service', async () => {
    const yaml = `
services:
  web: { extends: base, ports: !reset [], environment: !override { B: 2 } }
  base: { image: app, ports: ["80"], environment: { A: 1 } }
  again: { extends: web, ports: ["90"] }
`;
    expect(await data({ 'compose.yaml': yaml })).toMatchObject({
      services: {
        web: { image: 'app', environment: { B: 2 } },
        again: { image: 'app', environment: { B: 2 }, ports: ['90'] },
      },
    });
  });

  test.each([
    ['{ a: { extends: b } }', '"b": it has "a"'],
    [
      '{ a: { extends: a } }',
      'compose.yaml:1:27: services.a.extends: the services extend each other (a → a): remove one extends',
    ],
    [
      '{ a: { extends: b }, b: { extends: c }, c: { extends: b } }',
      'compose.yaml:1:65: services.c.extends: the services extend each other (b → c → b): remove one extends',
    ],
    ['{ a: { extends: { file: common/base.yaml } } }', 'must name the service to extend'],
    ['{ a: { extends: { file: common/base.yaml, service: x } } }', 'common/base.yaml has no service "x"'],
    ['{ a: { extends: { fil: none.yaml, service: x } } }', 'did you mean "file"?'],
    [
      '{ a: { extends: { file: none.yaml, service: x } } }',
      'compose.yaml:1:35: services.a.extends.file: "none.yaml" cannot be read, because there is no such file in the repository: add the file, or correct the path',
    ],
    [
      '{ a: { extends: { file: common, service: x } } }',
      'compose.yaml:1:35: services.a.extends.file: "common" cannot be read, because it is a folder: add the file, or correct the path',
    ],
    ['{ a: { extends: { file: ../x.yaml, service: x } } }', 'leads out of the repository'],
    ['{ a: { extends: { file: /etc/passwd, service: x } } }', 'is absolute'],
    ['{ a: { extends: { file: "https://a.example/b.yaml", service: x } } }', 'is not in this repository'],
  ])('%s: %s', async (services, message) => {
    const { errors } = await load({ ...common, 'compose.yaml': `services: ${services}` });
    expect(errors[0]).toContain(message);
  });
});

describe('include', () => {
  test('adds the resources of another file, with paths relative to its folder', async () => {
    const files = {
      'compose.yaml':
        'include: [db/compose.yaml, { path: ./lib/queue.yaml, project_directory: . }]\nservices: { web: { image: a, depends_on: [db, queue] } }',
      'db/compose.yaml':
        'name: db\ninclude: [volumes.yaml]\nservices: { db: { image: "db:$V", volumes: ["./init:/init", "data:/data"] } }',
      'db/.env': 'V=1\nW=1',
      'db/volumes.yaml': 'volumes: { data: { labels: ["v=$V$W"] } }',
      'lib/queue.yaml': 'services: { queue: { build: ./queue, image: "q:$V" } }\nconfigs: { c: { file: c.conf } }',
      '.env': 'V=2',
    };
    const { loaded, errors, warnings } = await load(files);
    expect([errors, warnings]).toEqual([[], []]);
    expect(plainData(loaded!.tree)).toEqual({
      services: {
        web: { image: 'a', depends_on: ['db', 'queue'] },
        db: { image: 'db:2', volumes: ['./init:/init', 'data:/data'] },
        queue: { build: './queue', image: 'q:2' },
      },
      volumes: { data: { labels: ['v=21'] } },
      configs: { c: { file: 'c.conf' } },
    });
    expect(at(loaded!.tree, 'services', 'db', 'image')).toMatchObject({ folder: 'db', file: 'db/compose.yaml' });
    expect(at(loaded!.tree, 'services', 'queue', 'build')).toMatchObject({ folder: '', file: 'lib/queue.yaml' });
  });

  test('merges several paths in their order, over their own env files', async () => {
    const files = {
      'compose.yaml':
        'include: [{ path: [a/a.yaml, b/b.yaml], env_file: [one.env, two.env] }]\nservices: { x: { image: x } }',
      'a/a.yaml': 'services: { s: { image: "$I", command: [a] } }',
      'b/b.yaml': 'services: { s: { command: ["$J"], build: { context: b } } }',
      'one.env': 'I=1\nJ=1',
      'two.env': 'J=2',
    };
    const { loaded } = await load(files);
    expect(at(loaded!.tree, 'services', 's')).toBeDefined();
    expect(plainData(at(loaded!.tree, 'services', 's')!)).toEqual({
      image: '1',
      command: ['2'],
      build: { context: 'b' },
    });
    expect(at(loaded!.tree, 'services', 's', 'build', 'context')).toMatchObject({ folder: 'a' });
  });

  test('merges what both files contain, the own one over the included, with a warning', async () => {
    const { loaded, warnings } = await load({
      'compose.yaml': 'include: [a.yaml]\nservices: { s: { environment: { A: own } } }\nvolumes: { same: }',
      'a.yaml': 'services: { s: { image: i, environment: { A: 1, B: 2 } } }\nvolumes: { same: }',
    });
    expect(plainData(loaded!.tree)).toMatchObject({ services: { s: { image: 'i', environment: { A: 'own', B: 2 } } } });
    expect(warnings).toEqual([
      'compose.yaml:2:13: services.s: "s" is in the included a.yaml, too, on line 1: the value here is merged over it',
    ]);
  });

  test('lets a service extend an included one', async () => {
    const files = {
      'compose.yaml': 'include: [a/a.yaml]\nservices: { web: { extends: base } }',
      'a/a.yaml': 'services: { base: { image: i } }',
    };
    expect(await data(files)).toMatchObject({ services: { web: { image: 'i' } } });
  });

  test('reads the same file by two ways', async () => {
    const files = {
      'compose.yaml': 'include: [a.yaml, b.yaml]',
      'a.yaml': 'include: [c.yaml]\nservices: { a: { image: a } }',
      'b.yaml': 'include: [c.yaml]\nservices: { b: { image: b } }',
      'c.yaml': 'services: { c: { image: c } }',
    };
    const { loaded, warnings } = await load(files);
    expect(plainData(loaded!.tree)).toEqual({
      services: { a: { image: 'a' }, b: { image: 'b' }, c: { image: 'c' } },
    });
    expect(warnings).toEqual([]);
  });

  test.each<[string, Files, string]>([
    [
      '[compose.yaml]',
      {},
      'compose.yaml:1:11: include[0]: the files include each other (compose.yaml → compose.yaml): remove one include',
    ],
    [
      '[a.yaml]',
      { 'a.yaml': 'include: [b.yaml]', 'b.yaml': 'include: [a.yaml]' },
      'b.yaml:1:11: include[0]: the files include each other (a.yaml → b.yaml → a.yaml): remove one include',
    ],
    ['[none.yaml]', {}, 'compose.yaml:1:11: include[0]: "none.yaml" cannot be read'],
    ['[{ env_file: a }]', {}, 'has no path'],
    ['[{ paths: a.yaml }]', { 'a.yaml': '{}' }, 'did you mean "path"?'],
    ['[{ path: a.yaml, env_file: none }]', { 'a.yaml': '{}' }, '"none" cannot be read'],
    ['[../a.yaml]', {}, 'leads out of the repository'],
    ['[https://a.example/b]', {}, 'is not in this repository'],
    ['["git@a.example:b.git"]', {}, 'is not in this repository'],
    ['[[a]]', {}, 'must be the path of a file'],
    ['a.yaml', {}, 'must be a list'],
    ['[a.yaml]', { 'a.yaml': '[' }, 'a.yaml:1:2: not valid YAML'],
    ['[a.yaml]', { 'a.yaml': 'text' }, 'a.yaml:1:1: a service file must be a map'],
    [
      '[a.yaml]',
      { 'a.yaml': 'services: { s: { image: "${A:?}" } }' },
      'a.yaml:1:25: services.s.image: needs the variable A',
    ],
  ])('%s: %j', async (include, files, message) => {
    const { errors } = await load({ ...files, 'compose.yaml': `include: ${include}` });
    expect(errors[0]).toContain(message);
  });
});

describe('settings', () => {
  const repository = { 'compose.yaml': 'services: { web: { build: ./app, ports: ["80"], environment: [A=1] } }' };

  test('are merged over the file of the repository', async () => {
    expect(
      await data(
        repository,
        { V: 'x' },
        'services: { web: { environment: { A: "$V" } }, db: { image: db } }\nvolumes: { v: { x-coppice: { size: 1Gi } } }',
      ),
    ).toEqual({
      services: { web: { build: './app', ports: ['80'], environment: { A: 'x' } }, db: { image: 'db' } },
      volumes: { v: { 'x-coppice': { size: '1Gi' } } },
    });
  });

  test("reset, override and extend the repository's file", async () => {
    const settings =
      'services: { web: { ports: !override ["90"], environment: { A: !reset null } }, job: { extends: db, ports: !reset [] } }';
    const both = { 'compose.yaml': `${repository['compose.yaml'].slice(0, -1)}, db: { image: db, ports: ["1"] } }` };
    expect(await data(both, {}, settings)).toEqual({
      services: {
        web: { build: './app', ports: ['90'], environment: {} },
        db: { image: 'db', ports: ['1'] },
        job: { image: 'db' },
      },
    });
  });

  test('report errors with their positions', async () => {
    expect((await load(repository, {}, 'services: { web: { image: "${A:?}" } }')).errors).toEqual([
      'settings:1:27: services.web.image: needs the variable A, which is not set: set it',
    ]);
  });

  test('include files of the repository without a file of their own', async () => {
    expect(
      await data({ 'deploy/web.yaml': 'services: { web: { build: . } }' }, {}, 'include: [deploy/web.yaml]'),
    ).toEqual({
      services: { web: { build: '.' } },
    });
  });
});

describe('PWD', () => {
  const file = (lines: string) => ({ 'compose.yaml': `services: { web: { image: a, ${lines} } }` });

  test("is the file's own folder at the start of a path, unless it is set", async () => {
    const { loaded, warnings } = await load(file("volumes: ['${PWD}/conf:/c', '$PWD:/d']"));
    expect(plainData(loaded!.tree)).toMatchObject({ services: { web: { volumes: ['./conf:/c', '.:/d'] } } });
    expect(warnings).toEqual([]);
  });

  test.each(["environment: { HERE: '${PWD}' }", "build: { args: { HERE: '$PWD' } }", "volumes: ['a:${PWD}']"])(
    'is an ordinary variable elsewhere: %s',
    async (lines) => {
      expect((await load(file(lines))).warnings).toEqual([expect.stringContaining('the variable PWD is not set')]);
      expect(JSON.stringify((await load(file(lines), { PWD: '/set' })).loaded)).toContain('/set');
    },
  );
});
