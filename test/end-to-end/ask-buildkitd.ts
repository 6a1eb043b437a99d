import type { Kubectl } from '../cluster/kubectl.ts';

const namespace = 'coppice-builders';

/** The pod of a running build, which reaches its builder and the registry's token server. */
export interface BuildPod {
  namespace: string;
  pod: string;
  /** Container that runs buildctl. */
  container: string;
}

export interface BuildkitRequest {
  /** The pod that asks: a builder's own (`group-GROUP`), which does not reach the token server, or a build's. */
  from: { builder: string } | BuildPod;
  /** Docker's configuration file: the credentials of the client. */
  dockerConfig: string;
  /** A definition in BuildKit's format (raw-llb.ts). */
  source: Buffer;
  sourcePolicy?: string;
  /** Further arguments of `buildctl build`, such as `--output`; the files of the result go to a folder otherwise. */
  arguments?: readonly string[];
}

/**
 * Runs buildctl with credentials of the caller's choice and without a frontend, as a frontend of an attacker's could.
 * Returns what buildctl wrote, and the names of the resulting files.
 */
export async function askBuildkitd(kubectl: Kubectl, request: BuildkitRequest): Promise<string> {
  const { target, files, connection } =
    'builder' in request.from ? await fromBuilder(kubectl, request.from.builder) : fromBuild(request.from);
  const written: Record<string, string> = {
    ...files,
    'config.json': base64(request.dockerConfig),
    'policy.json': base64(request.sourcePolicy ?? '{}'),
    'source.llb': request.source.toString('base64'),
  };
  const given = request.arguments ?? ['--output', 'type=local,dest=out'];
  const script = [
    // Only /tmp is writable in a build's container.
    'set -e; cd "$(mktemp -d 2>/dev/null || mktemp -d -p /tmp)"; set +e',
    ...Object.entries(written).map(([file, text]) => `echo ${text} | base64 -d > ${file}`),
    `DOCKER_CONFIG=$PWD buildctl ${connection} \\`,
    '  build --no-cache --progress=plain --source-policy-file policy.json \\',
    `  ${given.map((one) => `'${one}'`).join(' ')} < source.llb 2>&1 && echo "exit code: 0"`,
    'echo "files: $(ls out 2>/dev/null)"',
  ].join('\n');
  return kubectl(['exec', '--stdin', ...target, '--', 'sh', '-s'], { input: script });
}

/** What to run buildctl in, the files that it needs there, and its arguments for the connection. */
interface BuildctlLocation {
  target: readonly string[];
  files: Readonly<Record<string, string>>;
  connection: string;
}

async function fromBuilder(kubectl: Kubectl, name: string): Promise<BuildctlLocation> {
  const secret = (key: string) => {
    const path = `jsonpath={.data.${key.replaceAll('.', '\\.')}}`;
    return kubectl(['get', 'secret', name, '--namespace', namespace, '--output', path]);
  };
  const [certificate, key] = await Promise.all([secret('client.crt'), secret('client.key')]);
  const tls = `--tlsservername ${name} --tlscacert /etc/buildkit-tls/ca.crt --tlscert client.crt --tlskey client.key`;
  return {
    target: [name, '--namespace', namespace],
    files: { 'client.crt': certificate, 'client.key': key },
    connection: `--addr tcp://127.0.0.1:1234 ${tls}`,
  };
}

/** The build's own buildctl is the container's first process. */
function fromBuild({ namespace: environment, pod, container }: BuildPod): BuildctlLocation {
  return {
    target: [pod, '--namespace', environment, '--container', container],
    files: {},
    connection: "$(tr '\\0' '\\n' < /proc/1/cmdline | grep -E '^--(addr|tls[a-z]*)=')",
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
