import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBaseImages } from '../cluster/images/base-images.ts';
import type { Progress } from '../support/progress.ts';
import { proxyVariables } from '../support/proxies.ts';
import { Problem } from '../support/problem.ts';
import { run, tryRun } from '../support/run.ts';
import { IMAGES } from '../cluster/versions.ts';
import type { Destination } from './options.ts';

export interface ImageBuild {
  name: string;
  /** Path of the Dockerfile in the sources. */
  dockerfile: string;
}

export interface BuilderOptions {
  /** Folder with the sources of the commit. */
  source: string;
  commit: string;
  /** Time of the commit in Unix seconds: the time of everything in the images. */
  epoch: number;
  platforms: readonly string[];
  /** Replaces the base image of the Dockerfiles. */
  nodeImage?: string | undefined;
  /** Where the release is pushed. Only a base image from there needs its login: steps of a build could read it. */
  registry?: Destination | undefined;
}

const socket = 'unix:///tmp/buildkitd.sock';

/**
 * Builds images in a BuildKit of their own, rootless and without a cache, and writes each to a folder in the OCI Image
 * Layout. Files in the layers have the time of the commit at most.
 */
export async function buildImages(
  images: readonly ImageBuild[],
  to: string,
  options: BuilderOptions,
  progress: Progress,
): Promise<void> {
  await ensureBaseImages(['buildkit'], progress);
  const container = `coppice-release-${process.pid}`;
  try {
    await progress.step('start BuildKit', () => startBuildKit(container, options, join(to, '..')));
    for (const image of images) {
      await progress.step(`build ${image.name} for ${options.platforms.join(', ')}`, (detail) =>
        run('docker', execInBuildKit(container, ['build', ...buildArguments(image, options)]), {
          detail,
          deadline: 3600,
        }),
      );
      const folder = join(to, image.name);
      mkdirSync(folder, { recursive: true });
      await run('docker', ['cp', `${container}:/tmp/out/${image.name}.tar`, `${folder}.tar`], { deadline: 300 });
      await run('tar', ['--extract', '--file', `${folder}.tar`, '--directory', folder], { deadline: 300 });
      rmSync(`${folder}.tar`);
    }
  } finally {
    await tryRun('docker', ['rm', '--force', '--volumes', container]);
  }
}

/** Returns docker's arguments that run buildctl with the proxy variables of this process. */
function execInBuildKit(container: string, args: readonly string[]): string[] {
  const env = proxyVariables().flatMap((name) => ['--env', name]);
  return ['exec', ...env, container, 'buildctl', '--addr', socket, ...args];
}

function buildArguments({ name, dockerfile }: ImageBuild, options: BuilderOptions): string[] {
  const { commit, epoch, platforms, nodeImage } = options;
  const settings: Record<string, string> = {
    filename: dockerfile,
    platform: platforms.join(','),
    'build-arg:SOURCE_DATE_EPOCH': String(epoch),
    'build-arg:REVISION': commit,
    ...(nodeImage !== undefined && { 'build-arg:NODE_IMAGE': nodeImage }),
  };
  const output = `type=oci,dest=/tmp/out/${name}.tar,name=${name},rewrite-timestamp=true,oci-mediatypes=true`;
  return [
    ...['--frontend', 'dockerfile.v0', '--local', 'context=/tmp/source', '--local', 'dockerfile=/tmp/source'],
    ...Object.entries(settings).flatMap(([key, value]) => ['--opt', `${key}=${value}`]),
    // buildctl takes the values from its environment, because other processes see its arguments.
    ...proxyVariables().flatMap((name) => ['--opt', `build-arg:${name}`]),
    ...['--output', output],
  ];
}

/**
 * Returns the configuration of BuildKit. A line "# syntax=" in a Dockerfile fails, instead of running a program that the
 * provenance does not name.
 */
export function buildKitSettings({ nodeImage, registry }: Pick<BuilderOptions, 'nodeImage' | 'registry'>) {
  const base = registry !== undefined && nodeImage?.startsWith(`${registry.host}/`) === true ? registry : undefined;
  const plain = base?.insecure === true ? `[registry."${base.host}"]\n  http = true\n  insecure = true\n` : '';
  const { username = '', password = '' } = base?.credentials ?? {};
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  const auths = base?.credentials ? { [base.host]: { auth } } : {};
  return { toml: `[frontend."gateway.v0"]\n  enabled = false\n${plain}`, login: { auths } };
}

async function startBuildKit(container: string, options: BuilderOptions, scratch: string): Promise<void> {
  const { source } = options;
  const settings = join(scratch, 'buildkit');
  mkdirSync(join(settings, 'docker'), { recursive: true });
  const { toml, login } = buildKitSettings(options);
  writeFileSync(join(settings, 'buildkitd.toml'), toml);
  // Readable for the user of BuildKit; the folder above is not, for others.
  writeFileSync(join(settings, 'docker/config.json'), JSON.stringify(login));
  await run('docker', [
    ...['create', '--name', container, '--network', 'host'],
    // What rootless BuildKit needs: user namespaces, and a mounted /proc.
    ...['--security-opt', 'seccomp=unconfined', '--security-opt', 'apparmor=unconfined'],
    ...['--env', 'XDG_RUNTIME_DIR=/tmp', '--env', 'DOCKER_CONFIG=/tmp/settings/docker'],
    ...['--entrypoint', 'rootlesskit', IMAGES.buildkit],
    ...['--net=host', '--copy-up=/run', 'buildkitd', '--config=/tmp/settings/buildkitd.toml'],
    ...['--oci-worker-no-process-sandbox', `--addr=${socket}`],
  ]);
  // Copied, because the engine may have another file system.
  await run('docker', ['cp', settings, `${container}:/tmp/settings`]);
  rmSync(settings, { recursive: true });
  await run('docker', ['cp', source, `${container}:/tmp/source`], { deadline: 120 });
  await run('docker', ['start', container]);
  await run('docker', ['exec', container, 'mkdir', '/tmp/out']);
  for (let tries = 30; ; tries -= 1) {
    if ((await tryRun('docker', ['exec', container, 'buildctl', '--addr', socket, 'debug', 'workers'])) !== undefined)
      return;
    if (tries === 0) {
      const output = await tryRun('sh', ['-c', 'docker logs --tail 20 "$1" 2>&1', 'sh', container]);
      throw new Problem(`BuildKit did not start:\n${output ?? ''}`);
    }
    await sleep(1000);
  }
}
