import type { Environment } from '../../../crds/environment.ts';
import { formatId, idOf } from '../../../crds/ids.ts';
import type { CommitStatus } from '../../source/hosts/host.ts';
import { oneLine } from '../../shared/one-line.ts';
import { summarize } from '../environment-tests/summary.ts';
import { hashOfValue } from './hash.ts';
import type { Step } from './step.ts';

/**
 * Returns the commit status of the tests, separate from the build's. A commit whose build is no longer deployed gets a
 * final status.
 */
export function testSteps(environment: Environment, apiUrl: URL): Step[] {
  const { tests, deployed, feedback, webURL } = environment.status ?? {};
  const isGoing = environment.metadata.deletionTimestamp !== undefined;
  const commit = tests && tests.build === deployed?.number && !isGoing ? deployed.commit : undefined;
  const recorded = feedback?.tests;
  const steps: Step[] = [];
  if (recorded?.state === 'pending' && recorded.commit !== commit) {
    steps.push(step(recorded.commit, 'error', 'the tests were cancelled: the tested build is no longer deployed'));
  }
  if (tests && commit !== undefined) {
    const { state, message } = summarize(tests);
    steps.push(step(commit, state, message));
  }
  return steps;

  function step(of: string, state: CommitStatus['state'], description: string): Step {
    const id = formatId(idOf(environment));
    const resultsUrl = new URL(`/environments/${id}?tab=tests`, apiUrl).href;
    const status: CommitStatus = {
      context: `coppice/${id}/tests`,
      state,
      description: oneLine(description),
      targetUrl: state === 'success' ? (webURL ?? resultsUrl) : resultsUrl,
    };
    return { kind: 'tests', commit: of, status, hash: hashOfValue([of, status]) };
  }
}
