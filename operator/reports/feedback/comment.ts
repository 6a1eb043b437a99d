import { findCondition } from '../../../crds/conditions.ts';
import type { BuildStatus, Environment } from '../../../crds/environment.ts';
import { formatId } from '../../../crds/ids.ts';
import { hasNamespace } from '../../kinds/environment/scope/state.ts';
import { summarize } from '../environment-tests/summary.ts';
import { currentBuild, idOf, logsUrlOf } from './current-build.ts';
import { codeBlock } from './text.ts';

/** Hosts take 32 thousand characters and more; so many sections stay well below it. */
const maxSections = 20;
const maxReasons = 10_000;

/**
 * By this line the comment is found again: it names the repository and its pull request, not one of the environments,
 * for all of them share the comment. A link's definition that no text refers to: each host keeps it and shows nothing of
 * it. It names the API: two installations may report to one repository.
 */
export function commentMarker(environment: Environment, apiUrl: URL): string {
  const { repository, gitRef } = environment.spec;
  const id = formatId({ ...idOf(environment), name: repository });
  return `[//]: # (coppice ${id}/${gitRef.name} at ${apiUrl.host})`;
}

/**
 * What a pull request's comment says, in Markdown: a section for each of its environments, in the order of their names.
 * Those that are being deleted count as gone. The marker is the last line.
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
  if (!hasNamespace(status ?? {})) return [heading, 'It has no contents now.'];
  const build = currentBuild(environment);
  if (!build) return [heading, 'It is not built.'];
  const log = `[Log of build ${build.number}](${logsUrlOf(environment, apiUrl, build.number)})`;
  return [heading, ...paragraphsOn(build), ...testWords(), trustWords(), log];

  function paragraphsOn({ number, commit, result, message = 'no reason was given' }: BuildStatus): string[] {
    const name = `Build ${number}${commit === undefined ? '' : ` of \`${commit.slice(0, 12)}\``}`;
    switch (result) {
      case 'running':
        return [`${name} is under way.`, stillRuns()];
      case 'succeeded':
        return [`${name} runs${address()}.`];
      case 'failed':
        return [`${name} failed:`, codeBlock(message, maxReason), stillRuns()];
      default:
        return ['It is not built.'];
    }
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
