import type { ParsedServiceFile } from './parse.ts';
import { Problems } from './problems.ts';

/**
 * The service file that a repository with only a Dockerfile stands for: one service `app`, its ports those that the
 * last stage EXPOSEs, public at the first of them. The build itself finds what is wrong in the Dockerfile.
 */
export function serviceFileOfDockerfile(text: string): ParsedServiceFile {
  const problems = new Problems();
  const ports = exposedPorts(text, problems);
  const [first] = ports;
  if (first === undefined) {
    problems.warn(
      { path: '', line: 1, column: 1 },
      'it EXPOSEs no port: the environment will have no web address; add EXPOSE, or a compose.yaml',
    );
  }
  return {
    serviceFile: {
      services: [
        {
          name: 'app',
          build: { context: '.', dockerfile: 'Dockerfile', args: {} },
          environment: {},
          ports: ports.toSorted((a, b) => a - b),
          dependsOn: [],
        },
      ],
      publicRoutes: first === undefined ? [] : [{ service: 'app', port: first, path: '/' }],
    },
    warnings: problems.warnings,
    errors: problems.errors,
  };
}

/** The TCP ports of the last stage's EXPOSE instructions, in the order of the file. */
function exposedPorts(text: string, problems: Problems): number[] {
  let ports = new Set<number>();
  for (const { line, words } of instructions(text)) {
    const [instruction, ...rest] = words;
    if (instruction?.toUpperCase() === 'FROM') ports = new Set();
    if (instruction?.toUpperCase() !== 'EXPOSE') continue;
    for (const word of rest) {
      const port = Number(/^(\d{1,5})(?:\/tcp)?$/i.exec(word)?.[1]);
      if (port >= 1 && port <= 65_535) ports.add(port);
      else
        problems.warn(
          { path: 'EXPOSE', line, column: 1 },
          `ignored: ${JSON.stringify(word)} is not one plain TCP port`,
        );
    }
  }
  return [...ports];
}

/** The Dockerfile's instructions as words: comments left out, continued lines joined. */
function instructions(text: string): { line: number; words: string[] }[] {
  const found: { line: number; words: string[] }[] = [];
  let continued = false;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line.startsWith('#') || line === '') continue;
    const words = line
      .replace(/\\$/, '')
      .split(/\s+/)
      .filter((word) => word !== '');
    if (continued) found.at(-1)?.words.push(...words);
    else found.push({ line: index + 1, words });
    continued = line.endsWith('\\');
  }
  return found;
}
