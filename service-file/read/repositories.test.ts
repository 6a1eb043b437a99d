import { describe, expect, test } from '@jest/globals';
import type { IncludedServices } from '../included.ts';
import type { ServiceFileRequest } from '../parse.ts';
import { readYaml } from '../testing/read-yaml.ts';

type Options = Pick<ServiceFileRequest, 'include' | 'included'>;

const others: IncludedServices = {
  services: new Map([
    ['api', { hasHealthcheck: true, runsOnce: false }],
    ['queue', { hasHealthcheck: false, runsOnce: false }],
    ['migrate', { hasHealthcheck: false, runsOnce: true }],
  ]),
  aliases: new Set(['admin']),
};
const include = () => Promise.resolve(others);

async function read(text: string, variables: Record<string, string> = {}, options: Options = {}) {
  const { serviceFile, errors, warnings } = await readYaml(text, {}, variables, options);
  const lines = (problems: typeof errors) => problems.map(({ path, message }) => `${path}: ${message}`);
  return { serviceFile, errors: lines(errors), warnings: lines(warnings) };
}

const web = "services: { web: { image: app, ports: ['80'] } }\n";
const withList = (list: string) => `${web}x-coppice: { repositories: ${list} }\n`;

describe('the repositories that a service file includes', () => {
  test('are read in their order, with variables filled in', async () => {
    const list = "[{ name: backend, fallback: '${BRANCH}', alias: api }, { name: search }]";
    const { serviceFile, errors } = await read(withList(list), { BRANCH: 'release/2' });
    expect(errors).toEqual([]);
    expect(serviceFile?.repositories).toEqual([
      { name: 'backend', fallback: 'release/2', alias: 'api' },
      { name: 'search' },
    ]);
  });

  test.each([
    ['backend', 'repositories: must be a list, this is text'],
    ['[backend]', 'repositories[0]: an included repository must be a map of keys'],
    ['[{ fallback: main }]', 'repositories[0]: has no name'],
    [
      '[{ name: other.backend }]',
      'repositories[0].name: "other.backend" is not the name of a repository of this group',
    ],
    ['[{ name: ../backend }]', 'is not the name of a repository of this group'],
    ['[{ name: a }, { name: a }]', 'repositories[1]: the repository "a" is listed twice'],
    ["[{ name: a, fallback: '*' }]", 'repositories[0].fallback: "*" is not the name of a branch'],
    ['[{ name: a, fallback: --upload-pack=x }]', 'is not the name of a branch'],
    ['[{ name: a, fallback: refs/pull/7/head }]', 'is not the name of a branch'],
    ['[{ name: a, fallback: a..b }]', 'is not the name of a branch'],
    ['[{ name: a, alias: A_b }]', 'repositories[0].alias: "A_b" is not an alias'],
    ['[{ name: a, branch: main }]', '"branch" is not a key of an included repository'],
    [`[${['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `{ name: ${name} }`).join(', ')}]`, 'more than 5 repositories'],
  ])('are refused as %s', async (list, message) => {
    const { serviceFile, errors } = await read(withList(list), {}, { include });
    expect(serviceFile).toBeUndefined();
    expect(errors.join('\n')).toContain(message);
  });

  test('are not read for a file with errors', async () => {
    let reads = 0;
    const counting = () => {
      reads += 1;
      return include();
    };
    await read(
      `services: { web: { imag: app } }\nx-coppice: { repositories: [{ name: a }] }\n`,
      {},
      { include: counting },
    );
    expect(reads).toBe(0);
  });

  test('can be all that it has', async () => {
    const { serviceFile, errors } = await read('x-coppice: { repositories: [{ name: a }] }\n', {}, { include });
    expect([errors, serviceFile?.services]).toEqual([[], []]);
    expect((await read('x-coppice: {}\n')).errors.join()).toContain('has no services');
  });
});

describe('a service that depends on one of another repository', () => {
  const file = (condition: string, service = 'api') =>
    `services: { web: { image: app, depends_on: { ${service}: { condition: ${condition} } } } }\nx-coppice: { repositories: [{ name: backend }] }\n`;
  const dependencies = async (text: string, options: Options) => {
    const { serviceFile, errors, warnings } = await read(text, {}, options);
    return { found: serviceFile?.services[0]?.dependsOn, problems: [...errors, ...warnings].join('\n') };
  };

  test.each([
    ['service_started', 'api', 'started', ''],
    ['service_healthy', 'api', 'healthy', ''],
    ['service_healthy', 'queue', 'started', '"queue" has no healthcheck'],
    ['service_completed_successfully', 'migrate', 'completed', ''],
  ])('waits with %s for %s until it is %s', async (condition, service, expected, warning) => {
    const { found, problems } = await dependencies(file(condition, service), { include });
    expect(found).toEqual([{ service, condition: expected }]);
    expect(problems).toContain(warning);
  });

  test.each([
    ['service_completed_successfully', 'api', 'does not end'],
    ['service_started', 'apy', 'there is no service "apy": did you mean "api"?'],
  ])('cannot wait with %s for %s', async (condition, service, message) => {
    const { found, problems } = await dependencies(file(condition, service), { include });
    expect(found).toBeUndefined();
    expect(problems).toContain(message);
  });

  test('is not checked where the other repository is not read', async () => {
    expect(await dependencies(file('service_started', 'anything'), {})).toMatchObject({ found: [] });
  });
});

describe('public routes of an included file', () => {
  test.each([
    [undefined, [{ service: 'web', port: 80, path: '/' }]],
    [{ hasAlias: true }, [{ service: 'web', port: 80, path: '/' }]],
    [{ hasAlias: false }, []],
  ])('that names none, included as %j', async (included, expected) => {
    const { serviceFile } = await read(web, {}, included && { included });
    expect(serviceFile?.publicRoutes).toEqual(expected);
  });

  test('are known to the including file by their aliases', async () => {
    const text = (alias: string) =>
      `services: { web: { image: app, ports: ['80'], environment: [COPPICE_WEB_URL_${alias}] } }\nx-coppice: { repositories: [{ name: backend }] }\n`;
    expect((await read(text('ADMIN'), {}, { include })).warnings).toEqual([]);
    expect((await read(text('OTHER'), {}, { include })).warnings.join()).toContain('nothing answers');
  });
});
