import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPrograms, programPath } from '../cluster/go/programs.ts';
import type { Progress } from '../support/progress.ts';
import { run, tryRun } from '../support/run.ts';
import { freePort } from '../local-server.ts';

/** A project of Docker Compose on this machine, which publishes its service `web`. */
export interface ComposeProject {
  /** Address of the service `web`. */
  url: string;
  /** Runs `docker compose up --build --detach` in a folder with a compose.yaml. */
  up(folder: string): Promise<void>;
  /** Deletes containers, network and images. */
  remove(): Promise<void>;
}

export interface DockerCompose {
  version: string;
  /** Prepares a project; `port` is that of the service in its container. */
  project(name: string, port: number): Promise<ComposeProject>;
  close(): Promise<void>;
}

/** Uses the machine's Docker Compose with buildx, or compiles both as plugins of the Docker client. */
export async function findDockerCompose(progress: Progress): Promise<DockerCompose> {
  const folder = await mkdtemp(join(tmpdir(), 'coppice-compose-'));
  const has = async (plugin: string) => (await tryRun('docker', [plugin, 'version'])) !== undefined;
  const isInstalled = (await has('compose')) && (await has('buildx'));
  if (!isInstalled) {
    await buildPrograms(['docker-compose', 'docker-buildx'], progress);
    const plugins = join(folder, 'cli-plugins');
    await mkdir(plugins);
    for (const name of ['docker-compose', 'docker-buildx'] as const) {
      await symlink(programPath(name), join(plugins, name));
    }
  }
  const env: Record<string, string> = isInstalled ? {} : { DOCKER_CONFIG: folder };
  const docker = (args: readonly string[]) => run('docker', args, { env, deadline: 900 });
  return {
    version: (await docker(['compose', 'version', '--short'])).trim(),
    async project(name, port) {
      const published = await freePort();
      // Only this machine reaches it, and a changed container keeps its port.
      const override = join(folder, `${name}.yaml`);
      await writeFile(override, `services: { web: { ports: !override ['127.0.0.1:${published}:${port}'] } }\n`);
      const compose = (at: string, ...args: string[]) =>
        docker([
          'compose',
          '--progress',
          'plain',
          '--project-name',
          name,
          '--file',
          join(at, 'compose.yaml'),
          '--file',
          override,
          ...args,
        ]);
      let last: string | undefined;
      return {
        url: `http://127.0.0.1:${published}/`,
        async up(at) {
          last = at;
          await compose(at, 'up', '--build', '--detach', '--quiet-pull');
        },
        async remove() {
          if (last === undefined || !existsSync(last)) return;
          await compose(last, 'down', '--rmi', 'local', '--timeout', '1');
          // Images of earlier builds, which have lost their names.
          const ofProject = `label=com.docker.compose.project=${name}`;
          await docker(['image', 'prune', '--force', '--filter', ofProject]);
        },
      };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
