import { formatReference, parseReference } from '../registry/reference.ts';
import { readDockerfile, type DockerfileInstruction } from '../../../service-file/read-dockerfile.ts';

export interface BuildVariables {
  /** Build arguments of the service file, which override the Dockerfile's defaults. */
  args: Readonly<Record<string, string>>;
  /** Such as `linux/amd64`; defaults to the builder's own. */
  platform: string | undefined;
}

/**
 * Returns the full names of the images that a Dockerfile starts from or copies from, sorted and unique. A name that
 * cannot be determined here (an unusual substitution, an unknown stage) is omitted: BuildKit then uses the image that
 * it finds.
 */
export function baseReferences(text: string, variables: BuildVariables): string[] {
  const { syntax, instructions } = readDockerfile(text);
  const stages = new Set<string>();
  const names = syntax === undefined || isBuiltIn(syntax) ? [] : [syntax];
  const values = platformValues(variables.platform);
  let stageCount = 0;
  for (const instruction of instructions) {
    if (instruction.name === 'ARG' && stageCount === 0) declare(instruction.rest, values, variables.args);
    const named = instruction.name === 'FROM' ? expand(fromWords(instruction).image, values) : copiedFrom(instruction);
    for (const name of [named ?? []].flat()) {
      if (name !== 'scratch' && !stages.has(name.toLowerCase()) && !isStageNumber(name, stageCount)) names.push(name);
    }
    if (instruction.name !== 'FROM') continue;
    stageCount += 1;
    const { stage } = fromWords(instruction);
    if (stage !== undefined) stages.add(stage.toLowerCase());
  }
  const whole = names.flatMap((name) => {
    const reference = parseReference(name);
    return reference ? [formatReference(reference)] : [];
  });
  return [...new Set(whole)].sort();
}

/**
 * Returns the frontend that `# syntax=` names if it is a stable version of the official one: buildkitd's built-in
 * frontend is as new, needs no download, and cannot change.
 */
export function builtInSyntax(text: string): string | undefined {
  const { syntax } = readDockerfile(text);
  return syntax !== undefined && isBuiltIn(syntax) ? syntax : undefined;
}

function isBuiltIn(syntax: string): boolean {
  return /^(docker\.io\/)?docker\/dockerfile(:(1(\.\d+){0,2}|latest))?$/.test(syntax);
}

function isStageNumber(name: string, stageCount: number): boolean {
  return /^\d+$/.test(name) && Number(name) < stageCount;
}

function fromWords({ rest }: DockerfileInstruction): { image: string; stage: string | undefined } {
  const [image = '', as, stage] = rest.split(' ');
  return { image, stage: as?.toUpperCase() === 'AS' ? stage : undefined };
}

/** Returns what `COPY --from=` and `RUN --mount=…,from=` name; neither expands variables. */
function copiedFrom({ name, flags }: DockerfileInstruction): string[] {
  const valuesOf = (flag: string) =>
    flags.filter((word) => word.startsWith(`--${flag}=`)).map((word) => word.slice(flag.length + 3));
  if (name === 'COPY' || name === 'ADD') return valuesOf('from');
  if (name !== 'RUN') return [];
  return valuesOf('mount').flatMap((mount) =>
    mount
      .split(',')
      .filter((field) => field.startsWith('from='))
      .map((field) => field.slice('from='.length)),
  );
}

function platformValues(platform: string | undefined): Map<string, string> {
  const own = process.arch === 'x64' ? 'amd64' : process.arch;
  const [os = 'linux', architecture = own, variant = ''] = (platform ?? '').split('/').filter(Boolean);
  return new Map([
    ['TARGETPLATFORM', [os, architecture, variant].filter(Boolean).join('/')],
    ['TARGETOS', os],
    ['TARGETARCH', architecture],
    ['TARGETVARIANT', variant],
    ['BUILDPLATFORM', `linux/${own}`],
    ['BUILDOS', 'linux'],
    ['BUILDARCH', own],
    ['BUILDVARIANT', ''],
  ]);
}

/** `ARG A B=1 C="x $B"` before the first stage. */
function declare(rest: string, values: Map<string, string>, args: Readonly<Record<string, string>>): void {
  for (const [, name = '', quoted] of rest.matchAll(/([A-Za-z_]\w*)(?:=("[^"]*"|'[^']*'|\S*))?/g)) {
    const given = Object.hasOwn(args, name) ? args[name] : undefined;
    const value = given ?? (quoted === undefined ? undefined : expand(unquoted(quoted), values));
    if (value !== undefined) values.set(name, value);
  }
}

function unquoted(text: string): string {
  return /^(["']).*\1$/.test(text) ? text.slice(1, -1) : text;
}

/** Maximum length of a text with its variables filled in: each line could multiply the length of the line before. */
const maxExpanded = 1024;

/** Expands `$A`, `${A}`, `${A:-x}`, `${A-x}`, `${A:+x}` and `${A+x}`; undefined for any other form, and if it is long. */
function expand(text: string, values: ReadonlyMap<string, string>): string | undefined {
  let length = 0;
  const expanded = unquoted(text).replace(
    /\$(?:(\w+)|\{(\w+)(?:(:?[-+])([^{}$]*))?\})/g,
    (_whole, plain: string | undefined, braced: string | undefined, operator: string | undefined, word: string) => {
      const filled = filledIn(values.get(plain ?? braced ?? ''), operator, word);
      length += filled.length;
      return length > maxExpanded ? '' : filled;
    },
  );
  return length > maxExpanded || expanded.includes('$') ? undefined : expanded;
}

function filledIn(value: string | undefined, operator: string | undefined, word: string): string {
  if (operator === undefined) return value ?? '';
  const isSet = operator.startsWith(':') ? value !== undefined && value !== '' : value !== undefined;
  if (operator.endsWith('-')) return isSet ? (value ?? '') : word;
  return isSet ? word : '';
}
