import { buildPrograms, programPath } from './programs.ts';
import type { ProgramName } from './programs.ts';
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

/** Finds kind, kubectl and helm in a fitting version on the PATH, and builds those that are not there. */
export async function findCommandLineTools(progress: Progress): Promise<CommandLineTools> {
  const find = async (name: ProgramName & keyof CommandLineTools): Promise<string> => {
    const { version, fits } = onPath[name];
    const output = await tryRun(name, version);
    if (output !== undefined && fits(output)) return name;
    await buildPrograms([name], progress);
    return programPath(name);
  };
  return { kind: await find('kind'), kubectl: await find('kubectl'), helm: await find('helm') };
}
