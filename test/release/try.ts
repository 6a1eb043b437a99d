// Makes a release of this commit twice as a dry run, with the local registry, and compares both. Verifies signatures,
// provenance and SBOMs as docs/how-to/verify-a-release.md describes, installs the chart from the registry, builds and opens an
// environment, and rolls back. `--no-install` ends after the verification, `--install-only` starts after it. Exits with 1 on a
// failure.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { registriesAreReached } from '../cluster/images/base-images.ts';
import { withCleanUp } from '../support/clean-up.ts';
import { readConnection } from '../cluster/connection.ts';
import { kubectlOf } from '../cluster/kubectl.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { Problem } from '../support/problem.ts';
import { toolPath } from '../cluster/go/programs.ts';
import { runMain, startProgress } from '../support/progress.ts';
import { mirrorPath } from '../cluster/images/push-image.ts';
import { readRegistry, type Registry } from '../cluster/registries/registry.ts';
import { run, tryRun } from '../support/run.ts';
import { IMAGES } from '../cluster/versions.ts';
import { pageWith, startHarness } from '../end-to-end/harness.ts';
import { cosignProgram } from './cosign.ts';
import { OciRegistry } from './oci-registry.ts';
import { PROVENANCE_TYPE } from './provenance.ts';

const folder = 'release-try';
const progress = startProgress();
const scratch = mkdtempSync(join(tmpdir(), 'release-try-'));
const { version } = z
  .looseObject({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(REPOSITORY_ROOT, 'package.json'), 'utf8')));

function requireThat(holds: boolean, message: string): void {
  if (!holds) throw new Problem(message);
}

/** Makes the release; its files go to `out`. */
async function release(registry: Registry, out: string): Promise<void> {
  const args = ['--dry-run', '--registry', `${registry.hostAddress}/${folder}`, '--plain-http', '--out', out];
  if (!(await registriesAreReached())) {
    // The pinned base image cannot be pulled; the local one is in the registry.
    const client = new OciRegistry({ host: registry.hostAddress, insecure: true, credentials: registry });
    const [repository = '', tag = ''] = mirrorPath(IMAGES.node).split(':');
    const digest = await client.digestOf(repository, tag);
    requireThat(digest !== undefined, `the registry has no ${repository}:${tag}: run npm run up`);
    args.push('--node-image', `${registry.hostAddress}/${repository}@${digest}`);
  }
  await progress.step(`release ${version} to ${out}`, (detail) =>
    run('node', ['test/release/main.ts', version, ...args], {
      cwd: REPOSITORY_ROOT,
      env: { REGISTRY_USERNAME: registry.username, REGISTRY_PASSWORD: registry.password },
      detail,
      deadline: 3600,
    }),
  );
}

const payloadSchema = z.looseObject({ payload: z.string() });
const statementSchema = z.looseObject({
  predicateType: z.string(),
  subject: z.array(z.looseObject({ digest: z.object({ sha256: z.string() }) })),
  predicate: z.looseObject({}),
});

/** Returns the statements of cosign's output, one in each line. */
function statementsIn(output: string) {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => {
      const { payload } = payloadSchema.parse(JSON.parse(line));
      return statementSchema.parse(JSON.parse(Buffer.from(payload, 'base64').toString('utf8')));
    });
}

async function verify(registry: Registry, out: string, login: string): Promise<void> {
  const program = await cosignProgram(progress);
  const env = { DOCKER_CONFIG: login };
  const offline = ['--insecure-ignore-tlog', '--allow-http-registry'];
  const cosign = (key: string, command: string, ...args: string[]) =>
    run(program, [command, '--key', key, ...offline, ...args], { env, deadline: 120 });
  const key = join(out, 'cosign.pub');
  const blob = ['--insecure-ignore-tlog', '--bundle', join(out, 'SHA256SUMS.sigstore.json')];
  await run(program, ['verify-blob', '--key', key, ...blob, join(out, 'SHA256SUMS')]);
  await run('sha256sum', ['--check', '--ignore-missing', '--strict', 'SHA256SUMS'], { cwd: out });
  writeFileSync(join(scratch, 'changed'), `${readFileSync(join(out, 'SHA256SUMS'), 'utf8')}\n`);
  const forged = await tryRun(program, ['verify-blob', '--key', key, ...blob, join(scratch, 'changed')]);
  requireThat(forged === undefined, 'cosign accepts changed checksums');

  const other = join(scratch, 'other-key');
  mkdirSync(other);
  await run(program, ['generate-key-pair'], { cwd: other, env: { COSIGN_PASSWORD: 'other' } });
  const commit = (await run('git', ['rev-parse', 'HEAD'], { cwd: REPOSITORY_ROOT })).trim();
  for (const name of ['coppice', 'coppice-tester', 'charts/coppice']) {
    const reference = `${registry.hostAddress}/${folder}/${name}:${version}`;
    await cosign(key, 'verify', reference);
    const wrong = await cosign(join(other, 'cosign.pub'), 'verify', reference).catch(() => undefined);
    requireThat(wrong === undefined, `cosign verifies ${name} with another key`);
    const provenances = statementsIn(await cosign(key, 'verify-attestation', '--type', 'slsaprovenance1', reference));
    const text = JSON.stringify(provenances);
    requireThat(
      provenances.length > 0 &&
        provenances.every(({ predicateType }) => predicateType === PROVENANCE_TYPE) &&
        text.includes(commit),
      `the provenance of ${name} does not name the commit ${commit}`,
    );
  }
  const platforms = z.looseObject({ manifests: z.array(z.looseObject({ digest: z.string() })).optional() });
  for (const name of ['coppice', 'coppice-tester']) {
    const repository = `${registry.hostAddress}/${folder}/${name}`;
    const answer = await fetch(`http://${registry.hostAddress}/v2/${folder}/${name}/manifests/${version}`, {
      headers: {
        authorization: `Basic ${Buffer.from(`${registry.username}:${registry.password}`).toString('base64')}`,
        accept: 'application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json',
      },
    });
    const { manifests } = platforms.parse(await answer.json());
    const references = manifests?.map(({ digest }) => `${repository}@${digest}`) ?? [`${repository}:${version}`];
    for (const reference of references) {
      const [sbom] = statementsIn(await cosign(key, 'verify-attestation', '--type', 'cyclonedx', reference));
      const { components } = z
        .looseObject({ components: z.array(z.looseObject({ purl: z.string().optional() })) })
        .parse(sbom?.predicate);
      const kinds = new Set(components.map(({ purl = '' }) => purl.split('/')[0]));
      requireThat(
        ['pkg:npm', 'pkg:deb', 'pkg:generic'].every((kind) => kinds.has(kind)),
        `the SBOM of ${name} lacks a kind of packages`,
      );
    }
  }
}

async function releaseTwice(registry: Registry, login: string): Promise<void> {
  const [first, second] = [join(scratch, 'first'), join(scratch, 'second')];
  await release(registry, first);
  await release(registry, second);
  const [sums, again] = [first, second].map((out) => readFileSync(join(out, 'SHA256SUMS'), 'utf8'));
  requireThat(sums === again, `two releases of one commit differ:\n${sums}\n${again}`);
  await progress.step('verify signatures, provenance and SBOMs', () => verify(registry, second, login));
  console.log(readFileSync(join(second, 'release-notes.md'), 'utf8'));
}

/** Upgrades the local release to the chart in the registry, and opens an environment that it builds. */
async function install(registry: Registry, login: string): Promise<void> {
  const connection = readConnection();
  const kubectl = kubectlOf(connection);
  const env = { HELM_REGISTRY_CONFIG: join(login, 'config.json') };
  const helm = (...args: string[]) =>
    run(toolPath('helm'), ['--kubeconfig', connection.kubeconfig, '--namespace', 'coppice-system', ...args], {
      env,
      deadline: 330,
    });
  const values = z
    .looseObject({ tester: z.looseObject({ enabled: z.boolean() }).optional() })
    .parse(parse(await helm('get', 'values', 'coppice', '--output', 'yaml')));
  // The node reaches the registry by another name than this machine; the digests are those of the chart.
  const nodeAddress = registry.nodeAddress ?? registry.address;
  const released = {
    ...values,
    image: { repository: `${nodeAddress}/${folder}/coppice` },
    ...(values.tester?.enabled === true && {
      tester: { ...values.tester, image: { repository: `${nodeAddress}/${folder}/coppice-tester` } },
    }),
  };
  const file = join(scratch, 'values.yaml');
  writeFileSync(file, stringify(released), { mode: 0o600 });
  const chart = `oci://${registry.hostAddress}/${folder}/charts/coppice`;
  const harness = await startHarness('release');
  try {
    await progress.step('install the chart from the registry', () =>
      helm(
        'upgrade',
        'coppice',
        chart,
        '--version',
        version,
        '--plain-http',
        '--values',
        file,
        '--force-conflicts',
        '--wait',
        '--timeout',
        '300s',
      ),
    );
    const image = await kubectl([
      ...['get', 'deployment', 'coppice-operator', '--namespace', 'coppice-system'],
      ...['--output', 'jsonpath={.spec.template.spec.containers[0].image}'],
    ]);
    requireThat(
      /release-try\/coppice:.*@sha256:[0-9a-f]{64}$/.test(image),
      `the operator runs ${image}, not the released image`,
    );
    await progress.step('build and open an environment', async () => {
      const repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
      const { weburl } = await harness.built(await harness.spawn(repository, 'main'));
      await pageWith(weburl, 'Hello from the API', 60);
    });
  } finally {
    await harness.remove();
    await progress.step('roll back', () =>
      helm('rollback', 'coppice', '--force-conflicts', '--wait', '--timeout', '300s'),
    );
  }
}

await runMain(() =>
  withCleanUp(
    async () => {
      const registry = readRegistry();
      if (!registry) throw new Problem('There is no registry: run `npm run up`.');
      const login = join(scratch, 'login');
      mkdirSync(login);
      const auth = Buffer.from(`${registry.username}:${registry.password}`).toString('base64');
      writeFileSync(join(login, 'config.json'), JSON.stringify({ auths: { [registry.hostAddress]: { auth } } }), {
        mode: 0o600,
      });
      if (!process.argv.includes('--install-only')) await releaseTwice(registry, login);
      if (!process.argv.includes('--no-install')) await install(registry, login);
    },
    () => Promise.resolve(rmSync(scratch, { recursive: true, force: true })),
  ),
);
