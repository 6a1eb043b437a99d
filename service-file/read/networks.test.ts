import { describe, expect, test } from '@jest/globals';
import { oneService } from '../testing/one-service.ts';

const db = '  db: { image: db }\n';
const top = 'networks:\n  front:\n  back_end: { driver: bridge }\n';

const read = (lines: string, rest = db + top) => oneService(`${lines}\nports: ["1"]`, { rest });

describe('networks', () => {
  test.each([
    ['', ['default'], []],
    ['networks: [front]', ['front'], []],
    ['networks: [front, back_end, default]', ['back-end', 'default', 'front'], []],
    ['networks: { front: , back_end: { aliases: [site, Www] } }', ['back-end', 'front'], ['site', 'www']],
    ['network_mode: none', [], []],
    ['network_mode: bridge', ['default'], []],
    ['networks: []', ['default'], []],
  ])('%s', async (lines, networks, aliases) => {
    const { service, errorLines, warningLines } = await read(lines);
    expect([...errorLines, ...warningLines]).toEqual([]);
    expect(service).toMatchObject({ networks, aliases });
  });

  test('wait for the other service of links', async () => {
    const { serviceFile, service, errorLines } = await read('links: [db, "db:database"]');
    expect(errorLines).toEqual([]);
    expect(serviceFile?.services.find(({ name }) => name === 'db')?.aliases).toEqual(['database']);
    expect(service?.dependsOn).toEqual([{ service: 'db', condition: 'started' }]);
  });

  test.each([
    ['networks: [frnt]', '1:12 networks[0] the network "frnt" is not declared: did you mean "front"?'],
    ['network_mode: host', '1:15 network_mode refused: containers get no access'],
    ['network_mode: "service:db"', '1:15 network_mode refused: "service:db" cannot be shared'],
    ['network_mode: "container:x"', '1:15 network_mode refused: "container:x" cannot be shared'],
    ['network_mode: none\nnetworks: [front]', '1:1 network_mode conflicts with networks'],
    [
      'networks: { front: { aliases: [db] } }',
      '1:31 networks.front.aliases the host name "db" is that of the service "db"',
    ],
    ['links: ["cache"]', '1:9 links[0] there is no service "cache"'],
  ])('refuse %s', async (lines, expected) => {
    const { errorLines } = await read(lines);
    expect(errorLines).toEqual([expect.stringContaining(expected)]);
  });

  test.each([
    ['networks: { front: { aliases: [a.b] } }', 'the alias "a.b" is ignored'],
    ['networks: { front: { ipv4_address: 172.20.0.2 } }', 'ignored: the cluster assigns addresses'],
  ])('report %s', async (lines, expected) => {
    const { errorLines, warningLines } = await read(lines);
    expect(errorLines).toEqual([]);
    expect(warningLines).toEqual([expect.stringContaining(expected)]);
  });

  test.each([
    [
      'networks: { a: { external: true } }',
      'warning',
      'networks.a.external ignored: each environment has networks of its own',
    ],
    ['networks: { a: { internal: true } }', 'warning', 'networks.a.internal ignored: the services can still reach'],
    ['networks: { a: { driver: macvlan } }', 'warning', "networks.a.driver ignored: the cluster's network"],
    ['networks: { a: { driver: host } }', 'error', "networks.a.driver refused: the machine's own network"],
    ['networks: { a: { ipam: { config: [] } } }', 'warning', "networks.a.ipam ignored: the cluster's network decides"],
  ])('report for %s: %s', async (rest, kind, expected) => {
    const { errors, warnings } = await read('', rest);
    const lines = (kind === 'error' ? errors : warnings).map(({ path, message }) => `${path} ${message}`);
    expect(lines).toEqual([expect.stringContaining(expected)]);
  });
});
