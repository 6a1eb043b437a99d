import type { Kubectl } from '../cluster/kubectl.ts';

const namespace = 'coppice-builders';

export interface BuildkitRequest {
  /** Name of the builder's pod: `group-GROUP`, or `ephemeral-UID-NUMBER`. */
  builder: string;
  /** Docker's configuration file: the credentials of the client. */
  dockerConfig: string;
  /** A definition in BuildKit's format (raw-llb.ts). */
  source: Buffer;
  sourcePolicy?: string;
  /** Further arguments of `buildctl build`, such as `--output`; the files of the result go to a folder otherwise. */
  arguments?: readonly string[];
}

/**
 * Runs buildctl in a builder's pod with credentials of the caller's choice and without a frontend, as a frontend of an
 * attacker's could. Returns what buildctl wrote, and the names of the resulting files.
 */
export async function askBuildkitd(kubectl: Kubectl, request: BuildkitRequest): Promise<string> {
  const name = request.builder;
  const secret = (key: string) => {
    const path = `jsonpath={.data.${key.replaceAll('.', '\\.')}}`;
    return kubectl(['get', 'secret', name, '--namespace', namespace, '--output', path]);
  };
  const files: Record<string, string> = {
    'client.crt': await secret('client.crt'),
    'client.key': await secret('client.key'),
    'config.json': base64(request.dockerConfig),
    'policy.json': base64(request.sourcePolicy ?? '{}'),
    'source.llb': request.source.toString('base64'),
  };
  const given = request.arguments ?? ['--output', 'type=local,dest=out'];
  const script = [
    'cd "$(mktemp -d)"',
    ...Object.entries(files).map(([file, text]) => `echo ${text} | base64 -d > ${file}`),
    `DOCKER_CONFIG=$PWD buildctl --addr tcp://127.0.0.1:1234 --tlsservername ${name} --tlscacert /etc/buildkit-tls/ca.crt \\`,
    '  --tlscert client.crt --tlskey client.key build --no-cache --progress=plain --source-policy-file policy.json \\',
    `  ${given.map((one) => `'${one}'`).join(' ')} < source.llb 2>&1 && echo "exit code: 0"`,
    'echo "files: $(ls out 2>/dev/null)"',
  ].join('\n');
  return kubectl(['exec', '--stdin', name, '--namespace', namespace, '--', 'sh', '-s'], { input: script });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
