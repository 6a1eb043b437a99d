import { findCondition } from '../../../crds/conditions.ts';
import type { Environment } from '../../../crds/environment.ts';
import type { BuildStatus } from '../../../crds/environment-build.ts';
import { formatId, idOf } from '../../../crds/ids.ts';
import { hasNamespace } from '../../kinds/environment/scope/contents.ts';
import { summarize } from '../environment-tests/summary.ts';
import { currentBuild, logsUrlOf, waitingCommit } from './current-build.ts';
import { codeBlock, codeSpan } from './text.ts';

/** Hosts accept at least 32,000 characters, which this number of sections does not reach. */
const maxSections = 20;
const maxReasons = 10_000;

/**
 * Returns the line that identifies the comment. It names the repository and the pull request, because all their
 * environments share the comment, and the API, because two installations can report to one repository. It is a Markdown
 * link definition, which every host stores but does not show.
 */
export function commentMarker(environment: Environment, apiUrl: URL): string {
  const { repository, gitRef } = environment.spec;
  const id = formatId({ ...idOf(environment), name: repository });
  return `[//]: # (coppice ${id}/${gitRef.name} at ${apiUrl.host})`;
}

/**
 * Returns the comment in Markdown: a section for each environment of the pull request, sorted by name. Environments
 * that are being deleted are omitted. The marker is the last line.
 */
export function commentBody(environments: readonly Environment[], marker: string, apiUrl: URL): string {
  const staying = environments
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
  const shown = staying.slice(0, maxSections);
  const maxReason = Math.floor(maxReasons / Math.max(shown.length, 1));
  const more = staying.length - shown.length;
  const paragraphs = [
    ...shown.flatMap((environment) => sectionOf(environment, apiUrl, maxReason)),
    more > 0 ? `And ${more} more.` : '',
    staying.length === 0 ? 'The environments of this pull request were removed.' : '',
    marker,
  ];
  return `${paragraphs.filter((text) => text !== '').join('\n\n')}\n`;
}

function sectionOf(environment: Environment, apiUrl: URL, maxReason: number): string[] {
  const { metadata, status } = environment;
  const heading = `**Environment ${metadata.name}**`;
  const waiting = waitingWords();
  if (!hasNamespace(status ?? {})) return [heading, waiting === '' ? 'It has no contents now.' : waiting];
  const build = currentBuild(environment);
  if (!build) return [heading, 'It is not built.', waiting];
  const log = `[Log of build ${build.number}](${logsUrlOf(environment, apiUrl, build.number)})`;
  return [heading, ...paragraphsOn(build), includedWords(build), ...testWords(), trustWords(), log, waiting];

  function paragraphsOn({ number, commit, result, message }: BuildStatus): string[] {
    const name = `Build ${number}${commit === undefined ? '' : ` of \`${commit.slice(0, 12)}\``}`;
    switch (result) {
      case 'running':
        if (message !== undefined) return [`${name} is under way:`, codeBlock(message, maxReason), stillRuns()];
        return [`${name} is under way.`, stillRuns()];
      case 'succeeded':
        return [`${name} runs${address()}.`];
      case 'failed':
        return [`${name} failed:`, codeBlock(message ?? 'no reason was given', maxReason), stillRuns()];
      default:
        return ['It is not built.'];
    }
  }

  function waitingWords(): string {
    if (waitingCommit(environment) === undefined) return '';
    const { message = '' } = findCondition(status?.conditions, 'Approved') ?? {};
    const sentence = `${message.slice(0, 1).toUpperCase()}${message.slice(1)}`;
    return `${sentence}. [Panel](${logsUrlOf(environment, apiUrl)})`;
  }

  function includedWords({ repositories = [] }: BuildStatus): string {
    const named = repositories.map(({ name, branch, commit }) => {
      return `${name} at \`${commit.slice(0, 12)}\` of ${codeSpan(branch)}`;
    });
    return named.length === 0 ? '' : `It includes ${named.join(', ')}.`;
  }

  function stillRuns(): string {
    return status?.deployed ? `Build ${status.deployed.number} is deployed${address()}.` : '';
  }

  function address(): string {
    return status?.webURL === undefined ? '' : ` at <${status.webURL}>`;
  }

  function testWords(): string[] {
    const { tests, deployed } = status ?? {};
    if (!tests || tests.build !== deployed?.number) return [];
    return ['Tests:', codeBlock(summarize(tests).message, maxReason)];
  }

  function trustWords(): string {
    const trusted = findCondition(status?.conditions, 'Trusted');
    return trusted?.status === 'False' ? 'It is built and runs without variables and credentials.' : '';
  }
}
