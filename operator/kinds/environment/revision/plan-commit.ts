import { textsToMask } from '../../../../build-logs/masking/texts-to-mask.ts';
import { combineRepositories } from '../../../../service-file/combine-repositories.ts';
import type { FileContents } from '../../../../service-file/files.ts';
import { containerVariables, type EnvironmentFacts, OwnVariables } from '../../../../service-file/own-variables.ts';
import { readServiceFile } from '../../../../service-file/parse.ts';
import { formatProblem } from '../../../../service-file/problems.ts';
import type { FileBundle, IncludedRepository, ServiceFile } from '../../../../service-file/schema.ts';
import { storedAt } from '../../../../service-file/stored-file.ts';
import { planImages, type PlannedImage } from '../../../images/plan/image-plan.ts';
import { WatchBudget } from '../../../images/plan/watch.ts';
import { Stalled } from '../../../shared/errors.ts';
import type { SourceSnapshot } from '../../../source/git/source.ts';
import { onPlatform, refuseForbiddenImages, refuseForeignPlatforms } from './cluster-rules.ts';
import { hideSecrets } from './hide-secrets.ts';
import { type IncludedPart, type IncludedRepositories, servicesOf } from './included-repositories.ts';
import { type RevisionInput, revisionId, revisionIds } from './revision-id.ts';
import { secretTexts } from './revision-objects.ts';
import type { StoredRevision } from './revision.ts';

/** A commit with the configuration that it is planned with. */
export interface CommitToPlan {
  snapshot: SourceSnapshot;
  input: RevisionInput;
  /** Number of the build that is planned, or of the next one. */
  build: number;
  included: Pick<IncludedRepositories, 'resolve' | 'read' | 'statuses'>;
}

export interface CommitPlanSettings {
  /** Coppice's registry; services must not reference images in it. */
  registry: string;
  /** Platform of services that set none; defaults to the builders' own. */
  platform?: string | undefined;
  /** Labels of the nodes that environments are restricted to. */
  nodeSelector?: Record<string, string> | undefined;
  /** Key of hashes that are public but whose inputs are secret. */
  hashKey: Uint8Array;
  /** Called as soon as the commit turns out to be trusted code that has images to build. */
  onBuildAhead: () => void;
}

export interface PlannedCommit {
  revision: StoredRevision;
  /** Contents of the files that services mount, by the objects that store them. */
  contents: FileContents;
}

/** What the service files of a commit and of the repositories that it includes contain. */
interface ReadFiles {
  serviceFile: ServiceFile;
  /** Names of the services of the environment's own repository. */
  ownServices: ReadonlySet<string>;
  contents: FileContents;
  warnings: string[];
  parts: readonly IncludedPart[];
  watchBudget: WatchBudget;
}

/**
 * Plans a commit: reads its service file and those of the repositories that it includes, and plans the images. Throws
 * Stalled if a file must be corrected.
 */
export async function planCommit(commit: CommitToPlan, settings: CommitPlanSettings): Promise<PlannedCommit> {
  const { snapshot, input, build, included } = commit;
  const { hashKey } = settings;
  const own = new OwnVariables({ ...input.facts, commit: snapshot.commit, build });
  const read = await readFiles(commit, own, settings);
  const { serviceFile, contents, parts } = read;
  if (input.trusted && serviceFile.services.some((service) => service.build)) settings.onBuildAhead();
  refuseForbiddenImages(serviceFile, settings.registry);
  refuseForeignPlatforms(serviceFile, settings.nodeSelector);
  const images = await imagesOf(read, snapshot, { hashKey, own });
  const masked = textsToMask(parts.flatMap(({ variables }) => [...variables.values()]));
  const secrets = [...textsToMask([...input.variables.values()]), ...masked, ...secretTexts({ serviceFile }, contents)];
  const { services, hidden, warnings: omissions } = hideSecrets(serviceFile.services, secrets, hashKey);
  const ids = revisionIds(hashKey, input, { build, included: parts });
  const usesBuild = own.usesBuild || parts.some((part) => part.usesBuild);
  const revision: StoredRevision = {
    id: usesBuild ? ids.numbered : ids.plain,
    ...{ commit: snapshot.commit, author: snapshot.author, subject: snapshot.subject },
    serviceFile: { ...serviceFile, services },
    images: images.map((image) => withStoredSecrets(image, serviceFile.bundles)),
    warnings: [...read.warnings, ...omissions],
    trusted: input.trusted,
    own: containerVariables(input.facts),
    hidden,
    ...(parts.length > 0 && {
      ...{ repositories: [...included.statuses], masked },
      base: revisionId(hashKey, input),
    }),
  };
  return { revision, contents };
}

async function readFiles(
  { snapshot, input, build, included }: CommitToPlan,
  own: OwnVariables,
  { platform, hashKey }: CommitPlanSettings,
): Promise<ReadFiles> {
  const { variables, serviceFile: settings, facts } = input;
  const repository = nameOf(facts);
  const watchBudget = new WatchBudget();
  const parts: IncludedPart[] = [];
  const include = async (repositories: readonly IncludedRepository[]) => {
    if (repositories.some(({ name }) => name === repository)) throw includesItself(repository);
    const options = { own: repository, facts, build, platform, hashKey, watchBudget };
    for (const one of await included.resolve(repositories)) parts.push(await included.read(one, options));
    return servicesOf(parts);
  };
  const { files } = snapshot;
  const {
    serviceFile: ownFile,
    contents,
    errors,
    warnings,
  } = await readServiceFile({ files, variables, own, settings, hashKey, include });
  if (!ownFile) throw new Stalled('ServiceFileInvalid', errors.map(formatProblem).join('\n'));
  return {
    serviceFile: onPlatform(withIncluded(repository, ownFile, parts), platform),
    ownServices: new Set(ownFile.services.map(({ name }) => name)),
    // An object's name is the hash of its contents, so those of several repositories do not collide.
    contents: new Map([contents, ...parts.map((part) => part.contents)].flatMap((one) => [...one])),
    warnings: [...warnings.map(formatProblem), ...parts.flatMap((part) => part.warnings)],
    parts,
    watchBudget,
  };
}

/** Plans the images of the own repository's services; those of included repositories are planned already. */
async function imagesOf(
  { serviceFile, ownServices, parts, watchBudget }: ReadFiles,
  snapshot: SourceSnapshot,
  options: { hashKey: Uint8Array; own: OwnVariables },
): Promise<PlannedImage[]> {
  const services = serviceFile.services.filter(({ name }) => ownServices.has(name));
  const { images, problems } = await planImages(services, snapshot, options, watchBudget);
  if (problems.length > 0) throw new Stalled('ServiceFileInvalid', problems.join('\n'));
  return [...images, ...parts.flatMap((part) => part.images)];
}

/** Returns the name of the environment's own repository. */
function nameOf({ repository, group }: Pick<EnvironmentFacts, 'repository' | 'group'>): string {
  return repository.slice(group.length + 1);
}

function includesItself(name: string): Stalled {
  const message = `x-coppice.repositories: ${name} is the repository of the file itself, which is always part of it. Remove it`;
  return new Stalled('ServiceFileInvalid', message);
}

/** Returns the service file with those of the included repositories. */
function withIncluded(repository: string, serviceFile: ServiceFile, parts: readonly IncludedPart[]): ServiceFile {
  if (parts.length === 0) return serviceFile;
  const included = parts.map((part) => ({ repository: part.repository.name, serviceFile: part.serviceFile }));
  const { serviceFile: combined, problems } = combineRepositories({ repository, serviceFile }, included);
  if (problems.length > 0) throw new Stalled('ServiceFileInvalid', problems.join('\n'));
  return combined;
}

/** Returns the image with its build secrets named by the Secret and key that store them. */
function withStoredSecrets(image: PlannedImage, bundles: readonly FileBundle[]): PlannedImage {
  const secrets = image.secrets.map((secret) => {
    const bundle = bundles.find(({ name }) => name === secret.bundle);
    const file = bundle?.files.find(({ key }) => key === secret.key);
    if (!bundle || !file) throw new Error(`the service file has no bundle ${secret.bundle} for its build secret`);
    const { object, key } = storedAt(bundle, file);
    return { ...secret, bundle: object, key };
  });
  return { ...image, secrets };
}
