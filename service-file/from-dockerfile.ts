import type { Problems } from './problems.ts';
import { declaredArguments, type DockerfileInstruction, readDockerfile } from './read-dockerfile.ts';
import { BUILD_DEFAULTS, SERVICE_DEFAULTS, type ServiceFile } from './schema.ts';
import type { VariableLookup } from './variables.ts';

const fileName = 'Dockerfile';

/**
 * Returns the service file for a repository with only a Dockerfile: one service `app` with the ports that the last
 * stage EXPOSEs, the first of which is public. Variables that the Dockerfile declares as ARG are build arguments.
 * Errors in the Dockerfile are reported by the build.
 */
export function serviceFileOfDockerfile(text: string, variables: VariableLookup, problems: Problems): ServiceFile {
  const { instructions: found } = readDockerfile(text);
  const ports = exposedPorts(found, problems);
  const [first] = ports;
  if (first === undefined) {
    problems.warn(
      { file: fileName, path: '', line: 1, column: 1 },
      'it EXPOSEs no port: the environment will have no web address; add EXPOSE, or a compose.yaml',
    );
  }
  const build = { ...BUILD_DEFAULTS, args: buildArgs(found, variables) };
  return {
    services: [{ ...SERVICE_DEFAULTS, name: 'app', build, ports: ports.toSorted((a, b) => a - b) }],
    publicRoutes: first === undefined ? [] : [{ service: 'app', port: first, path: '/' }],
    volumes: [],
    bundles: [],
  };
}

/** Returns the service file of a Dockerfile as YAML, over which another can be merged. */
export function yamlOfDockerfile({ services, publicRoutes }: ServiceFile): string {
  const shown = services.map(({ name, build, ports }) => {
    const shownFirst = publicRoutes.find(({ service }) => service === name)?.port;
    const ordered = [...ports].sort((a, b) => Number(b === shownFirst) - Number(a === shownFirst));
    // A name without a value takes that of the variable, which may contain a `$`.
    const fields = {
      build: { context: '.', args: Object.keys(build?.args ?? {}) },
      ...(ordered.length > 0 && { ports: ordered.map((port) => `${port}:${port}`) }),
    };
    return [name, fields] as const;
  });
  return JSON.stringify({ services: Object.fromEntries(shown) });
}

/** Returns the declared arguments for which there is a variable, sorted by name. */
function buildArgs(found: readonly DockerfileInstruction[], variables: VariableLookup): Record<string, string> {
  const args = declaredArguments(found).flatMap((name) => {
    const value = variables.get(name)?.value;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(args);
}

/** Returns the TCP ports of the last stage's EXPOSE instructions, in the order of the file. */
function exposedPorts(found: readonly DockerfileInstruction[], problems: Problems): number[] {
  let ports = new Set<number>();
  for (const { line, name, flags, rest } of found) {
    if (name === 'FROM') ports = new Set();
    if (name !== 'EXPOSE') continue;
    for (const word of [...flags, ...rest.split(' ')].filter((one) => one !== '')) {
      const port = Number(/^(\d{1,5})(?:\/tcp)?$/i.exec(word)?.[1]);
      if (port >= 1 && port <= 65_535) ports.add(port);
      else
        problems.warn(
          { file: fileName, path: 'EXPOSE', line, column: 1 },
          `ignored: ${JSON.stringify(word)} is not one plain TCP port`,
        );
    }
  }
  return [...ports];
}
