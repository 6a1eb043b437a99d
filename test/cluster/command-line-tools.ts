import { buildPrograms, programPath } from './programs.ts';
import type { Progress } from './progress.ts';
import { tryRun } from './run.ts';
import { versions } from './versions.ts';

/** Where the three command line tools are: on the PATH, or in the cache folder. */
export interface CommandLineTools {
  kind: string;
  kubectl: string;
  helm: string;
}

const minorOf = (version: string): number => Number(/v?1\.(\d+)/.exec(version)?.[1]);

/** kubectl is supported one minor version older or newer than the API server. */
function kubectlFits(output: string): boolean {
  const client = /"gitVersion": *"v1\.(\d+)/.exec(output)?.[1];
  return client !== undefined && Math.abs(Number(client) - minorOf(versions.kubernetes)) <= 1;
}

const onPath: Record<keyof CommandLineTools, { version: string[]; fits: (output: string) => boolean }> = {
  kind: { version: ['version', '-q'], fits: (output) => output.trim().replace(/^v?/, 'v') === versions.kind },
  kubectl: { version: ['version', '--client', '-o', 'json'], fits: kubectlFits },
  helm: {
    version: ['version', '--template', '{{.Version}}'],
    fits: (output) => /^v(3\.(1[4-9]|[2-9]\d)|4)\b/.test(output),
  },
};

const names = ['kind', 'kubectl', 'helm'] as const;

/** Returns which of kind, kubectl and helm are not on the PATH in a fitting version. */
export async function missingCommandLineTools(): Promise<(typeof names)[number][]> {
  const fitting = await Promise.all(
    names.map(async (name) => {
      const output = await tryRun(name, onPath[name].version);
      return output !== undefined && onPath[name].fits(output);
    }),
  );
  return names.filter((_name, index) => fitting[index] !== true);
}

/** Finds kind, kubectl and helm in a fitting version on the PATH, and compiles those that are not there. */
export async function findCommandLineTools(progress: Progress): Promise<CommandLineTools> {
  const missing = await missingCommandLineTools();
  await buildPrograms(missing, progress);
  const find = (name: (typeof names)[number]) => (missing.includes(name) ? programPath(name) : name);
  return { kind: find('kind'), kubectl: find('kubectl'), helm: find('helm') };
}
