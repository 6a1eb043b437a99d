import { serviceFileOfDockerfile, yamlOfDockerfile } from './from-dockerfile.ts';
import { type FileContents, FileUnreadableError, type RepositoryFiles } from './files.ts';
import type { IncludedAs, IncludedServices } from './included.ts';
import { findServiceFile, type FoundServiceFile } from './find.ts';
import { loadServiceFile } from './load/load.ts';
import type { OwnVariables } from './own-variables.ts';
import { type Problem, Problems, quoted, SETTINGS, type SourcePosition } from './problems.ts';
import type { ReadContext } from './read/context.ts';
import { readTree } from './read/service-file.ts';
import type { IncludedRepository, ServiceFile } from './schema.ts';
import { checkSpecification } from './specification/check.ts';
import { overriding, type VariableLookup, type Variables } from './variables.ts';
import { startOf } from './yaml/yaml-tree.ts';

export interface ServiceFileRequest {
  files: RepositoryFiles;
  /** Empty for untrusted files, such as a fork's pull request. */
  variables: Variables;
  /** Those that Coppice sets, also for untrusted files. */
  own: OwnVariables;
  settings: ServiceFileSettings;
  /** Path of the service file in the repository, if it is not found by name. */
  path?: string;
  /** Key of the hashes in bundles' names. Without it, guesses of a bundle's contents could be verified. */
  hashKey?: Uint8Array;
  /**
   * Reads the repositories that the file includes. Without it they are not read, and services that the file expects of
   * them are not checked.
   */
  include?: (repositories: readonly IncludedRepository[]) => Promise<IncludedServices>;
  /** How the file itself is included; absent for that of the environment's own repository. */
  included?: IncludedAs;
}

/**
 * Where the service file comes from: the repository, its settings (`panel`), or the settings merged over the
 * repository's.
 */
export interface ServiceFileSettings {
  mode: 'repo' | 'panel' | 'both';
  /** YAML in the settings. */
  content?: string;
  /** YAML of one environment, which is merged over all others. */
  overrides?: string;
}

export interface ParsedServiceFile {
  /** Undefined if and only if there are errors. */
  serviceFile: ServiceFile | undefined;
  /** Contents of the files in the service file's bundles. */
  contents: FileContents;
  warnings: Problem[];
  errors: Problem[];
}

/**
 * Reads a repository's service file (docs/reference/service-file.md). Each key is supported, ignored with a warning, or
 * an error. Reports all errors at once, each with its file, path, line and column. Never throws because of the file's
 * content; errors of `files` other than FileUnreadableError are passed on.
 */
export async function readServiceFile(request: ServiceFileRequest): Promise<ParsedServiceFile> {
  const problems = new Problems(request.variables);
  const contents: ReadContext['contents'] = new Map();
  const serviceFile = await read(request, contents, problems);
  return {
    serviceFile: problems.hasErrors ? undefined : serviceFile,
    contents: problems.hasErrors ? new Map() : contents,
    warnings: problems.warnings,
    errors: problems.errors,
  };
}

async function read(
  { files, variables, own, settings, path, hashKey, include, included }: ServiceFileRequest,
  contents: ReadContext['contents'],
  problems: Problems,
): Promise<ServiceFile | undefined> {
  const content = settings.mode === 'repo' ? undefined : unlessEmpty(settings.content);
  const overrides = unlessEmpty(settings.overrides);
  if (settings.mode === 'panel' && content === undefined) {
    return problems.error(
      startOf(SETTINGS),
      'the settings contain no service file: write one, or set the mode to repo',
    );
  }
  const found = settings.mode === 'panel' ? undefined : findFile(files, path);
  if (found?.kind === 'misnamed') return problems.error(startOf(''), found.message);
  if (content === undefined && found?.kind === 'missing') return problems.error(startOf(''), found.message);
  const all = overriding(own, variables);
  const fromDockerfile =
    content === undefined && found?.kind === 'dockerfile' ? await readDockerfile(files, all, problems) : undefined;
  if (fromDockerfile && overrides === undefined) {
    return included?.hasAlias === false ? { ...fromDockerfile, publicRoutes: [] } : fromDockerfile;
  }
  const loaded = await loadServiceFile(
    {
      files,
      variables: all,
      ...(found?.kind === 'compose' && { path: found.name }),
      ...(fromDockerfile && { dockerfile: yamlOfDockerfile(fromDockerfile) }),
      ...(content !== undefined && { settings: content }),
      ...(overrides !== undefined && { overrides }),
    },
    problems,
  );
  if (loaded === undefined) return undefined;
  const misfits = new Problems(variables);
  checkSpecification(loaded.tree, misfits);
  const aliases = new Set<string>();
  const noting =
    include &&
    (async (repositories: readonly IncludedRepository[]) => {
      const others = await include(repositories);
      for (const alias of others.aliases) aliases.add(alias);
      return others;
    });
  const context = {
    ...{ problems, files, variables: loaded.variables, own, contents },
    ...(hashKey && { hashKey }),
    ...(noting && { include: noting }),
    ...(included && { included }),
  };
  const serviceFile = await readTree(loaded.tree, context);
  problems.addElsewhere(misfits);
  for (const { alias } of serviceFile?.publicRoutes ?? []) if (alias !== undefined) aliases.add(alias);
  // An included file can name an alias of another repository.
  if (serviceFile && !included) warnOfUnknownAliases(own, aliases, loaded.tree, problems);
  return serviceFile;
}

function unlessEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}

/** A variable of an alias has a value before it is known whether a service has the alias. */
function warnOfUnknownAliases(
  own: OwnVariables,
  aliases: ReadonlySet<string>,
  at: SourcePosition,
  problems: Problems,
): void {
  for (const [name, alias] of own.usedAliases()) {
    if (aliases.has(alias)) continue;
    problems.warn(at, `nothing answers at ${name}: correct its name, or give a public port the alias ${quoted(alias)}`);
  }
}

function findFile(files: RepositoryFiles, path: string | undefined): FoundServiceFile {
  if (path !== undefined) return { kind: 'compose', name: path };
  return findServiceFile(files.filesBelow('').filter((file) => !file.includes('/')));
}

async function readDockerfile(
  files: RepositoryFiles,
  variables: VariableLookup,
  problems: Problems,
): Promise<ServiceFile | undefined> {
  try {
    return serviceFileOfDockerfile((await files.read('Dockerfile')).toString('utf8'), variables, problems);
  } catch (error) {
    if (error instanceof FileUnreadableError) return problems.error(startOf('Dockerfile'), error.message);
    throw error;
  }
}
