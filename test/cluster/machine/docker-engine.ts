import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { installDebianPackages, isDebianRoot } from './debian-packages.ts';
import { LOCAL_FOLDER, PROGRAMS_FOLDER } from '../../support/paths.ts';
import { Problem } from '../../support/problem.ts';
import type { Detail } from '../../support/progress.ts';
import { run, tryRun } from '../../support/run.ts';
import { waitFor } from '../../support/wait-for.ts';

const pidFile = join(LOCAL_FOLDER, 'dockerd.pid');
const dockerdLog = join(LOCAL_FOLDER, 'dockerd.log');

/** Returns true if a Docker Engine responds; otherwise undefined. */
export async function engineAnswers(): Promise<true | undefined> {
  const version = await tryRun('docker', ['version', '--format', '{{.Server.Version}}'], { deadline: 20 });
  return version?.trim() ? true : undefined;
}

/** Uses the Docker Engine that responds. If none does, installs and starts Debian's, on Debian as root. */
export async function ensureDockerEngine(detail: Detail): Promise<void> {
  if (await engineAnswers()) return;
  if (!isDebianRoot() || process.env.DOCKER_HOST) {
    throw new Problem(
      'No Docker Engine answers `docker version`. Start yours, or install one; on Debian as root it is installed for you.',
    );
  }
  detail('installing Debian package docker.io');
  await installDebianPackages(['docker.io'], detail);
  const hasSystemd = existsSync('/run/systemd/system');
  if (hasSystemd) {
    await run('systemctl', ['start', 'docker'], { detail });
  } else {
    detail('starting dockerd');
    await startDockerd();
  }
  const log = hasSystemd ? '`journalctl --unit docker` shows its log' : `its log: ${dockerdLog}`;
  await waitFor(`Docker Engine (${log})`, 120, engineAnswers);
}

/** Returns whether this process may pass on CAP_SYS_RESOURCE, which is capability 24 (capabilities(7), proc_pid_status(5)). */
function hasSysResource(): boolean {
  const permitted = /^CapPrm:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${permitted}`) >> 24n) & 1n) === 1n;
}

/** Returns dockerd's flags for the runtime that can run kind's nodes on this machine. */
export function runtimeFlags(): string[] {
  // Without CAP_SYS_RESOURCE, `docker run --privileged`, which kind uses, fails; a wrapper of runc removes that
  // capability.
  if (hasSysResource()) return [];
  mkdirSync(PROGRAMS_FOLDER, { recursive: true });
  const runtime = join(PROGRAMS_FOLDER, 'runc-without-sys-resource');
  copyFileSync(join(import.meta.dirname, 'runc-without-sys-resource'), runtime);
  return ['--add-runtime', `plain=${runtime}`, '--default-runtime', 'plain'];
}

/** Returns the environment of dockerd. */
export function engineEnvironment(): NodeJS.ProcessEnv {
  // The PATH may contain the node's containerd, which is newer than Docker's: Docker must not find its shim.
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => resolve(folder) !== PROGRAMS_FOLDER);
  return { ...process.env, PATH: folders.join(delimiter) };
}

/** Starts dockerd in a session of its own, and records its process ID for `npm run down`. */
async function startDockerd(): Promise<void> {
  const flags = runtimeFlags();
  mkdirSync(LOCAL_FOLDER, { recursive: true });
  const output = openSync(dockerdLog, 'a');
  const options = { detached: true, stdio: ['ignore' as const, output, output], env: engineEnvironment() };
  const dockerd = spawn('dockerd', flags, options);
  dockerd.on('error', (error) => console.error(`dockerd could not be started: ${error.message}`));
  dockerd.unref();
  if (dockerd.pid) writeFileSync(pidFile, String(dockerd.pid));
}

/** Returns whether `npm run up` has started dockerd, and `npm run down` has not stopped it since. */
export const startedHere = (): boolean => existsSync(pidFile);

/** Stops dockerd if `npm run up` has started it and it is still running. */
export async function stopDockerEngine(): Promise<void> {
  if (!startedHere()) return;
  const pid = Number(readFileSync(pidFile, 'utf8'));
  const runs = () => existsSync(`/proc/${pid}/comm`) && readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'dockerd';
  if (runs()) {
    process.kill(pid, 'SIGTERM');
    await waitFor('dockerd to end', 60, async () => (runs() ? undefined : true));
  }
  rmSync(pidFile);
}
