import { formatReference, parseReference } from '../registry/reference.ts';
import type { Dockerfile, DockerfileInstruction } from '../../../service-file/read-dockerfile.ts';

export interface BuildVariables {
  /** Build arguments of the service file, which override the Dockerfile's defaults. */
  args: Readonly<Record<string, string>>;
  /** Such as `linux/amd64`; defaults to the builder's own. */
  platform: string | undefined;
}

/** An instruction that decides which images a build uses. */
type BaseInstruction =
  | { kind: 'argument'; rest: string }
  | { kind: 'stage'; image: string; name?: string }
  | { kind: 'copy'; from: string };

/** The part of a Dockerfile that decides which images a build uses. */
export interface BaseInstructions {
  /** The image of a frontend that is downloaded. */
  frontend: string | undefined;
  /**
   * The frontend that `# syntax=` names if it is a stable version of the official one: buildkitd's built-in frontend is
   * as new, needs no download, and cannot change.
   */
  builtInSyntax: string | undefined;
  instructions: readonly BaseInstruction[];
}

/** Returns the instructions that decide which images a build uses, whatever the variables of the build are. */
export function baseInstructions({ syntax, instructions: all }: Dockerfile): BaseInstructions {
  const isOwn = syntax !== undefined && isBuiltIn(syntax);
  const instructions: BaseInstruction[] = [];
  let isInStage = false;
  for (const instruction of all) {
    const { name, rest } = instruction;
    if (name === 'FROM') {
      isInStage = true;
      instructions.push({ kind: 'stage', ...fromWords(instruction) });
    } else if (name === 'ARG') {
      if (!isInStage) instructions.push({ kind: 'argument', rest });
    } else instructions.push(...copiedFrom(instruction).map((from) => ({ kind: 'copy' as const, from })));
  }
  return { frontend: isOwn ? undefined : syntax, builtInSyntax: isOwn ? syntax : undefined, instructions };
}

/**
 * Returns the full names of the images that a Dockerfile starts from or copies from, sorted and unique. A name that
 * cannot be determined here (an unusual substitution, an unknown stage) is omitted: BuildKit then uses the image that
 * it finds.
 */
export function baseReferences({ frontend, instructions }: BaseInstructions, variables: BuildVariables): string[] {
  const stages = new Set<string>();
  const names = new Set(frontend === undefined ? [] : [frontend]);
  const values = platformValues(variables.platform);
  let stageCount = 0;
  const add = (name: string | undefined) => {
    if (name === undefined || name === 'scratch' || stages.has(name.toLowerCase())) return;
    if (!isStageNumber(name, stageCount)) names.add(name);
  };
  for (const instruction of instructions) {
    if (instruction.kind === 'argument') declare(instruction.rest, values, variables.args);
    else if (instruction.kind === 'copy') add(instruction.from);
    else {
      add(expand(instruction.image, values));
      stageCount += 1;
      if (instruction.name !== undefined) stages.add(instruction.name.toLowerCase());
    }
  }
  const whole = [...names].flatMap((name) => {
    const reference = parseReference(name);
    return reference ? [formatReference(reference)] : [];
  });
  return [...new Set(whole)].sort();
}

function isBuiltIn(syntax: string): boolean {
  return /^(docker\.io\/)?docker\/dockerfile(:(1(\.\d+){0,2}|latest))?$/.test(syntax);
}

function isStageNumber(name: string, stageCount: number): boolean {
  return /^\d+$/.test(name) && Number(name) < stageCount;
}

function fromWords({ rest }: DockerfileInstruction): { image: string; name?: string } {
  const [image = '', as, name] = rest.split(' ', 3);
  return { image, ...(as?.toUpperCase() === 'AS' && name !== undefined && { name }) };
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
