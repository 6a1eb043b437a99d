import { expect, test } from '@jest/globals';
import { missingFrom, runtimeDocument } from './sbom-document.ts';

const component = (name: string, more: object = {}) => ({
  ...{ 'bom-ref': `${name}@1.0.0`, name, version: '1.0.0' },
  ...{ hashes: [{ alg: 'SHA-512', content: 'ab' }], licenses: [{ license: { id: 'MIT' } }], ...more },
});
const parsed = JSON.stringify({
  bomFormat: 'CycloneDX',
  serialNumber: 'urn:uuid:1',
  metadata: { timestamp: 'now', component: { 'bom-ref': 'coppice@0.1.0', name: 'some-folder' } },
  components: [component('runs'), component('@scope/runs'), component('tests'), component('bare', { licenses: [] })],
  dependencies: [{ ref: 'coppice@0.1.0', dependsOn: ['runs@1.0.0', 'tests@1.0.0'] }, { ref: 'tests@1.0.0' }],
});
const lock = {
  packages: {
    '': {},
    'node_modules/runs': { version: '1.0.0' },
    'node_modules/runs/node_modules/@scope/runs': { version: '1.0.0' },
    'node_modules/tests': { version: '1.0.0', dev: true },
    'node_modules/bare': { version: '1.0.0' },
    'node_modules/lost': { version: '2.0.0' },
  },
};

test('contains what runs, and nothing that differs between runs', () => {
  const document = runtimeDocument(parsed, lock);
  expect(document.components.map(({ name }) => name)).toEqual(['runs', '@scope/runs', 'bare']);
  expect(document.dependencies).toEqual([{ ref: 'coppice@0.1.0', dependsOn: ['runs@1.0.0'] }]);
  expect(JSON.stringify(document)).not.toMatch(/urn:uuid|"now"|some-folder/);
});

test('reports locked packages that are not listed, and those without a licence', () => {
  expect(missingFrom(runtimeDocument(parsed, lock), lock)).toEqual([
    'bare@1.0.0 has no licence',
    'lost@2.0.0 is locked, and not in the SBOM',
  ]);
});
