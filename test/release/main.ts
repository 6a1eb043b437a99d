// `npm run release -- VERSION` builds the release of the commit that is checked out, signs it, and pushes images and chart to
// a registry (CONTRIBUTING.md). Its files are in .local/release.
import { copyFileSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { LOCAL_FOLDER, REPOSITORY_ROOT } from '../support/paths.ts';
import { Problem } from '../support/problem.ts';
import { runMain, startProgress, type Progress } from '../support/progress.ts';
import { run } from '../support/run.ts';
import { lockSchema, runtimeDocument, type SbomDocument } from '../supply-chain/sbom-document.ts';
import { buildImages, type ImageBuild } from './build-images.ts';
import { readChangelog } from './changelog.ts';
import { archiveChart, chartArtefact, type ChartImage } from './chart-archive.ts';
import { Cosign, cosignProgram, temporaryKey } from './cosign.ts';
import { installedPackages } from './debian-packages.ts';
import { imageSbom } from './image-sbom.ts';
import { fileIn, imageIn, platformsOf } from './oci-layout.ts';
import { MEDIA_TYPES, OciRegistry, sha256 } from './oci-registry.ts';
import { createOutputFolder } from './output-folder.ts';
import { readOptions, repositoryOf, type ReleaseOptions } from './options.ts';
import { provenance, type Material } from './provenance.ts';
import { requirePublishable } from './publishable.ts';
import { releaseNotes, type Published } from './release-notes.ts';
import { takeSecrets, type ReleaseSecrets } from './secrets.ts';
import { exportSources, requireTag, type Sources } from './sources.ts';
import { versionsIn } from './versioned-files.ts';

interface ReleaseImage extends ImageBuild {
  /** Path of its values in the chart. */
  value: readonly string[];
  /** Whether it contains the optional npm packages. */
  hasOptional: boolean;
}

const images: ReleaseImage[] = [
  { name: 'coppice', dockerfile: 'Dockerfile', value: ['image'], hasOptional: false },
  { name: 'coppice-tester', dockerfile: 'tester/Dockerfile', value: ['tester', 'image'], hasOptional: true },
];

/** What the steps of one release share. */
interface Release {
  options: ReleaseOptions;
  sources: Sources;
  /** Folders: the sources, the images, the files of the release. */
  source: string;
  layouts: string;
  out: string;
  scratch: string;
  materials: Material[];
  progress: Progress;
}

/** Throws a Problem unless the sources are those of this version; returns its changes. */
function changesOf(source: string, version: string): string {
  const { releases, problems } = readChangelog(readFileSync(join(source, 'CHANGELOG.md'), 'utf8'));
  if (problems.length > 0) throw new Problem(`CHANGELOG.md is malformed:\n${problems.join('\n')}`);
  const release = releases[0];
  const others = versionsIn(source).filter(({ versions }) => versions.some((one) => one !== version));
  if (release?.version !== version || others.length > 0) {
    throw new Problem(
      `The sources are not of version ${version}. Run \`npm run release:prepare -- ${version}\`, and commit.`,
    );
  }
  return release.notes;
}

/** Returns what the images are built from: the commit, and their base image by digest. */
function materialsOf({ commit, uri }: Sources, source: string, nodeImage: string | undefined): Material[] {
  const [, pinned] = /^ARG NODE_IMAGE=(\S+)$/m.exec(readFileSync(join(source, 'Dockerfile'), 'utf8')) ?? [];
  const [, name, digest] = /^(.*)@sha256:([0-9a-f]{64})$/.exec(nodeImage ?? pinned ?? '') ?? [];
  if (name === undefined || digest === undefined) throw new Error('Dockerfile names no base image with a digest');
  return [
    { uri: `${uri}@${commit}`, digest: { gitCommit: commit } },
    { uri: `docker://${name}`, digest: { sha256: digest } },
  ];
}

function provenanceOf({ options, materials }: Release, source: string): object {
  const {
    GITHUB_SERVER_URL: server,
    GITHUB_REPOSITORY: repository,
    GITHUB_RUN_ID: run,
    GITHUB_WORKFLOW_REF: workflow,
  } = process.env;
  const isHosted = server !== undefined && repository !== undefined && run !== undefined && workflow !== undefined;
  return provenance({
    version: options.version,
    source,
    platforms: options.platforms,
    materials,
    builder: isHosted ? `${server}/${workflow}` : 'https://coppice.dev/release/local',
    invocation: isHosted ? `${server}/${repository}/actions/runs/${run}` : undefined,
  });
}

/** Returns the npm packages of an image, from the lock file of the checked out commit. */
async function npmPackages(hasOptional: boolean, source: string): Promise<SbomDocument> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--loglevel', 'error'];
  const lock = lockSchema.parse(JSON.parse(readFileSync(join(source, 'package-lock.json'), 'utf8')));
  return runtimeDocument(await run('npm', args, { cwd: REPOSITORY_ROOT }), lock, { hasOptional });
}

/** Writes the SBOM of each platform of an image; returns their files by platform. */
async function writeSboms(
  image: ReleaseImage,
  { options, source, layouts, out }: Release,
): Promise<Map<string, string>> {
  const layout = join(layouts, image.name);
  const npm = await npmPackages(image.hasOptional, source);
  const [, node = ''] =
    /^ARG NODE_IMAGE=node:([\d.]+)/m.exec(readFileSync(join(source, image.dockerfile), 'utf8')) ?? [];
  const files = new Map<string, string>();
  for (const [platform, manifest] of platformsOf(layout, imageIn(layout))) {
    const status = await fileIn(layout, manifest, 'var/lib/dpkg/status');
    const system = await fileIn(layout, manifest, 'usr/lib/os-release');
    const document = imageSbom(npm, {
      image: image.name,
      digest: manifest.digest,
      version: options.version,
      node,
      debianRelease: /^VERSION_ID="?(\d+)/m.exec(system ?? '')?.[1] ?? '',
      packages: installedPackages(status ?? ''),
    });
    const file = join(out, `${image.name}-${platform.replace('/', '-')}.cdx.json`);
    writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
    files.set(platform, file);
  }
  return files;
}

/** Writes the files that users download: the chart, the command line and the definitions. */
async function writeFiles(release: Release, chartImages: readonly ChartImage[]): Promise<Buffer> {
  const { options, source, layouts, out, scratch, sources } = release;
  const archive = await archiveChart(source, chartImages, sources.epoch, scratch);
  writeFileSync(join(out, `coppice-${options.version}.tgz`), archive);
  const layout = join(layouts, 'coppice');
  const [manifest] = platformsOf(layout, imageIn(layout)).values();
  const cli = manifest && (await fileIn(layout, manifest, 'app/cli/dist/coppice.mjs'));
  if (cli === undefined) throw new Error('the image coppice contains no command line');
  writeFileSync(join(out, 'coppice.mjs'), cli, { mode: 0o755 });
  const definitions = globSync('charts/coppice/files/crds/*.yaml', { cwd: source }).sort();
  const texts = definitions.map((file) => readFileSync(join(source, file), 'utf8').trim());
  writeFileSync(join(out, 'coppice-crds.yaml'), `${texts.join('\n---\n')}\n`);
  for (const name of ['LICENSE', 'NOTICE', 'LICENSES.md']) copyFileSync(join(source, name), join(out, name));
  return archive;
}

function writeChecksums(out: string): string {
  const file = join(out, 'SHA256SUMS');
  const lines = readdirSync(out)
    .sort()
    .map((name) => `${sha256(readFileSync(join(out, name)))}  ${name}\n`);
  writeFileSync(file, lines.join(''));
  return file;
}

/** Throws a Problem if the registry has another artefact of the version: what was released does not change. */
async function requireNew(
  registry: OciRegistry,
  repository: string,
  digest: string,
  { version, isDryRun }: ReleaseOptions,
): Promise<void> {
  const released = isDryRun ? undefined : await registry.digestOf(repository, version);
  if (released !== undefined && released !== digest) {
    throw new Problem(`${repository}:${version} is released already, as ${released}. Release another version.`);
  }
}

/** Pushes images and chart, signs them, and attaches their attestations. */
async function publish(release: Release, cosign: Cosign, sboms: ReadonlyMap<string, ReadonlyMap<string, string>>) {
  const { options, layouts, source, progress, scratch } = release;
  const destination = options.registry;
  if (destination === undefined) return [];
  const registry = new OciRegistry(destination);
  const published: Published[] = [];
  const fullName = (repository: string) => `${destination.host}/${repository}`;
  const attestProvenance = async (name: string, from: string, reference: string) => {
    const file = join(scratch, `${name}.provenance.json`);
    writeFileSync(file, JSON.stringify(provenanceOf(release, from)));
    await cosign.attest(reference, 'slsaprovenance1', file);
  };
  for (const { name, dockerfile } of images) {
    await progress.step(`publish ${name}`, async (detail) => {
      const layout = join(layouts, name);
      const repository = repositoryOf(destination, name);
      const image = imageIn(layout);
      await requireNew(registry, repository, image.digest, options);
      detail('pushing');
      const { digest } = image;
      await registry.pushFromLayout(layout, image, repository, digest);
      detail('signing');
      await cosign.sign(`${fullName(repository)}@${digest}`);
      await attestProvenance(name, dockerfile, `${fullName(repository)}@${digest}`);
      for (const [platform, manifest] of platformsOf(layout, image)) {
        const sbom = sboms.get(name)?.get(platform);
        if (sbom !== undefined) await cosign.attest(`${fullName(repository)}@${manifest.digest}`, 'cyclonedx', sbom);
      }
      // The tag comes last: whoever gets it finds the signatures.
      await registry.pushFromLayout(layout, image, repository, options.version);
      published.push({ name: fullName(repository), digest });
    });
  }
  const chartImages = images.flatMap(({ value, name }): ChartImage[] => {
    const repository = fullName(repositoryOf(destination, name));
    const digest = published.find((one) => one.name === repository)?.digest;
    return digest === undefined ? [] : [{ value, repository, digest }];
  });
  const archive = await writeFiles(release, chartImages);
  await progress.step('publish the chart', async () => {
    const repository = repositoryOf(destination, 'charts/coppice');
    const { config, manifest } = chartArtefact(
      archive,
      readFileSync(join(source, 'charts/coppice/Chart.yaml'), 'utf8'),
    );
    await requireNew(registry, repository, `sha256:${sha256(manifest)}`, options);
    for (const bytes of [config, archive]) {
      await registry.pushBlob(repository, `sha256:${sha256(bytes)}`, new Blob([new Uint8Array(bytes)]));
    }
    const digest = `sha256:${sha256(manifest)}`;
    await registry.pushManifest(repository, digest, MEDIA_TYPES.manifest, manifest);
    const reference = `${fullName(repository)}@${digest}`;
    await cosign.sign(reference);
    await attestProvenance('chart', 'charts/coppice', reference);
    await registry.pushManifest(repository, options.version, MEDIA_TYPES.manifest, manifest);
    published.push({ name: `oci://${fullName(repository)}`, digest });
  });
  return published;
}

async function signingKey(program: string, scratch: string, isDryRun: boolean, secrets: ReleaseSecrets) {
  const { COSIGN_PRIVATE_KEY: pem = '', COSIGN_PASSWORD: password = '' } = secrets;
  if (pem !== '') return { pem, password };
  if (isDryRun) return temporaryKey(program, join(scratch, 'key'));
  throw new Problem(
    'A release needs the key that signs it, in COSIGN_PRIVATE_KEY and COSIGN_PASSWORD. `cosign generate-key-pair` creates one.',
  );
}

await runMain(async () => {
  const secrets = takeSecrets(process.env);
  const options = readOptions(process.argv.slice(2), secrets);
  const progress = startProgress();
  const scratch = mkdtempSync(join(tmpdir(), 'coppice-release-'));
  try {
    const source = join(scratch, 'source');
    const sources = await exportSources(source);
    if (!options.isDryRun) {
      await requireTag(options.version);
      requirePublishable({
        chart: readFileSync(join(source, 'charts/coppice/Chart.yaml'), 'utf8'),
        results: readFileSync(join(source, 'test/full-results.json'), 'utf8'),
      });
    }
    const notes = changesOf(source, options.version);
    const out = resolve(options.out ?? join(LOCAL_FOLDER, 'release'));
    // That in the checkout can be of a release that failed.
    if (options.out === undefined) rmSync(out, { recursive: true, force: true });
    createOutputFolder(out);
    const materials = materialsOf(sources, source, options.nodeImage);
    const release: Release = {
      options,
      sources,
      source,
      layouts: join(scratch, 'images'),
      out,
      scratch,
      materials,
      progress,
    };
    const program = await cosignProgram(progress);
    const cosign = new Cosign({
      program,
      folder: join(scratch, 'cosign'),
      registry: options.registry,
      key: await signingKey(program, scratch, options.isDryRun, secrets),
    });
    await buildImages(images, release.layouts, { ...options, ...sources, source }, progress);
    const sboms = new Map<string, Map<string, string>>();
    await progress.step('list the contents of the images', async () => {
      for (const image of images) sboms.set(image.name, await writeSboms(image, release));
    });
    const published = await publish(release, cosign, sboms);
    if (published.length === 0) await writeFiles(release, []);
    writeFileSync(join(out, 'release-notes.md'), releaseNotes(notes, published));
    writeFileSync(join(out, 'images.txt'), localDigests(release.layouts));
    // Key and signature come afterwards: the checksums of two dry runs are equal.
    await cosign.signFile(writeChecksums(out), join(out, 'SHA256SUMS.sigstore.json'));
    writeFileSync(join(out, 'cosign.pub'), await cosign.publicKey());
    console.log(
      readFileSync(join(out, 'images.txt'), 'utf8') +
        published.map(({ name, digest }) => `${name}@${digest}\n`).join(''),
    );
    console.log(`The files of the release are in ${out}.`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

/** Returns the digests of the images, which two runs on the same commit share. */
function localDigests(layouts: string): string {
  return images.map(({ name }) => `${name}@${imageIn(join(layouts, name)).digest}\n`).join('');
}
