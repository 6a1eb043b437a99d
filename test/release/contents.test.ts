import { expect, test } from '@jest/globals';
import { chartArtefact, withImages } from './chart-archive.ts';
import { installedPackages } from './debian-packages.ts';
import { imageSbom } from './image-sbom.ts';
import { sha256 } from './oci-registry.ts';
import { provenance } from './provenance.ts';
import { releaseNotes } from './release-notes.ts';

const digest = `sha256:${'5e'.repeat(32)}`;

test('lists the installed packages of Debian by name', () => {
  const status = [
    'Package: zlib1g\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:1.2.13.dfsg-1\nDescription: compression\n more',
    'Package: removed\nStatus: deinstall ok config-files\nArchitecture: all\nVersion: 1.0',
    'Package: adduser\nStatus: install ok installed\nArchitecture: all\nVersion: 3.134',
  ].join('\n\n');
  expect(installedPackages(status)).toEqual([
    { name: 'adduser', version: '3.134', architecture: 'all' },
    { name: 'zlib1g', version: '1:1.2.13.dfsg-1', architecture: 'amd64' },
  ]);
});

test('describes an image by its npm packages, Node.js and Debian packages', () => {
  const npm = {
    bomFormat: 'CycloneDX' as const,
    metadata: { component: { 'bom-ref': 'coppice@0.1.0', type: 'application', name: 'coppice' } },
    components: [{ 'bom-ref': 'ws@8.0.0', name: 'ws', version: '8.0.0', hashes: [], licenses: [] }],
    dependencies: [{ ref: 'coppice@0.1.0', dependsOn: ['ws@8.0.0'] }],
  };
  const document = imageSbom(npm, {
    image: 'coppice',
    digest,
    version: '0.1.0',
    node: '24.1.0',
    debianRelease: '12',
    packages: [{ name: 'libstdc++6', version: '12.2.0-14', architecture: 'amd64' }],
  });
  const debian = 'pkg:deb/debian/libstdc%2B%2B6@12.2.0-14?arch=amd64&distro=debian-12';
  expect(document.components.map((component) => component['bom-ref'])).toEqual([
    'coppice@0.1.0',
    'pkg:generic/node@24.1.0',
    'ws@8.0.0',
    debian,
  ]);
  expect(document.dependencies).toEqual([
    {
      ref: `pkg:oci/coppice@sha256%3A${'5e'.repeat(32)}`,
      dependsOn: ['coppice@0.1.0', 'pkg:generic/node@24.1.0', debian],
    },
    { ref: 'coppice@0.1.0', dependsOn: ['ws@8.0.0'] },
  ]);
});

test('sets images by digest as defaults of the chart, and keeps comments', () => {
  const values =
    "# Coppice's own.\nimage:\n  repository: coppice # without a tag\n  tag: ''\n  digest: '' # sha256:…\ntester:\n  image: { repository: coppice-tester, digest: '' }\n";
  const text = withImages(values, [
    { value: ['image'], repository: 'registry.example.com/coppice', digest },
    { value: ['tester', 'image'], repository: 'registry.example.com/coppice-tester', digest },
  ]);
  expect(text).toContain("# Coppice's own.\nimage:\n  repository: registry.example.com/coppice # without a tag\n");
  expect(text).toContain(`digest: '${digest}' # sha256:…`);
  expect(text).toMatch(
    new RegExp(`image: \\{ repository: registry.example.com/coppice-tester, digest: '${digest}' \\}`),
  );
});

test('stores the chart as Helm does', () => {
  const archive = Buffer.from('archive');
  const yaml =
    'name: coppice\nversion: 1.2.3\ndescription: Some\nhome: https://a.example\nsources: [https://b.example]\n';
  const { config, manifest } = chartArtefact(archive, yaml);
  expect(JSON.parse(config.toString())).toMatchObject({ name: 'coppice', version: '1.2.3' });
  expect(JSON.parse(manifest)).toMatchObject({
    config: { mediaType: 'application/vnd.cncf.helm.config.v1+json', digest: `sha256:${sha256(config)}` },
    layers: [
      {
        mediaType: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
        digest: `sha256:${sha256(archive)}`,
        size: 7,
      },
    ],
    annotations: {
      'org.opencontainers.image.version': '1.2.3',
      'org.opencontainers.image.source': 'https://b.example',
    },
  });
  expect(manifest).not.toContain('created');
});

test('states what was built from what, and by whom, without a time', () => {
  const materials = [{ uri: 'git+https://a.example@abc', digest: { gitCommit: 'abc' } }];
  const platforms = ['linux/arm64', 'linux/amd64'];
  const input = { version: '1.2.3', source: 'Dockerfile', platforms, materials, builder: 'https://b.example' };
  expect(provenance(input)).toEqual({
    buildDefinition: {
      buildType: 'https://coppice.dev/release/v1',
      externalParameters: { version: '1.2.3', source: 'Dockerfile', platforms: ['linux/amd64', 'linux/arm64'] },
      internalParameters: {},
      resolvedDependencies: materials,
    },
    runDetails: { builder: { id: 'https://b.example' }, metadata: {} },
  });
});

test('lists what was published below the changes', () => {
  const notes = releaseNotes('### Added\n\n- A thing.', [{ name: 'registry.example.com/coppice', digest }]);
  expect(notes).toMatch(/^### Added\n\n- A thing\.\n\n## Images and chart\n\n\| name/);
  expect(notes).toContain(`| \`registry.example.com/coppice\` | \`${digest}\` |`);
  expect(releaseNotes('### Added\n\n- A thing.', [])).not.toContain('Images');
});
